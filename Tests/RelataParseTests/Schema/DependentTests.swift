import RelataEngine
import RelataEngines
import RelataParse
import TestEngines
import Testing

/// Fields that indexes, views and triggers of other programs need.
@Suite(.onEveryEngine) struct DependentTests {
    private func server(_ statements: [String], in folder: TestDatabases) async throws -> TestServer {
        let path = try folder.path("dependents.sqlite")
        let first = try TestServer(path: path)
        _ = try await first.create("Thing", ["note": "a", "kind": "b", "count": 3])
        try first.store.close()
        let connection = try DatabaseLocation(path).connect(isReadOnly: false)
        for statement in statements { try connection.execute(statement) }
        try connection.close()
        return try TestServer(path: path)
    }

    private func drop(_ field: String, of server: TestServer) async throws -> TestServer.Reply {
        try await server.send("PUT", "/schemas/Thing", ["fields": [field: ["__op": "Delete"]]])
    }

    @Test(arguments: [
        #"CREATE INDEX extra ON "Thing" (kind) WHERE note IS NOT NULL"#,
        #"CREATE INDEX extra ON "Thing" (lower(note))"#,
        #"CREATE UNIQUE INDEX extra ON "Thing" (kind, lower("note"))"#,
        #"CREATE VIEW extra AS SELECT kind, note FROM "Thing""#,
    ])
    func aFieldThatSomethingElseNeedsStays(_ sql: String) async throws {
        let folder = try TestDatabases()
        let server = try await server([sql], in: folder)
        defer { try? server.store.close() }
        let refused = try await drop("note", of: server)
        #expect(refused.status == 400 && refused["error"]?.string?.contains("extra") == true, "\(refused.json)")
        #expect(try await server.find("Thing").first?["note"] == "a")
        #expect(try await drop("count", of: server).status == 200)
        #expect(try await server.find("Thing").first?["count"] == nil)
        _ = try await server.create("Thing", ["note": "c", "kind": "d"])
    }

    @Test(.onSQLite) func aFieldThatATriggerNeedsStays() async throws {
        for event in ["INSERT", "UPDATE OF note", "DELETE"] {
            let folder = try TestDatabases()
            let row = event == "INSERT" ? "NEW" : "OLD"
            let trigger = """
                CREATE TRIGGER watch AFTER \(event) ON Thing BEGIN UPDATE Thing SET kind = \(row).note; END
                """
            let server = try await server([trigger], in: folder)
            defer { try? server.store.close() }
            let refused = try await drop("note", of: server)
            #expect(refused.status == 400 && refused["error"]?.string?.contains("watch") == true, "\(refused.json)")
            #expect(try await server.find("Thing").first?["note"] == "a")
            #expect(try await drop("count", of: server).status == 200)
        }
    }

    /// A view that is already broken prevents nothing.
    @Test(.onSQLite) func aBrokenViewIsLeftAlone() async throws {
        let folder = try TestDatabases()
        let server = try await server(["CREATE VIEW broken AS SELECT missing FROM Thing"], in: folder)
        defer { try? server.store.close() }
        #expect(try await drop("note", of: server).status == 200)
    }
}
