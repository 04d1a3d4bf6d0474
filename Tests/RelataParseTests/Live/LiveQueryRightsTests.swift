import Foundation
import RelataParse
import RelataTesting
import TestEngines
import Testing

/// Each client gets events only of objects that it can read at that time, with the fields that it can read.
@Suite(.onEveryEngine) struct LiveQueryRightsTests {
    private let server: TestServer
    private let mei, sam: TestServer.Person

    init() async throws { (server, mei, sam) = try await TestServer.withTwoUsers() }

    @Test func clientsWithDifferentRightsGetDifferentEvents() async throws {
        _ = try await server.create("Note", ["title": "0", "ACL": acl(read: ["*"])])
        let (hers, his) = (
            try await LiveClient(server, token: mei.token), try await LiveClient(server, token: sam.token)
        )
        for client in [hers, his] { try await client.subscribe("Note") }
        let id = try await server.create("Note", ["title": "a", "ACL": acl(read: [mei.id])])
        try await hers.expect("create 1 a")
        try await server.send("PUT", "/classes/Note/\(id)", ["title": "b", "ACL": acl(read: [mei.id, sam.id])])
        try await hers.expect("update 1 b")
        try await his.expect("enter 1 b")
        try await server.send("PUT", "/classes/Note/\(id)", ["title": "c", "ACL": acl(read: [mei.id])])
        try await hers.expect("update 1 c")
        // For an object that he no longer sees, he gets only the id.
        let last = try await his.next()
        #expect(last["op"] == "leave" && last["object"] == ["className": "Note", "objectId": .string(id)])
        try await server.send("DELETE", "/classes/Note/\(id)")
        try await hers.expect("delete 1 \(id)", by: "objectId")
        _ = try await server.create("Note", ["title": "for all", "ACL": acl(read: ["*"])])
        try await his.expect("create 1 for all")
    }

    @Test func queriesWorkWithoutASessionAndWithTheMasterKey() async throws {
        _ = try await server.create("Note", ["title": "0", "ACL": acl(read: ["*"])])
        let (nobody, master) = (try await LiveClient(server), try await LiveClient(server, isMaster: true))
        for client in [nobody, master] { try await client.subscribe("Note") }
        _ = try await server.create("Note", ["title": "a", "ACL": acl(read: [mei.id])])
        _ = try await server.create("Note", ["title": "b", "ACL": acl(read: ["*"])])
        try await master.expect("create 1 a")
        try await master.expect("create 1 b")
        try await nobody.expect("create 1 b")
    }

    @Test func aQueryCanHaveASeparateSession() async throws {
        let client = try await LiveClient(server, token: mei.token)
        _ = try await server.create("Note", ["title": "a", "ACL": acl(read: [sam.id])])
        try await client.subscribe("Note", id: 1)
        try await client.subscribe("Note", id: 2, message: ["sessionToken": .string(sam.token)])
        _ = try await server.create("Note", ["title": "b", "ACL": acl(read: [sam.id])])
        try await client.expect("create 2 b")
        #expect(try await client.subscribe("Note", id: 3, message: ["sessionToken": "r:none"])["code"] == 209)
    }

    @Test func joiningAndLeavingARoleChangesTheVisibleObjects() async throws {
        let role = try await server.makeRole("Editors")
        let id = try await server.create("Note", ["title": "a", "ACL": acl(read: ["role:Editors"])])
        let client = try await LiveClient(server, token: sam.token)
        #expect(try await client.subscribe("Note", ["results": true])["op"] == "subscribed")
        #expect(try await client.next()["objects"] == [])
        let users: JSONValue = ["__op": "AddRelation", "objects": [pointer("_User", sam.id)]]
        try await server.send("PUT", "/roles/\(role)", ["users": users])
        try await client.expect("enter 1 a")
        try await server.send("PUT", "/classes/Note/\(id)", ["title": "b"])
        try await client.expect("update 1 b")
        try await server.send("DELETE", "/roles/\(role)")
        try await client.expect("leave 1 \(id)", by: "objectId")
    }

    @Test func aSessionThatEndsEndsItsQueries() async throws {
        let client = try await LiveClient(server, token: mei.token)
        try await client.subscribe("Note")
        try await server.send(as: mei, "POST", "/logout")
        let error = try await client.next()
        #expect(error["op"] == "error" && error["code"] == 209 && error["requestId"] == 1)
        #expect(try await client.subscribe("Note", id: 2)["code"] == 209)
    }

