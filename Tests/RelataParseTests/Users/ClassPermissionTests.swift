import Foundation
import TestEngines
import Testing

@testable import RelataParse

/// The permissions of classes.
@Suite(.onEveryEngine) struct ClassPermissionTests {
    private let server: TestServer
    private let mei, sam, lee: TestServer.Person

    init() async throws {
        (server, mei, sam) = try await TestServer.withTwoUsers()
        lee = try await server.signUp("lee")
        // Everybody may point at these users.
        for person in [mei, sam, lee] {
            try await server.send("PUT", "/users/\(person.id)", ["ACL": acl(read: ["*"])])
        }
        try await server.makeRole("Editors", users: [lee])
        try await server.send(
            "POST", "/schemas/Note",
            [
                "fields": [
                    "title": ["type": "String"], "secret": ["type": "String"],
                    "owner": ["type": "Pointer", "targetClass": "_User"], "owners": ["type": "Array"],
                ]
            ])
    }

    private func allow(_ changes: JSONObject, _ className: String = "Note") async throws {
        try await server.allow(changes, in: className)
    }

    private func note(_ title: String, of owner: TestServer.Person) async throws -> String {
        try await server.create(
            "Note",
            [
                "title": .string(title), "owner": pointer("_User", owner.id),
                "owners": ["x", pointer("_User", owner.id), .null, pointer("Note", owner.id)],
            ])
    }

    // MARK: Every operation, caller and permission

    /// A permission, as clients send it, and the callers that it should allow.
    private enum Grant: CaseIterable {
        case everybody, nobody, signedIn, mei, editors, owner, owners

        func json(_ mei: String) -> JSONValue {
            switch self {
            case .everybody: ["*": true]
            case .nobody: [:]
            case .signedIn: ["requiresAuthentication": true]
            case .mei: .object(JSONObject([(mei, .bool(true))]))
            case .editors: ["role:Editors": true]
            case .owner: ["pointerFields": ["owner"]]
            case .owners: ["pointerFields": ["owners"]]
            }
        }

        func allows(_ name: String?, owner: String) -> Bool {
            switch self {
            case .everybody: true
            case .nobody: false
            case .signedIn: name != nil
            case .mei: name == "mei"
            case .editors: name == "lee"
            case .owner, .owners: name == owner
            }
        }
    }

    /// The objects belong to mei and sam. Each request is sent separately and in a batch.
    @Test(arguments: ["find", "count", "get", "create", "update", "delete", "addField"])
    func anOperationIsDoneOnlyForAllowedCallers(operation: String) async throws {
        let people: [(String?, TestServer.Person?)] = [("mei", mei), ("sam", sam), ("lee", lee), (nil, nil)]
        var number = 0
        for grant in Grant.allCases {
            try await allow(JSONObject([(operation, grant.json(mei.id))]))
            for (name, person) in people {
                for isBatch in [false, true] {
                    number += 1
                    try await server.send("DELETE", "/purge/Note")
                    let ids = [("mei", try await note("a", of: mei)), ("sam", try await note("b", of: sam))]
                    let place = "\(operation), \(grant), by \(name ?? "nobody")\(isBatch ? " in a batch" : "")"
                    func send(_ method: String, _ path: String, _ body: JSONValue? = nil) async throws -> JSONValue {
                        guard isBatch else {
                            return try await server.send(as: person, method, path, body).json
                        }
                        let request: JSONObject = [
                            "method": .string(method), "path": .string(path), "body": body ?? .null,
                        ]
                        let reply = try await server.send(
                            as: person, "POST", "/batch", ["requests": [.object(request)]])
                        let part = try #require(reply.json.array?.first, "\(place): \(reply.json)")
                        return part["success"] ?? part["error"] ?? .null
                    }
                    let seen = ids.filter { grant.allows(name, owner: $0.0) }
                    switch operation {
                    case "find", "count":
                        let reply = try await send(
                            "GET", "/classes/Note?\(operation == "count" ? "count=1&limit=0" : "order=title")")
                        let count =
                            operation == "count"
                            ? reply["count"]?.integer : reply["results"]?.array.map { Int64($0.count) }
                        if seen.isEmpty, ![.owner, .owners].contains(grant) {
                            #expect(reply["code"] == (grant == .signedIn ? 101 : 119), "\(place): \(reply)")
                        } else {
                            #expect(count == Int64(seen.count), "\(place): \(reply)")
                        }
                    case "create":
                        // The new object contains its owner.
                        let owner = number % 2 == 0 ? ("mei", mei) : ("sam", sam)
                        let isAllowed = grant.allows(name, owner: owner.0)
                        let reply = try await send(
                            "POST", "/classes/Note",
                            [
                                "title": "c", "owner": pointer("_User", owner.1.id),
                                "owners": number % 4 < 2
                                    ? [pointer("_User", owner.1.id)]
                                    : ["__op": "AddUnique", "objects": [pointer("_User", owner.1.id)]],
                            ])
                        #expect((reply["objectId"] != nil) == isAllowed, "\(place): \(reply)")
                        #expect(try await server.find("Note").count == (isAllowed ? 3 : 2), "\(place)")
                    default:
                        for (owner, id) in ids {
                            let isAllowed = grant.allows(name, owner: owner)
                            let field = "f\(number)\(owner)"
                            let reply: JSONValue =
                                switch operation {
                                case "get": try await send("GET", "/classes/Note/\(id)")
                                case "update": try await send("PUT", "/classes/Note/\(id)", ["title": "z"])
                                case "delete": try await send("DELETE", "/classes/Note/\(id)")
                                default:
                                    try await send(
                                        "PUT", "/classes/Note/\(id)", .object(JSONObject([(field, .integer(1))])))
                                }
                            #expect((reply["code"] == nil) == isAllowed, "\(place), \(owner)'s: \(reply)")
                            let now = try await server.get("Note", id)
                            switch operation {
                            case "update": #expect((now["title"] == "z") == isAllowed, "\(place): \(now)")
                            case "delete": #expect((now["code"] == 101) == isAllowed, "\(place): \(now)")
                            case "addField":
                                #expect((now[field] == 1) == isAllowed, "\(place): \(now)")
                                let fields = try await server.send("GET", "/schemas/Note")["fields"]
                                #expect((fields?[field] != nil) == isAllowed, "\(place): \(fields ?? .null)")
                            default: break
                            }
                        }
                    }
                }
            }
        }
    }

