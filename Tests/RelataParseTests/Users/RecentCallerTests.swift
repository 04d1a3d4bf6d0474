import RelataParse
import TestEngines
import Testing

/// Callers that a server keeps until the database changes.
@Suite(.onEveryEngine) struct RecentCallerTests {
    @Test func rightsFollowTheChangesOfAnotherServer() async throws {
        let databases = try TestDatabases()
        let path = try databases.path()
        let (first, second) = (try TestServer.withUsers(path: path), try TestServer.withUsers(path: path))
        let mei = try await first.signUp("mei")
        let role = try await first.makeRole("editors", users: [mei])
        _ = try await first.create("Note", ["title": "n", "ACL": acl(read: ["role:editors"])])
        for _ in 0..<2 { #expect(try await first.titles(as: mei, "Note") == ["n"]) }
        #expect(try await second.send("DELETE", "/roles/\(role)").status == 200)
        #expect(try await first.titles(as: mei, "Note") == [])
        #expect(try await first.send(as: mei, "GET", "/users/me").status == 200)
        #expect(try await second.send(as: mei, "POST", "/logout").status == 200)
        #expect(try await first.send(as: mei, "GET", "/users/me").code == 209)
        for server in [first, second] { try server.store.close() }
    }

    @Test func aStoreWithoutUsersKnowsNoSessionOfAnother() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei")
        _ = try await server.create("Note", ["title": "n"])
        for _ in 0..<2 { #expect(try await server.titles(as: mei, "Note") == ["n"]) }
        let other = TestServer(server.store)
        let reply = try await other.send(as: mei, "GET", "/classes/Note")
        #expect(reply.code == 209, "\(reply.json)")
    }

    @Test(.onSQLite) func betweenTwoChangesACallerIsReadOnce() async throws {
        let statements = SQLStatements()
        let folder = try TestDatabases()
        // A store in memory has no transactions that only read.
        let server = try TestServer.withUsers(path: folder.path("callers.sqlite"), trace: statements)
        let mei = try await server.signUp("mei")
        _ = try await server.create("Note", ["title": "n"])
        #expect(try await server.titles(as: mei, "Note") == ["n"])
        statements.removeAll()
        #expect(try await server.titles(as: mei, "Note") == ["n"])
        #expect(statements.all.allSatisfy { !$0.contains("_Session") }, "\(statements.all)")
        try server.store.close()
    }
}
