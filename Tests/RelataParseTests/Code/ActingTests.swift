import RelataParse
import TestEngines
import Testing

/// Code on the server that acts as a user: it sees the same, and gets the same refusals, as a request of that user.
@Suite(.onEveryEngine) struct ActingTests {
    private let server: TestServer
    private let mei, sam: TestServer.Person

    init() async throws {
        (server, mei, sam) = try await TestServer.withTwoUsers()
        try await server.makeRole("Editors", users: [sam])
        _ = try await server.create("Note", ["title": "open", "price": 1, "owner": pointer("_User", mei.id)])
        _ = try await server.create("Note", ["title": "hers", "price": 2, "ACL": acl(read: [mei.id], write: [mei.id])])
        _ = try await server.create("Note", ["title": "editors", "price": 3, "ACL": acl(read: ["role:Editors"])])
        try await server.allow(
            [
                "create": ["requiresAuthentication": true], "count": ["role:Editors": true], "addField": [:],
                "protectedFields": ["*": ["price"], "role:Editors": [], "userField:owner": []],
            ], in: "Note")
    }

    /// The code of an error.
    private func code(_ body: () async throws -> Void) async -> Int? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? ParseError)?.code.rawValue
        }
    }

    @Test func actingFindsWhatRequestsFind() async throws {
        for (person, subject) in [(mei, .user(mei.id)), (sam, .user(sam.id)), (nil, .nobody)]
            as [(TestServer.Person?, AccessSubject)]
        {
            let store = server.service.acting(as: subject)
            for target in ["?order=title", "?where=%7B%22price%22:1%7D", "?order=-price", "?keys=price&order=title"] {
                let asked = try await server.send(as: person, "GET", "/classes/Note\(target)").json
                #expect(try await store.send("GET", "/classes/Note\(target)") == asked)
            }
        }
        let role = server.service.acting(as: .role("Editors"))
        #expect(try await role.find("Note", order: "title").map { $0["title"] } == ["editors", "open"])
        #expect(try await role.find("Note", order: "title").map { $0["price"] } == [3, 1])
        #expect(try await server.service.acting(as: .nobody).find("Note").map { $0["price"] } == [nil])
    }

    @Test func actingIsRefusedWhatRequestsAreRefused() async throws {
        let (nobody, hers, his) = (
            server.service.acting(as: .nobody), server.service.acting(as: .user(mei.id)),
            server.service.acting(as: .user(sam.id))
        )
        let note = try #require(try await hers.find("Note", where: ["title": "hers"]).first?["objectId"]?.string)
        #expect(await code { try await nobody.create("Note", ["title": "x"]) } == 101)
        #expect(await code { _ = try await hers.count("Note") } == 119)
        #expect(try await his.count("Note") == 2)
        #expect(await code { _ = try await his.get("Note", note) } == 101)
        #expect(await code { try await his.update("Note", note, ["title": "x"]) } == 101)
        #expect(await code { try await his.delete("Note", note) } == 101)
        #expect(await code { try await hers.create("Note", ["unknown": 1]) } == 119)
        #expect(await code { try await hers.send("PUT", "/users/\(sam.id)", ["a": 1]) } == 206)
        for path in ["/schemas", "/aggregate/Note", "/jobs", "/classes/_JobStatus"] {
            #expect(await code { try await hers.send("GET", path) } != nil, "\(path)")
        }
        #expect(await code { _ = try await hers.find("Note", where: ["$predicate": "x"]) } != nil)
        try await hers.update("Note", note, ["title": "changed"])
        #expect(try await server.get("Note", note)["title"] == "changed")
    }

    @Test(arguments: ["PATCH", "HEAD", "get", ""])
    func anUnknownMethodIsRefused(_ method: String) async throws {
        await #expect {
            try await server.service.acting(as: .user(mei.id)).send(method, "/classes/Note")
        } throws: { error in
            let error = ParseError(error)
            return error.code == .commandUnavailable && error.status == 405
                && error.message == "there is no method \(method) here"
        }
    }

    @Test func createdObjectsBelongToTheActingUser() async throws {
        try await server.allow(
            ["ACL": ["currentUser": ["read": true, "write": true]], "addField": ["*": true]], in: "Note")
        let id = try await server.service.acting(as: .user(sam.id)).create("Note", ["title": "his"])
        #expect(try await server.get("Note", id)["ACL"] == acl(read: [sam.id], write: [sam.id]))
        #expect(await code { _ = try await server.service.acting(as: .user(mei.id)).get("Note", id) } == 101)
    }

    @Test func aRoleOnlyReads() async throws {
        let role = server.service.acting(as: .role("Editors"))
        for (method, path) in [
            ("POST", "/classes/Note"), ("PUT", "/classes/Note/x"), ("DELETE", "/classes/Note/x"), ("POST", "/batch"),
            ("POST", "/users"),
        ] {
            #expect(await code { try await role.send(method, path, [:]) } == 119)
        }
    }

    @Test func unknownUsersAndRolesAreRefused() async throws {
        for subject in [.user("nobody"), .user("mei"), .user(""), .role("None")] as [AccessSubject] {
            #expect(await code { _ = try await server.service.acting(as: subject).find("Note") } == 101)
        }
        let his = server.service.acting(as: .user(sam.id))
        _ = try await his.find("Note")
        try await server.send("DELETE", "/users/\(sam.id)")
        #expect(await code { _ = try await his.find("Note") } == 101)
    }

    @Test func aFunctionActsAsAnotherUser() async throws {
        let server = try TestServer.withUsers { options in
            options.code.function("theirs") { call in
                let theirs = call.asMaster.acting(as: .user(call["id"]?.string ?? ""))
                return .array(try await theirs.find("Note", order: "title").map { $0["title"] ?? .null })
            }
            options.code.beforeFind("Note") { find, call in
                find.conditions["title"] = ["$ne": .string(call.user?["username"]?.string ?? "")]
            }
        }
        let mei = try await server.signUp("mei")
        for title in ["mei", "open"] { _ = try await server.create("Note", ["title": .string(title)]) }
        _ = try await server.create("Note", ["title": "hers", "ACL": acl(read: [mei.id])])
        let reply = try await server.send(as: nil, "POST", "/functions/theirs", ["id": .string(mei.id)])
        #expect(reply["result"] == ["hers", "open"], "\(reply.json)")
        #expect(try await server.send(as: nil, "POST", "/functions/theirs", ["id": "x"]).code == 101)
    }
}