    // MARK: References to objects

    @Test func objectsOfAClosedClassCannotBeReached() async throws {
        let id = try await note("hidden", of: mei)
        let shelf = try await server.create(
            "Shelf", ["best": pointer("Note", id), "notes": adding(pointer("Note", id)), "list": [pointer("Note", id)]])
        try await allow(["get": ["role:Editors": true], "find": ["role:Editors": true]])
        func reads(_ person: TestServer.Person?, _ target: String) async throws -> TestServer.Reply {
            try await server.send(as: person, "GET", target)
        }
        for person in [mei, nil] {
            let included = try await reads(person, "/classes/Shelf/\(shelf)?include=best,list")
            #expect(included["best"]?["title"] == nil && included["list"] == [], "\(included.json)")
            for condition: JSONValue in [
                ["best": ["$inQuery": ["className": "Note", "where": ["title": "hidden"]]]],
                ["best": ["$notInQuery": ["className": "Note", "where": [:]]]], ["best.title": "hidden"],
                ["notes.title": "hidden"],
                ["name": ["$select": ["key": "title", "query": ["className": "Note", "where": [:]]]]],
            ] {
                let text = JSONWriter.text(condition).addingPercentEncoding(withAllowedCharacters: .alphanumerics)
                let found = try await reads(person, "/classes/Shelf?where=\(text ?? "")")
                #expect(found.code == 119, "\(condition): \(found.json)")
            }
            #expect(try await reads(person, "/classes/Shelf?order=best.title").code == 119)
            // A caller can't point at an object that it doesn't see.
            let pointing = try await server.send(as: person, "POST", "/classes/Shelf", ["best": pointer("Note", id)])
            #expect(pointing.code == 101, "\(pointing.json)")
        }
        let included = try await reads(lee, "/classes/Shelf/\(shelf)?include=best,list")
        #expect(included["best"]?["title"] == "hidden" && included["list"]?.array?.count == 1, "\(included.json)")
        #expect(try await reads(lee, "/classes/Shelf?where=%7B%22best.title%22%3A%22hidden%22%7D").results.count == 1)
    }

    /// A known id can be followed even if nobody may search.
    @Test func objectsWithGetPermissionOnlyCanBeIncluded() async throws {
        let id = try await note("known", of: mei)
        try await allow(["find": [:], "count": [:]])
        let made = try await server.send(as: sam, "POST", "/classes/Shelf", ["best": pointer("Note", id)])
        let shelf = try #require(made["objectId"]?.string, "\(made.json)")
        let included = try await server.send(as: sam, "GET", "/classes/Shelf/\(shelf)?include=best")
        #expect(included["best"]?["title"] == "known", "\(included.json)")
        #expect(try await server.send(as: sam, "GET", "/classes/Note").code == 119)
    }

