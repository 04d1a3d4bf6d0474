import RelataCore
import RelataEngine
import RelataParse
import RelataSQLite
import TestEngines
import Testing

/// Keys whose stored types differ from their columns' types, in tables that another program created.
@Suite struct StoredKeyTests {
    private static let tables = """
        CREATE TABLE A (id INT PRIMARY KEY, name TEXT);
        CREATE TABLE B (id PRIMARY KEY, name TEXT);
        CREATE TABLE C (x INT, y, name TEXT, PRIMARY KEY (x, y));
        CREATE TABLE Holder (
            id INTEGER PRIMARY KEY, a INT REFERENCES A (id), b REFERENCES B (id), cx INT, cy,
            FOREIGN KEY (cx, cy) REFERENCES C (x, y));
        INSERT INTO A VALUES (7, 'n'), ('abc', 'n'), (1.5, 'n'), (x'00ff', 'n');
        INSERT INTO B VALUES (1, 'n'), ('2', 'n'), (x'00ff', 'n'), (2.5, 'n'), ('e f', 'n');
        INSERT INTO C VALUES (1, 2, 'n'), ('p,q', '3', 'n'), (2, x'ab', 'n');
        """

    private static func server(_ folder: TestDatabases, _ sql: String) throws -> (TestServer, path: String) {
        let path = try folder.path("keys.sqlite")
        let connection = try Connection(path: path)
        try connection.execute(sql)
        try connection.close()
        return (try TestServer(path: path), path)
    }

    private static func segment(_ id: String) -> String {
        id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? id
    }

    @Test(.onSQLite, arguments: [("A", "a"), ("B", "b"), ("C", "c")])
    func everyListedObjectIsFoundByItsID(className: String, link: String) async throws {
        let folder = try TestDatabases()
        let (server, _) = try Self.server(folder, Self.tables)
        defer { try? server.store.close() }
        let ids = try await server.find(className).compactMap { $0["objectId"]?.string }
        #expect(ids.count == ["A": 4, "B": 5, "C": 3][className])
        for id in ids {
            let path = "/classes/\(className)/\(Self.segment(id))"
            #expect(try await server.send("GET", path)["objectId"]?.string == id)
            #expect(try await server.send("PUT", path, ["name": .string("of " + id)]).status == 200)
            #expect(try await server.send("GET", path)["name"]?.string == "of " + id)
            let found = try await server.find(className, where: ["objectId": .string(id)])
            #expect(found.compactMap { $0["name"]?.string } == ["of " + id])
            // The target of a pointer, of an include, and of a query.
            let field = try #require(try await server.fieldPointing(at: className, of: "Holder"))
            let holder = try await server.create("Holder", [field: pointer(className, id)])
            let shown = try await server.get("Holder", holder, "include=\(field)")
            #expect(shown[field]?["name"]?.string == "of " + id, "\(shown)")
            let holders = try await server.find("Holder", where: [field: pointer(className, id)])
            #expect(holders.compactMap { $0["objectId"]?.string } == [holder])
            #expect(try await server.send("DELETE", "/classes/Holder/\(holder)").status == 200)
            let plan = try await server.send("DELETE", path + "?dryRun=true")
            #expect(plan.status == 200, "\(plan.json)")
        }
        for (index, id) in ids.enumerated() {
            let path = "/classes/\(className)/\(Self.segment(id))"
            #expect(try await server.send("DELETE", path).status == 200, "\(id)")
            #expect(try await server.send("GET", path).code == 101)
            #expect(try await server.find(className).count == ids.count - index - 1)
        }
    }

    /// A number has only one spelling, even if SQLite considers others equal.
    @Test(.onSQLite) func anotherSpellingOfAnIDIsNotFound() async throws {
        let folder = try TestDatabases()
        let (server, _) = try Self.server(folder, Self.tables)
        defer { try? server.store.close() }
        for path in ["A/007", "A/7.0", "A/1.50", "A/ABC", "B/1.0", "B/01", "B/00FF"] {
            for (method, body) in [("GET", nil), ("PUT", ["name": "x"]), ("DELETE", nil)] as [(String, JSONValue?)] {
                #expect(try await server.send(method, "/classes/\(path)", body).code == 101, "\(method) \(path)")
            }
        }
        for id in ["007", "7.0", "1.50"] {
            #expect(try await server.find("A", where: ["objectId": .string(id)]) == [])
        }
    }

    @Test(.onSQLite) func anIDOfTwoObjectsIsRefused() async throws {
        let folder = try TestDatabases()
        let (server, path) = try Self.server(
            folder, "CREATE TABLE B (id PRIMARY KEY, name TEXT); INSERT INTO B VALUES (1, 'n'), ('1', 't')")
        for (method, body) in [("GET", nil), ("PUT", ["name": "x"]), ("DELETE", nil)] as [(String, JSONValue?)] {
            let reply = try await server.send(method, "/classes/B/1", body)
            #expect(reply.status == 400 && reply.code == 102, "\(reply.json)")
            #expect(reply["error"]?.string?.contains("2 objects of B") == true, "\(reply.json)")
        }
        try server.store.close()
        let connection = try Connection(path: path, isReadOnly: true)
        let rows = try connection.values(SQLStatement("SELECT name FROM B ORDER BY name"))
        #expect(rows == [[.text("n")], [.text("t")]])
    }

    /// A column of bytes doesn't convert text to a number.
    @Test(.onSQLite) func aTextAndTheNumberThatItReadsAsAreDifferentIDs() async throws {
        let folder = try TestDatabases()
        let (server, _) = try Self.server(
            folder,
            "CREATE TABLE D (id BLOB PRIMARY KEY NOT NULL, name TEXT); INSERT INTO D VALUES ('007', 't'), (7, 'n')")
        defer { try? server.store.close() }
        for (id, name) in [("007", "t"), ("7", "n")] {
            #expect(try await server.get("D", id)["name"]?.string == name)
            let found = try await server.find("D", where: ["objectId": .string(id)])
            #expect(found.compactMap { $0["name"]?.string } == [name])
        }
        #expect(try await server.send("GET", "/classes/D/07").code == 101)
        #expect(try await server.send("DELETE", "/classes/D/007").status == 200)
        #expect(try await server.find("D").compactMap { $0["objectId"]?.string } == ["7"])
    }

    /// Keys in the server's own tables have one type, so they need only one statement.
    @Test(.onSQLite) func theServersOwnTablesNeedOneStatement() async throws {
        let trace = SQLStatements()
        let server = try TestServer(trace: trace)
        defer { try? server.store.close() }
        let id = try await server.create("Book", ["title": "Emma"])
        _ = try await server.get("Book", id)
        trace.removeAll()
        _ = try await server.get("Book", id)
        #expect(trace.all.filter { $0.contains("SELECT") && $0.contains("Book") }.count == 1, "\(trace.all)")
    }
}

extension TestServer {
    /// The field of a class with pointers to another class.
    fileprivate func fieldPointing(at target: String, of className: String) async throws -> String? {
        let fields = try await send("GET", "/schemas/\(className)")["fields"]?.object
        return fields?.first { $0.1["targetClass"]?.string == target && $0.1["type"] == "Pointer" }?.0
    }
}
