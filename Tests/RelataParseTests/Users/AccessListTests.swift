import Foundation
import RelataCore
@testable import RelataParse
import TestEngines
import Testing

/// The read and write access that lists give.
@Suite(.onEveryEngine) struct AccessListTests {
    private let server: TestServer
    private let mei, sam: TestServer.Person

    init() async throws { (server, mei, sam) = try await TestServer.withTwoUsers() }

    private func create(_ title: String, _ access: JSONValue?, as person: TestServer.Person? = nil) async throws
        -> String
    {
        var body: JSONObject = ["title": .string(title)]
        body["ACL"] = access
        let reply = try await server.send(as: person ?? mei, "POST", "/classes/Note", .object(body))
        return try #require(reply["objectId"]?.string, "\(reply.json)")
    }

    @Test func anObjectIsVisibleToThoseInItsList() async throws {
        _ = try await create("open", nil)
        _ = try await create("mine", acl(read: [mei.id], write: [mei.id]))
        _ = try await create("read", acl(read: ["*"], write: [mei.id]))
        _ = try await create("nobody", [:])
        #expect(try await server.titles(as: mei, "Note") == ["mine", "open", "read"])
        #expect(try await server.titles(as: sam, "Note") == ["open", "read"])
        #expect(try await server.titles(as: nil, "Note") == ["open", "read"])
        let all = try await server.send("GET", "/classes/Note?order=title")
        #expect(all.results.compactMap { $0["title"]?.string } == ["mine", "nobody", "open", "read"])
        #expect(
            all.results.map { $0["ACL"] } == [
                acl(read: [mei.id], write: [mei.id]), [:], nil, acl(read: ["*"], write: [mei.id]),
            ])
    }

    @Test func anObjectCanBeChangedByThoseInItsList() async throws {
        let mine = try await create("mine", acl(read: [mei.id], write: [mei.id]))
        let read = try await create("read", acl(read: ["*"], write: [mei.id]))
        let letterbox = try await create("box", acl(read: [mei.id], write: ["*"]))
        for stranger in [sam, nil] {
            for id in [mine, read] {
                #expect(try await server.send(as: stranger, "PUT", "/classes/Note/\(id)", ["title": "x"]).code == 101)
                #expect(try await server.send(as: stranger, "DELETE", "/classes/Note/\(id)").code == 101)
                let plan = try await server.send(as: stranger, "DELETE", "/classes/Note/\(id)?dryRun=1")
                #expect(plan.code == 101, "\(plan.json)")
            }
            #expect(
                try await server.send(as: stranger, "PUT", "/classes/Note/\(letterbox)", ["title": "x"]).status == 200)
            #expect(try await server.send(as: stranger, "GET", "/classes/Note/\(letterbox)").code == 101)
        }
        #expect(try await server.titles(as: mei, "Note") == ["mine", "read", "x"])
        #expect(try await server.send(as: mei, "PUT", "/classes/Note/\(mine)", ["title": "y"]).status == 200)
        #expect(try await server.send(as: mei, "DELETE", "/classes/Note/\(mine)").status == 200)
        #expect(try await server.titles(as: mei, "Note") == ["read", "x"])
    }

    @Test func aListIsChangedAndRemoved() async throws {
        let id = try await create("a", acl(read: [mei.id], write: [mei.id]))
        #expect(try await server.titles(as: sam, "Note") == [])
        let shared = acl(read: [mei.id, sam.id], write: [mei.id])
        #expect(try await server.send(as: mei, "PUT", "/classes/Note/\(id)", ["ACL": shared]).status == 200)
        #expect(try await server.titles(as: sam, "Note") == ["a"])
        #expect(try await server.send(as: sam, "GET", "/classes/Note/\(id)")["ACL"] == shared)
        #expect(try await server.send(as: sam, "PUT", "/classes/Note/\(id)", ["ACL": acl(read: [sam.id])]).code == 101)
        #expect(try await server.send(as: mei, "PUT", "/classes/Note/\(id)", ["ACL": ["__op": "Delete"]]).status == 200)
        #expect(try await server.titles(as: nil, "Note") == ["a"])
        #expect(try await server.send(as: nil, "PUT", "/classes/Note/\(id)", ["title": "b"]).status == 200)
    }

    @Test func aFieldWhoseNameDiffersOnlyInCaseDoesNotPreventLists() async throws {
        let note = try await server.create("Note", ["title": "open", "acl": "v"])
        let mine = try await create("mine", acl(read: [mei.id], write: [mei.id]))
        #expect(try await server.titles(as: sam, "Note") == ["open"])
        #expect(try await server.titles(as: mei, "Note") == ["mine", "open"])
        let change = try await server.send(as: mei, "PUT", "/classes/Note/\(mine)", ["acl": "w"])
        #expect(change.status == 200, "\(change.json)")
        let found = try await server.get("Note", mine)
        #expect(found["acl"] == "w" && found["ACL"] == acl(read: [mei.id], write: [mei.id]), "\(found)")
        #expect(try await server.find("Note", where: ["acl": "w"]).count == 1)
        // A pointer's column has the field's name as well.
        _ = try await server.create("Page", ["Acl": pointer("Note", note)])
        let page = try await server.send(
            as: mei, "POST", "/classes/Page", ["Acl": pointer("Note", note), "ACL": acl(read: [mei.id])])
        #expect(page.status == 201, "\(page.json)")
        #expect(try await server.send(as: sam, "GET", "/classes/Page").results.count == 1)
    }

    @Test func hiddenObjectsAppearNowhere() async throws {
        let hidden = try await create("hidden", acl(read: [mei.id], write: [mei.id]))
        let seen = try await create("seen", nil)
        let shelf = try await server.create(
            "Shelf", ["best": pointer("Note", hidden), "notes": adding(pointer("Note", hidden), pointer("Note", seen))])
        #expect(try await server.send(as: sam, "GET", "/classes/Note?count=1&limit=0")["count"] == 1)
        let included = try await server.send(as: sam, "GET", "/classes/Shelf/\(shelf)?include=best")
        #expect(included["best"]?["title"] == nil, "\(included.json)")
        let own = try await server.send(as: mei, "GET", "/classes/Shelf/\(shelf)?include=best")
        #expect(own["best"]?["title"] == "hidden", "\(own.json)")
        let related: JSONValue = ["$relatedTo": ["object": pointer("Shelf", shelf), "key": "notes"]]
        func find(_ className: String, _ condition: JSONValue, as person: TestServer.Person) async throws -> Int {
            let text = JSONWriter.text(condition).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return try await server.send(as: person, "GET", "/classes/\(className)?where=\(text)").results.count
        }
        #expect(try await find("Note", related, as: sam) == 1)
        #expect(try await find("Note", related, as: mei) == 2)
        let matching: JSONValue = ["best": ["$inQuery": ["className": "Note", "where": ["title": "hidden"]]]]
        #expect(try await find("Shelf", matching, as: sam) == 0)
        #expect(try await find("Shelf", matching, as: mei) == 1)
        #expect(try await find("Shelf", ["best.title": "hidden"], as: sam) == 0)
        let wrong = try await server.send(as: sam, "POST", "/classes/Shelf", ["best": pointer("Note", hidden)])
        #expect(wrong.code == 101, "\(wrong.json)")
        // The replies for a hidden object and a missing one are the same.
        let missing = try await server.send(as: sam, "POST", "/classes/Shelf", ["best": pointer("Note", "AAAAAAAAAA")])
        let words = JSONWriter.text(wrong.json).replacingOccurrences(of: hidden, with: "AAAAAAAAAA")
        #expect(words == JSONWriter.text(missing.json))
        #expect(try await server.send(as: sam, "GET", "/aggregate/Note?distinct=title").status == 403)
        for name in ["_AccessList", "_AccessEntry", "_Session"] {
            let inner: JSONValue = ["best": ["$inQuery": ["className": .string(name), "where": [:]]]]
            let text = JSONWriter.text(inner).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            let reply = try await server.send(as: sam, "GET", "/classes/Shelf?where=\(text)")
            #expect(reply.results.isEmpty, "\(name): \(reply.json)")
        }
        for key in ["ACL", "ACL.permissions", "_password"] {
            let found = try await server.send(
                as: sam, "GET", "/classes/Note?where=%7B%22\(key)%22:%7B%22$exists%22:true%7D%7D")
            #expect(found.results.isEmpty, "\(key): \(found.json)")
        }
    }

    @Test func aRelationOfAHiddenObjectIsHiddenToo() async throws {
        let note = try await create("seen", nil)
        let reply = try await server.send(
            as: mei, "POST", "/classes/Shelf",
            ["notes": adding(pointer("Note", note)), "ACL": acl(read: [mei.id], write: [mei.id])])
        let shelf = try #require(reply["objectId"]?.string)
        let text =
            #"{"$relatedTo":{"object":{"__type":"Pointer","className":"Shelf","objectId":"\#(shelf)"},"key":"notes"}}"#
            .addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        #expect(try await server.send(as: mei, "GET", "/classes/Note?where=\(text)").results.count == 1)
        #expect(try await server.send(as: sam, "GET", "/classes/Note?where=\(text)").results.isEmpty)
    }

    @Test func concurrentRequestsCanUseTheSameNewList() async throws {
        _ = try await server.create("Note", ["title": "0", "ACL": acl(read: [mei.id])])
        for round in 0..<10 {
            let list = acl(read: [mei.id, "role:\(round)"])
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<12 {
                    group.addTask { [server] in
                        try await server.send(
                            "POST", "/classes/Note", ["title": .string("\(number)"), "ACL": list]
                        ).status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 201, count: 12))
        }
    }

    @Test func batchesAreCheckedObjectByObject() async throws {
        let mine = try await create("mine", acl(read: [mei.id], write: [mei.id]))
        let open = try await create("open", nil)
        let requests: [JSONValue] = [mine, open].map {
            ["method": "PUT", "path": .string("/parse/classes/Note/\($0)"), "body": ["title": "changed"]]
        }
        let reply = try await server.send(as: sam, "POST", "/batch", ["requests": .array(requests)])
        #expect(
            reply.json.array?[0]["error"]?["code"] == 101 && reply.json.array?[1]["success"] != nil, "\(reply.json)")
        let atomic = try await server.send(
            as: sam, "POST", "/batch", ["requests": .array(requests.reversed()), "transaction": true])
        #expect(atomic.code == 101, "\(atomic.json)")
        let new: [JSONValue] = [
            ["method": "POST", "path": "/parse/classes/Note", "body": ["title": "a", "ACL": acl(read: [sam.id])]],
            ["method": "POST", "path": "/parse/classes/Note", "body": ["title": "b", "ACL": acl(read: ["*"])]],
            ["method": "POST", "path": "/parse/classes/Note", "body": ["title": "c"]],
        ]
        _ = try await server.send(as: sam, "POST", "/batch", ["requests": .array(new)])
        #expect(try await server.titles(as: sam, "Note") == ["a", "b", "c", "changed"])
        #expect(try await server.titles(as: nil, "Note") == ["b", "c", "changed"])
    }

    @Test func aDeletionFollowsItsRulesAndNamesNoHiddenObjects() async throws {
        let folder = try await server.create("Folder", ["name": "f"])
        try await server.send(
            "POST", "/schemas/Page",
            ["fields": ["folder": ["type": "Pointer", "targetClass": "Folder", "onTargetDelete": "cascade"]]])
        let page = try await server.send(
            as: mei, "POST", "/classes/Page",
            ["folder": pointer("Folder", folder), "ACL": acl(read: [mei.id], write: [mei.id])])
        let id = try #require(page["objectId"]?.string, "\(page.json)")
        let plan = try await server.send(as: sam, "DELETE", "/classes/Folder/\(folder)?dryRun=1")
        #expect(plan.status == 200 && !JSONWriter.text(plan.json).contains(id), "\(plan.json)")
        #expect(try await server.send(as: sam, "DELETE", "/classes/Folder/\(folder)").status == 200)
        #expect(try await server.send("GET", "/classes/Page/\(id)").code == 101)
    }

    @Test func blockersAreNamedOnlyToThoseWhoSeeThem() async throws {
        let folder = try await server.create("Folder", ["name": "f"])
        try await server.send(
            "POST", "/schemas/Page",
            ["fields": ["folder": ["type": "Pointer", "targetClass": "Folder", "onTargetDelete": "deny"]]])
        // Everybody may change the page, and only one user may read it.
        let page = try await server.send(
            as: mei, "POST", "/classes/Page",
            ["folder": pointer("Folder", folder), "ACL": acl(read: [mei.id], write: ["*"])])
        let id = try #require(page["objectId"]?.string, "\(page.json)")
        for (person, isNamed) in [(sam, false), (mei, true)] {
            let reply = try await server.send(as: person, "DELETE", "/classes/Folder/\(folder)")
            #expect(reply.code == 119 && JSONWriter.text(reply.json).contains(id) == isNamed, "\(reply.json)")
        }
    }

    @Test(
        arguments: [
            5, [], ["*": true], ["*": ["read": 1]], ["*": ["admin": true]], ["": ["read": true]],
        ] as [JSONValue])
    func anInvalidListIsRefused(access: JSONValue) async throws {
        let reply = try await server.send(as: mei, "POST", "/classes/Note", ["title": "x", "ACL": access])
        #expect(reply.code == 123, "\(reply.json)")
        #expect(try await server.send("GET", "/schemas/Note").code == 103)
    }

    @Test func equalListsAreStoredOnce() async throws {
        for number in 0..<5 {
            _ = try await create("\(number)", ["*": ["read": true], .init(mei.id): ["write": true]])
        }
        _ = try await create(
            "5", [.init(mei.id): ["write": true, "read": false], "*": ["read": true, "write": false]])
        let count = try await server.store.read(as: .master) { transaction in
            try transaction.connection.values(
                SQLStatement("SELECT count(*) FROM \"_AccessList\" WHERE permissions LIKE '%*%'")
            )[0][0].description
        }
        #expect(count == "1")
    }
}