    @Test func usersInAnObjectsFieldsCanReadAndChangeIt() async throws {
        let ids = [try await note("a", of: mei), try await note("b", of: sam)]
        try await allow([
            "find": [:], "get": [:], "count": [:], "update": [:], "delete": [:], "readUserFields": ["owner"],
            "writeUserFields": ["owner"],
        ])
        #expect(try await server.titles(as: mei, "Note") == ["a"])
        #expect(try await server.titles(as: nil, "Note") == [])
        #expect(try await server.send(as: mei, "GET", "/classes/Note/\(ids[1])").code == 101)
        #expect(try await server.send(as: mei, "PUT", "/classes/Note/\(ids[1])", ["title": "x"]).code == 101)
        #expect(try await server.send(as: mei, "DELETE", "/classes/Note/\(ids[1])").code == 101)
        #expect(try await server.send(as: sam, "PUT", "/classes/Note/\(ids[1])", ["title": "x"]).status == 200)
        #expect(try await server.send(as: sam, "DELETE", "/classes/Note/\(ids[1])").status == 200)
        #expect(try await server.send("GET", "/classes/Note?count=1&limit=0")["count"] == 1)
    }

    /// Only a pointer that is an element of the array counts.
    @Test func pointerFieldsOfOtherClassesGrantNothing() async throws {
        let owner = pointer("_User", mei.id)
        let others: [JSONValue] = [
            [.string(mei.id)], [[owner]], [["owner": owner]], [pointer("Note", mei.id)],
            [["className": "_User", "objectId": .string(mei.id)]], [.string(JSONWriter.text(owner))], [],
        ]
        for (number, value) in others.enumerated() {
            _ = try await server.create("Note", ["title": .string("\(number)"), "owners": value])
        }
        _ = try await server.create("Note", ["title": "none"])
        let id = try await server.create("Note", ["title": "mine", "owners": [owner, pointer("_User", sam.id)]])
        try await allow([
            "find": [:], "get": [:], "readUserFields": ["owners"], "update": ["pointerFields": ["owners"]],
        ])
        for person in [mei, sam] { #expect(try await server.titles(as: person, "Note") == ["mine"]) }
        for person in [lee, nil] { #expect(try await server.titles(as: person, "Note") == []) }
        // It is included in the same way.
        let shelf = try await server.create("Shelf", ["best": pointer("Note", id)])
        for (person, title) in [(sam, "mine"), (lee, nil)] as [(TestServer.Person, JSONValue?)] {
            let included = try await server.send(as: person, "GET", "/classes/Shelf/\(shelf)?include=best")
            #expect(included["best"]?["title"] == title, "\(included.json)")
        }
        // A user who is removed from the array no longer has access to the object.
        let left = try await server.send(
            as: sam, "PUT", "/classes/Note/\(id)",
            ["owners": ["__op": "Remove", "objects": [pointer("_User", sam.id)]]])
        #expect(left.status == 200, "\(left.json)")
        #expect(try await server.titles(as: sam, "Note") == [])
        #expect(try await server.send(as: sam, "PUT", "/classes/Note/\(id)", ["title": "x"]).code == 101)
    }

    /// Both the access list and the permissions of the class must allow an operation.
    @Test func aListAllowsNothingThatTheClassForbids() async throws {
        let id = try await server.create(
            "Note", ["title": "a", "owner": pointer("_User", mei.id), "ACL": acl(read: [sam.id], write: [sam.id])])
        try await allow(["find": ["pointerFields": ["owner"]], "update": ["pointerFields": ["owner"]]])
        for person in [mei, sam] {
            #expect(try await server.titles(as: person, "Note") == [])
            #expect(try await server.send(as: person, "PUT", "/classes/Note/\(id)", ["title": "x"]).code == 101)
        }
        try await server.send("PUT", "/classes/Note/\(id)", ["ACL": acl(read: [mei.id], write: [mei.id])])
        #expect(try await server.titles(as: mei, "Note") == ["a"])
    }

    @Test func usersSeeThemselvesRegardlessOfClassPermissions() async throws {
        try await allow(["find": [:], "get": [:], "count": [:]], "_User")
        #expect(try await server.send(as: mei, "GET", "/users/me")["username"] == "mei")
        let login = try await server.send(
            as: nil, "POST", "/login", ["username": "mei", "password": "secret of mei"])
        #expect(login["objectId"]?.string == mei.id, "\(login.json)")
        #expect(try await server.send(as: mei, "GET", "/users").code == 119)
        #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["nick": "M"]).status == 200)
        try await allow(["create": [:], "update": [:], "delete": [:]], "_User")
        #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["nick": "N"]).code == 119)
        #expect(try await server.send(as: mei, "DELETE", "/users/\(mei.id)").code == 119)
        let refused = try await server.send(
            as: nil, "POST", "/users", ["username": "new", "password": "a long password"])
        #expect(refused.code == 119, "\(refused.json)")
    }

    // MARK: New objects and new classes

    @Test func aNewObjectGetsTheListOfItsClass() async throws {
        try await allow(["ACL": ["currentUser": ["read": true, "write": true], "role:Editors": ["read": true]]])
        #expect(try await server.send(as: mei, "POST", "/classes/Note", ["title": "a"]).status == 201)
        #expect(
            try await server.send(
                as: mei, "POST", "/batch",
                [
                    "requests": .array(
                        ["b", "c"].map { ["method": "POST", "path": "/classes/Note", "body": ["title": $0]] })
                ]
            ).status == 200)
        #expect(try await server.titles(as: mei, "Note") == ["a", "b", "c"])
        #expect(try await server.titles(as: lee, "Note") == ["a", "b", "c"])
        #expect(try await server.titles(as: sam, "Note") == [])
        let open = try await server.send(as: mei, "POST", "/classes/Note", ["title": "d", "ACL": acl(read: ["*"])])
        #expect(open.status == 201)
        #expect(try await server.titles(as: sam, "Note") == ["d"])
    }

    @Test func inProductionANewClassIsClosedUntilItGetsPermissions() async throws {
        let production = try TestServer.withUsers(mode: .production)
        #expect(
            try await production.send("POST", "/schemas/Book", ["fields": ["title": ["type": "String"]]]).status == 200)
        #expect(try await production.send("POST", "/classes/Book", ["title": "a"]).status == 201)
        #expect(try await production.send(as: nil, "GET", "/classes/Book").code == 119)
        #expect(try await production.send(as: nil, "POST", "/classes/Book", ["title": "b"]).code == 119)
        try await production.send("PUT", "/schemas/Book", ["classLevelPermissions": ["find": ["*": true]]])
        #expect(try await production.titles(as: nil, "Book") == ["a"])
        #expect(try await production.send(as: nil, "POST", "/classes/Book", ["title": "b"]).code == 119)
    }