    @Test func anExpiredSessionGetsNoMoreEvents() async throws {
        let server = try TestServer.withUsers { $0.sessionLifetime = 3 }
        let mei = try await server.signUp("mei")
        let client = try await LiveClient(server, token: mei.token)
        _ = try await server.create("Note", ["title": "a"])
        try await client.subscribe("Note")
        try await Task.sleep(for: .seconds(3.1))
        _ = try await server.create("Note", ["title": "b"])
        #expect(try await client.next()["code"] == 209)
    }

    @Test func aClassCanBeFollowedOnlyIfItCanBeSearched() async throws {
        _ = try await server.create("Note", ["title": "a"])
        try await server.allow(["find": [mei.id: true]], in: "Note")
        let (hers, his) = (
            try await LiveClient(server, token: mei.token), try await LiveClient(server, token: sam.token)
        )
        #expect(try await his.subscribe("Note")["code"] == 119)
        #expect(try await hers.subscribe("Note")["op"] == "subscribed")
        // If permissions change while a query is followed, the new ones apply.
        try await server.allow(["find": [sam.id: true]], in: "Note")
        _ = try await server.create("Note", ["title": "b"])
        let error = try await hers.next()
        #expect(error["op"] == "error" && error["code"] == 119 && error["requestId"] == 1)
        #expect(try await his.subscribe("Note")["op"] == "subscribed")
    }

    @Test func aUserWhoMayReadOnlyOwnObjectsFollowsThese() async throws {
        _ = try await server.create("Note", ["title": "0", "owner": pointer("_User", sam.id)])
        try await server.allow(["find": [:], "get": [:], "readUserFields": ["owner"]], in: "Note")
        let client = try await LiveClient(server, token: mei.token)
        try await client.subscribe("Note")
        _ = try await server.create("Note", ["title": "a", "owner": pointer("_User", sam.id)])
        let id = try await server.create("Note", ["title": "b", "owner": pointer("_User", mei.id)])
        try await client.expect("create 1 b")
        try await server.send("PUT", "/classes/Note/\(id)", ["owner": pointer("_User", sam.id)])
        try await client.expect("leave 1 \(id)", by: "objectId")
    }

