import RelataParse
import RelataEngine
import RelataSQLite
import TestEngines
import Testing

/// Classes of a file whose tables another program changed.
@Suite struct ChangedByOthersTests {
    private static let values: JSONValue = [
        "t": "1", "tags": ["a"], "b": true, "when": ["__type": "Date", "iso": "2026-01-01T00:00:00.000Z"],
    ]

    private func changed(by sql: String, in folder: TestDatabases) async throws -> TestServer {
        let path = try folder.path("classes.sqlite")
        let server = try TestServer(path: path)
        _ = try await server.create("A", Self.values)
        let other = try await server.create("Tmp", ["t": "1"])
        _ = try await server.create(
            "Linked", ["x": "1", "to": ["__type": "Pointer", "className": "Tmp", "objectId": .string(other)]])
        try server.store.close()
        let connection = try Connection(path: path)
        try connection.execute(sql)
        try connection.close()
        return try TestServer(path: path)
    }

    @Test(arguments: ["DROP TABLE Tmp", "ALTER TABLE Tmp RENAME TO Other", "ALTER TABLE Linked DROP COLUMN x"])
    func otherClassesKeepTheirTypes(_ sql: String) async throws {
        let folder = try TestDatabases()
        defer { withExtendedLifetime(folder) {} }
        let server = try await changed(by: "PRAGMA foreign_keys = OFF; \(sql)", in: folder)
        let found = try #require(try await server.find("A", where: ["tags": "a"]).first)
        #expect(found["b"] == true && found["tags"] == ["a"])
        #expect(found["when"] == ["__type": "Date", "iso": "2026-01-01T00:00:00.000Z"])
        #expect(found["createdAt"]?.string?.hasSuffix("Z") == true)
        _ = try await server.create("A", Self.values)
        _ = try await server.create("New", ["x": 1])
        #expect(try await server.send("POST", "/classes/A", ["added": 1]).status == 201)
        #expect(try await server.find("A").count == 3)
    }

    /// If the classes of a prepared request are outdated, it creates the field again, and isn't refused.
    @Test func aFieldThatAnotherProcessDeletedIsCreatedAgain() async throws {
        let folder = try TestDatabases()
        defer { withExtendedLifetime(folder) {} }
        let path = try folder.path("classes.sqlite")
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        _ = try await server.create("A", ["t": "1", "n": 1])
        _ = try await server.create("Tmp", ["t": "1"])
        let other = try TestServer(path: path)
        defer { try? other.store.close() }
        let dropped = try await other.send("PUT", "/schemas/A", ["fields": ["n": ["__op": "Delete"]]])
        #expect(dropped.status == 200, "\(dropped.json)")
        let again = try await server.send("POST", "/classes/A", ["t": "2", "n": 2])
        #expect(again.status == 201, "\(again.json)")
        #expect(try await other.find("A", where: ["n": 2]).count == 1)
        _ = try await other.send("DELETE", "/purge/Tmp")
        #expect(try await other.send("DELETE", "/schemas/Tmp").status == 200)
        let request: JSONValue = ["method": "POST", "path": "/parse/classes/Tmp", "body": ["t": "2"]]
        let batch = try await server.send("POST", "/batch", ["requests": [request, request]])
        #expect(batch.json.array?.allSatisfy { $0["success"] != nil } == true, "\(batch.json)")
    }

    @Test func aLostFieldHidesThatFieldOnly() async throws {
        let folder = try TestDatabases()
        defer { withExtendedLifetime(folder) {} }
        let server = try await changed(by: "ALTER TABLE A DROP COLUMN t", in: folder)
        let found = try #require(try await server.find("A").first)
        #expect(found["t"] == nil && found["b"] == true && found["tags"] == ["a"])
    }

    /// If another program's table refuses a change, the client gets the table's message as an error.
    @Test func aRefusalByACheckOrATriggerIsAnError() async throws {
        let folder = try TestDatabases()
        defer { withExtendedLifetime(folder) {} }
        let path = try folder.path("other.sqlite")
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE T (id INTEGER PRIMARY KEY, n TEXT CHECK (length(n) < 3));
            CREATE TRIGGER kept BEFORE DELETE ON T BEGIN SELECT RAISE(ABORT, 'nothing goes'); END;
            INSERT INTO T VALUES (1, 'a');
            """)
        try connection.close()
        let server = try TestServer(path: path)
        let long = try await server.send("POST", "/classes/T", ["n": "too long"])
        #expect(long.status == 400 && long.code == 142, "\(long.json)")
        let gone = try await server.send("DELETE", "/classes/T/1")
        #expect(gone.status == 400 && gone.code == 142 && gone["error"]?.string?.contains("nothing goes") == true)
        #expect(try await server.find("T").count == 1)
    }

    /// SQLite reads `TRUE` as a column if there is one with this name.
    @Test func fieldsNamedLikeSQLKeywordsChangeNoCondition() async throws {
        let server = try TestServer()
        for number in 0..<4 {
            let isEven: JSONValue = .bool(number % 2 == 0)
            _ = try await server.create("TF", ["name": .string("n\(number)"), "true": isEven, "false": isEven])
        }
        func count(_ condition: JSONValue) async throws -> Int { try await server.find("TF", where: condition).count }
        #expect(try await count(["nosuch": 1]) == 0)
        #expect(try await count(["name": ["$in": []]]) == 0)
        #expect(try await count(["nosuch": ["$exists": true]]) == 0)
        #expect(try await count(["$or": [["nosuch": 1], ["name": "n1"]]]) == 1)
        #expect(try await count(["nosuch": ["$exists": false]]) == 4)
        #expect(try await count(["nosuch": ["$ne": 1]]) == 4)
        #expect(try await count(["name": ["$nin": []]]) == 4)
        #expect(try await count(["$nor": [["nosuch": 1]]]) == 4)
        #expect(try await count(["$and": [[:]]]) == 4)
        #expect(try await count(["true": true]) == 2)
    }
}