    // MARK: Descriptions

    @Test func permissionsAreReturnedAndDeployed() async throws {
        let permissions: JSONObject = [
            "find": ["*": true], "count": [:], "get": ["requiresAuthentication": true],
            "create": ["role:Editors": true], "update": ["pointerFields": ["owner"]], "delete": [:], "addField": [:],
            "readUserFields": ["owner", "owners"],
            "protectedFields": ["*": ["secret"], "role:Editors": [], "userField:owner": []],
        ]
        let reply = try await server.send(
            "PUT", "/schemas/Note", ["classLevelPermissions": .object(permissions)])
        #expect(reply["classLevelPermissions"] == .object(permissions), "\(reply.json)")
        let document = try SchemaDocument(await server.store.schemaJSON())
        let other = try TestServer.withUsers()
        let plan = try await other.service.store.deploy(document)
        #expect(plan.changes.contains { $0.hasPrefix("set the permissions of Note to ") }, "\(plan)")
        #expect(try await other.send("GET", "/schemas/Note")["classLevelPermissions"] == .object(permissions))
        #expect(try await other.service.store.deploymentPlan(for: document).isEmpty)
        // A change without permissions keeps them.
        try await server.send("PUT", "/schemas/Note", ["fields": ["pages": ["type": "Number"]]])
        #expect(try await server.send("GET", "/schemas/Note")["classLevelPermissions"] == .object(permissions))
        // A permission through a deleted field ends.
        try await server.send("PUT", "/schemas/Note", ["fields": ["owner": ["__op": "Delete"]]])
        let left = try await server.send("GET", "/schemas/Note")["classLevelPermissions"]
        #expect(left?["update"] == [:] && left?["readUserFields"] == ["owners"], "\(left ?? .null)")
        #expect(left?["protectedFields"] == ["*": ["secret"], "role:Editors": []], "\(left ?? .null)")
    }

    @Test func malformedPermissionsAreRefused() async throws {
        for (permissions, code): (JSONValue, Int64) in [
            (["fly": ["*": true]], 107), (["find": true], 107), (["find": ["*": 1]], 107),
            (["find": ["a b": true]], 107),
            (["find": ["role:": true]], 107), (["find": ["pointerFields": ["title"]]], 107),
            (["find": ["pointerFields": "owner"]], 107), (["readUserFields": ["nothing"]], 107),
            (["protectedFields": ["*": ["nothing"]]], 107), (["protectedFields": ["*": ["objectId"]]], 107),
            (["protectedFields": ["userField:nothing": ["title"]]], 107),
            (["protectedFields": ["userField:title": ["secret"]]], 107),
            (["protectedFields": ["userField:owner": ["nothing"]]], 107),
            (["protectedFields": ["userField:": ["title"]]], 107), (["ACL": ["*": ["fly": true]]], 123),
            ("x", 107),
        ] {
            let reply = try await server.send("PUT", "/schemas/Note", ["classLevelPermissions": permissions])
            #expect(reply.code == code, "\(permissions): \(reply.json)")
        }
        let own = try await server.send(as: mei, "PUT", "/schemas/Note", ["classLevelPermissions": [:]])
        #expect(own.status == 403)
    }
}