    @Test func hiddenFieldsAreNeitherShownNorQueried() async throws {
        let id = try await server.create("Note", ["title": "a", "secret": "x"])
        try await server.allow(["protectedFields": ["*": ["secret"], "role:Editors": []]], in: "Note")
        _ = try await server.makeRole("Editors", users: [mei])
        let (hers, his) = (
            try await LiveClient(server, token: mei.token), try await LiveClient(server, token: sam.token)
        )
        for client in [hers, his] {
            try await client.subscribe("Note", where: ["secret": "x"], id: 2)
            try await client.subscribe("Note", where: ["title": ["$exists": true]], id: 1)
        }
        try await server.send("PUT", "/classes/Note/\(id)", ["title": "b"])
        for _ in 1...2 { #expect(try await hers.next()["object"]?["secret"] == "x") }
        let seen = try await his.next()
        #expect(seen["requestId"] == 1 && seen["object"]?["title"] == "b" && seen["object"]?["secret"] == nil)
        try await server.send("PUT", "/classes/Note/\(id)", ["title": "c", "secret": "y"])
        for _ in 1...2 { _ = try await hers.next() }
        try await his.expect("update 1 c")
    }

    @Test func onlyFieldsThatAllObjectsShowCanBeWatched() async throws {
        let id = try await server.create(
            "Note", ["title": "a", "secret": 1, "price": 1, "owner": pointer("_User", mei.id)])
        try await server.allow(
            ["protectedFields": ["*": ["secret", "price"], "userField:owner": ["secret"], "role:Editors": []]],
            in: "Note")
        _ = try await server.makeRole("Editors", users: [sam])
        let (hers, his, master) = (
            try await LiveClient(server, token: mei.token), try await LiveClient(server, token: sam.token),
            try await LiveClient(server, isMaster: true)
        )
        // The errors don't tell a hidden field from one that doesn't exist.
        var errors: Set<String> = []
        for name in ["secret", "price", "other", "_ACL", "title.x"] {
            let reply = try await hers.subscribe("Note", ["watch": ["title", .string(name)]])
            #expect(reply["op"] == "error" && reply["code"] == 102 && reply["requestId"] == 1, "\(reply)")
            errors.insert(reply["error"]?.string?.replacing(name, with: "?") ?? "")
        }
        #expect(errors.count == 1, "\(errors)")
        #expect(try await master.subscribe("Note", ["watch": ["other"]])["code"] == 102)
        for client in [his, master] { try await client.subscribe("Note", ["watch": ["secret", "ACL"]]) }
        try await hers.subscribe("Note", ["watch": ["title"]])
        try await server.send("PUT", "/classes/Note/\(id)", ["secret": 2])
        for client in [his, master] { try await client.expect("update 1 a") }
        try await server.send("PUT", "/classes/Note/\(id)", ["title": "b"])
        try await hers.expect("update 1 b")
    }

    @Test func aQueryEndsWhenItsWatchedFieldIsHidden() async throws {
        _ = try await server.create("Note", ["title": "a", "secret": 1])
        try await server.allow(["protectedFields": ["*": ["secret"], "role:Editors": []]], in: "Note")
        let role = try await server.makeRole("Editors", users: [mei])
        let (hers, his) = (
            try await LiveClient(server, token: mei.token), try await LiveClient(server, token: sam.token)
        )
        try await hers.subscribe("Note", ["watch": ["secret"]])
        try await his.subscribe("Note", ["watch": ["title"]])
        try await server.send("DELETE", "/roles/\(role)")
        let first = try await hers.next()
        #expect(first["op"] == "error" && first["code"] == 102 && first["requestId"] == 1, "\(first)")
        try await server.allow(["protectedFields": ["*": ["title"]]], in: "Note")
        // The change of the class is noticed with the next object.
        _ = try await server.create("Note", ["title": "b"])
        let second = try await his.next()
        #expect(second["op"] == "error" && second["code"] == 102 && second["requestId"] == 1, "\(second)")
    }

    @Test func anIncludedObjectIsShownOnlyToClientsThatSeeIt() async throws {
        let author = try await server.create("Author", ["name": "Butler", "ACL": acl(read: [mei.id])])
        let id = try await server.create("Note", ["title": "a", "author": pointer("Author", author)])
        let (hers, his) = (
            try await LiveClient(server, token: mei.token), try await LiveClient(server, token: sam.token)
        )
        for client in [hers, his] { try await client.subscribe("Note", ["include": "author"]) }
        try await server.send("PUT", "/classes/Note/\(id)", ["title": "b"])
        #expect(try await hers.next()["object"]?["author"]?["name"] == "Butler")
        let seen = try await his.next()["object"]
        #expect(seen?["title"] == "b" && seen?["author"]?["name"] == nil)
    }

    @Test func aFieldThatIsNoLongerHiddenCausesAnUpdate() async throws {
        _ = try await server.create("Note", ["title": "a", "secret": "x"])
        try await server.allow(["protectedFields": ["*": ["secret"]]], in: "Note")
        let client = try await LiveClient(server, token: mei.token)
        try await client.subscribe("Note")
        try await server.allow(["protectedFields": ["*": []]], in: "Note")
        // The change of the class is noticed with the next object.
        _ = try await server.create("Note", ["title": "b"])
        let events = [try await client.next(), try await client.next()]
        #expect(events.contains { $0["op"] == "update" && $0["object"]?["secret"] == "x" }, "\(events)")
    }

    @Test func watchedFieldsAreReportedOnlyForObjectsThatShowThem() async throws {
        let first = try await server.create("Note", ["title": "0", "secret": "x", "owner": pointer("_User", mei.id)])
        try await server.allow(["protectedFields": ["*": ["secret"], "userField:owner": []]], in: "Note")
        let (hers, his) = (
            try await LiveClient(server, token: mei.token), try await LiveClient(server, token: sam.token)
        )
        for client in [hers, his] {
            try await client.subscribe("Note", where: ["secret": "a"], id: 1)
            try await client.subscribe("Note", where: ["title": "b"], id: 2)
        }
        try await server.send("PUT", "/classes/Note/\(first)", ["title": "a", "secret": "a"])
        try await hers.expect("enter 1 a")
        _ = try await server.create("Note", ["title": "b", "secret": "z", "owner": pointer("_User", mei.id)])
        for (client, secret) in [(hers, "z"), (his, nil)] as [(LiveClient, JSONValue?)] {
            let seen = try await client.next()
            #expect(seen["requestId"] == 2 && seen["object"]?["secret"] == secret, "\(seen)")
        }
        try await server.send("PUT", "/classes/Note/\(first)", ["owner": pointer("_User", sam.id)])
        #expect(try await hers.next()["op"] == "leave")
        try await his.expect("enter 1 a")
    }

    @Test func aPointerToAHiddenObjectLooksUnset() async throws {
        let author = try await server.create("Author", ["name": "Butler", "ACL": acl(read: [mei.id])])
        let (hers, his) = (
            try await LiveClient(server, token: mei.token), try await LiveClient(server, token: sam.token)
        )
        _ = try await server.create("Note", ["title": "0", "author": pointer("Author", author)])
        for client in [hers, his] {
            try await client.subscribe("Note", where: ["author": pointer("Author", author)], id: 1)
            try await client.subscribe("Note", where: ["title": "a"], id: 2)
        }
        _ = try await server.create("Note", ["title": "a", "author": pointer("Author", author)])
        for _ in 1...2 { #expect(try await hers.next()["object"]?["author"]?["objectId"] == .string(author)) }
        let seen = try await his.next()
        #expect(seen["requestId"] == 2 && seen["object"]?["author"] == nil, "\(seen)")
        _ = try await server.create("Note", ["title": "a"])
        try await his.expect("create 2 a")
    }

    @Test func usersFollowOnlyThemselvesAndTheirOwnSessions() async throws {
        let (hers, his) = (
            try await LiveClient(server, token: mei.token), try await LiveClient(server, token: sam.token)
        )
        for client in [hers, his] { try await client.subscribe("_User", where: ["username": "mei"], id: 1) }
        for client in [hers, his] { try await client.subscribe("_Session", id: 2) }
        try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["email": "mei@example.org"])
        // An event shows the same fields as a query: no addresses.
        let user = try await hers.next()
        #expect(user["op"] == "update" && user["object"]?["username"] == "mei" && user["object"]?["email"] == nil)
        for name in ["mei", "sam"] {
            try await server.send(
                "POST", "/login", ["username": .string(name), "password": .string("secret of \(name)")])
        }
        for (client, person) in [(hers, mei), (his, sam)] {
            let session = try await client.next()
            #expect(session["op"] == "create" && session["requestId"] == 2, "\(session)")
            #expect(session["object"]?["user"]?["objectId"] == .string(person.id))
            #expect(session["object"]?["sessionToken"] == nil)
        }
    }

    // MARK: Against an oracle

    /// Clients that only apply their events end up with the results of a query.
    @Test(arguments: 0..<6) func applyingEventsYieldsTheResultsOfTheQuery(_ number: UInt64) async throws {
        let given = ProcessInfo.processInfo.environment["RELATA_LIVE_SEED"].flatMap(UInt64.init)
        let seed = given ?? UInt64.random(in: 0..<UInt64.max / 2) &+ number
        print("seed of the followers: \(seed)")
        var random = SampleRandom(seed: seed)
        let role = try await server.makeRole("Editors", users: [mei])
        let shelves = [
            try await server.create("Shelf", ["name": "A"]),
            try await server.create("Shelf", ["name": "B", "ACL": acl(read: [mei.id])]),
        ]
        let access: [JSONValue?] = [
            nil, acl(read: ["*"]), acl(read: [mei.id]), acl(read: [sam.id], write: [mei.id]),
            acl(read: ["role:Editors"]), acl(),
        ]
        let conditions: [JSONValue] = [
            [:], ["number": ["$gt": 5]], ["tags": "a"],
            ["shelf": ["$inQuery": ["className": "Shelf", "where": ["name": "A"]]]],
            ["$or": [["number": 3], ["title": ["$exists": false]]]], ["shelf.name": ["$ne": "A"]],
        ]
        func body(_ random: inout SampleRandom) -> JSONValue {
            var body: JSONObject = ["number": .integer(Int64.random(in: 0..<10, using: &random))]
            if Bool.random(using: &random) { body["title"] = "t" }
            if Bool.random(using: &random) { body["tags"] = [["a"], ["b"], []].randomElement(using: &random) }
            if let shelf = shelves.randomElement(using: &random) { body["shelf"] = pointer("Shelf", shelf) }
            if let list = access.randomElement(using: &random) ?? nil { body["ACL"] = list }
            return .object(body)
        }
        // If a class is created, or a store gets its first access list, queries are read again and may be ahead of
        // others. Then the last object's event could come before earlier ones.
        _ = try await server.create("Fence", ["title": "begin"])
        var ids = [try await server.create("Note", ["number": 1, "ACL": acl(read: ["*"])])]
        for _ in 0..<5 { ids.append(try await server.create("Note", body(&random))) }
        let people: [TestServer.Person?] = [mei, sam, nil]
        var clients: [LiveClient] = []
        var known = Array(repeating: Array(repeating: [String: JSONValue](), count: conditions.count), count: 3)
        for (index, person) in people.enumerated() {
            let client = try await LiveClient(server, token: person?.token)
            for (number, condition) in conditions.enumerated() {
                let reply = try await client.subscribe("Note", where: condition, id: Int64(number), ["results": true])
                #expect(reply["op"] == "subscribed", "\(reply)")
                for object in try await client.next()["objects"]?.array ?? [] {
                    known[index][number][object["objectId"]?.string ?? ""] = object
                }
            }
            try await client.subscribe("Fence", id: 100)
            clients.append(client)
        }
        for _ in 0..<60 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4: ids.append(try await server.create("Note", body(&random)))
            case 4..<8:
                guard let id = ids.randomElement(using: &random) else { continue }
                try await server.send("PUT", "/classes/Note/\(id)", body(&random))
            case 8:
                guard let id = ids.randomElement(using: &random) else { continue }
                try await server.send("DELETE", "/classes/Note/\(id)")
                ids.removeAll { $0 == id }
            case 9:
                let name = Bool.random(using: &random) ? "A" : "B"
                let shelf = shelves[Int.random(in: 0..<2, using: &random)]
                try await server.send("PUT", "/classes/Shelf/\(shelf)", ["name": .string(name)])
            case 10:
                let operation = Bool.random(using: &random) ? "AddRelation" : "RemoveRelation"
                let person = Bool.random(using: &random) ? mei : sam
                try await server.send(
                    "PUT", "/roles/\(role)",
                    ["users": ["__op": .string(operation), "objects": [pointer("_User", person.id)]]])
            default:
                try await server.send("PUT", "/classes/Note/\(ids.first ?? "")", ["other\(ids.count % 4)": 1])
            }
        }
        _ = try await server.create("Fence", ["title": "end"])
        for (index, client) in clients.enumerated() {
            while true {
                let message = try await client.next()
                let (number, object) = (Int(message["requestId"]?.integer ?? -1), message["object"])
                if message["op"] == "unsubscribed" { break }
                guard number != 100 else {
                    // The other events of this round come before the reply.
                    await client.say(["op": "unsubscribe", "requestId": 100])
                    continue
                }
                let id = object?["objectId"]?.string ?? ""
                switch message["op"]?.string {
                case "create", "enter", "update": known[index][number][id] = object
                case "leave", "delete": known[index][number][id] = nil
                default: Issue.record("seed \(seed): \(message)")
                }
            }
            for (number, condition) in conditions.enumerated() {
                let text = JSONWriter.text(condition).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                let reply = try await server.send(as: people[index], "GET", "/classes/Note?limit=1000&where=\(text)")
                var fetched: [String: JSONValue] = [:]
                for object in reply.results { fetched[object["objectId"]?.string ?? ""] = object }
                let followed = known[index][number].mapValues { object in
                    .object((object.object ?? [:]).filter { $0.key != "className" }) as JSONValue
                }
                for id in Set(followed.keys).union(fetched.keys).sorted() where followed[id] != fetched[id] {
                    Issue.record(
                        "seed \(seed), caller \(index), \(JSONWriter.text(condition)): \(id) is followed as \(followed[id].map { JSONWriter.text($0) } ?? "nothing"), and fetched as \(fetched[id].map { JSONWriter.text($0) } ?? "nothing")"
                    )
                }
            }
        }
    }
}
