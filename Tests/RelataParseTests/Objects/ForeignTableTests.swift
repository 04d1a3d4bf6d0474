import Foundation
import RelataCore
import RelataEngine
import RelataParse
import RelataSQLite
import TestEngines
import Testing

/// Objects of tables that another program created, with rules that classes don't have.
struct ForeignTableTests {
    /// An ignored insert gives no id: the last assigned number belongs to another object.
    @Test(
        .onSQLite,
        arguments: [
            """
            CREATE TABLE Tag (id INTEGER PRIMARY KEY, name TEXT UNIQUE ON CONFLICT IGNORE);
            INSERT INTO Tag VALUES (1, 'red'), (2, 'blue')
            """,
            """
            CREATE TABLE Tag (id INTEGER PRIMARY KEY, name TEXT);
            INSERT INTO Tag VALUES (1, 'red'), (2, 'blue');
            CREATE TRIGGER guard BEFORE INSERT ON Tag WHEN NEW.name = 'red' BEGIN SELECT RAISE(IGNORE); END
            """,
        ]) func aNewObjectThatTheDatabaseIgnoresIsRefused(tables: String) async throws
    {
        let folder = try TestDatabases()
        let path = try folder.path("tags.sqlite")
        let connection = try Connection(path: path)
        try connection.execute("CREATE TABLE Log (id INTEGER PRIMARY KEY, t TEXT); \(tables)")
        try connection.close()
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        for _ in 0..<2 { _ = try await server.create("Log", ["t": "a"]) }
        let request: JSONValue = ["method": "POST", "path": "/parse/classes/Tag", "body": ["name": "red"]]
        let other: JSONValue = ["method": "POST", "path": "/parse/classes/Tag", "body": ["name": "green"]]
        for isTransaction in [true, false] {
            let reply = try await server.send(
                "POST", "/batch", ["transaction": .bool(isTransaction), "requests": [other, request]])
            let codes = reply.json.array?.map { $0["error"]?["code"]?.integer }
            #expect(isTransaction ? reply.code == 142 : codes == [nil, 142], "\(reply.json)")
        }
        let reply = try await server.send("POST", "/classes/Tag", ["name": "red"])
        #expect(reply.status == 400 && reply.code == 142, "\(reply.json)")
        #expect(try await server.find("Tag").compactMap { $0["name"]?.string }.sorted() == ["blue", "green", "red"])
    }

    /// An update that the database ignores isn't reported as a missing object.
    @Test(.onSQLite) func aChangeThatATriggerIgnoresIsRefused() async throws {
        let folder = try TestDatabases()
        let path = try folder.path("ignored.sqlite")
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE Tag (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO Tag VALUES (1, 'red');
            CREATE TRIGGER guard BEFORE UPDATE ON Tag BEGIN SELECT RAISE(IGNORE); END
            """)
        try connection.close()
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        let update: JSONValue = ["method": "PUT", "path": "/parse/classes/Tag/1", "body": ["name": "blue"]]
        let reply = try await server.send("PUT", "/classes/Tag/1", ["name": "blue"])
        #expect(reply.status == 400 && reply.code == 142, "\(reply.json)")
        #expect(reply["error"]?.string?.contains("trigger") == true, "\(reply.json)")
        let batch = try await server.send("POST", "/batch", ["requests": [update]])
        #expect(batch.json.array?.first?["error"]?["code"] == 142, "\(batch.json)")
        #expect(try await server.get("Tag", "1")["name"] == "red")
        #expect(try await server.send("PUT", "/classes/Tag/2", ["name": "blue"]).code == 101)
    }

    /// Deletions are planned along other programs' foreign keys, as SQLite follows them.
    @Test(
        .onSQLite,
        arguments: [
            // With the key's collation.
            (
                """
                CREATE TABLE P (id TEXT COLLATE NOCASE PRIMARY KEY);
                CREATE TABLE C (id INTEGER PRIMARY KEY, p TEXT REFERENCES P ON DELETE CASCADE);
                INSERT INTO P VALUES ('Abc'), ('x'); INSERT INTO C VALUES (1, 'ABC'), (2, 'abc'), (3, 'X'), (4, NULL)
                """, "Abc", 2
            ),
            (
                """
                CREATE TABLE P (id TEXT COLLATE RTRIM PRIMARY KEY);
                CREATE TABLE C (id INTEGER PRIMARY KEY, p TEXT REFERENCES P ON DELETE CASCADE);
                INSERT INTO P VALUES ('a'), ('b'); INSERT INTO C VALUES (1, 'a  '), (2, 'a'), (3, 'b '), (4, NULL)
                """, "a", 2
            ),
            // With several columns.
            (
                """
                CREATE TABLE P (a INTEGER, b TEXT, PRIMARY KEY (a, b));
                CREATE TABLE C (id INTEGER PRIMARY KEY, pa INTEGER, pb TEXT,
                    FOREIGN KEY (pa, pb) REFERENCES P (a, b) ON DELETE CASCADE);
                INSERT INTO P VALUES (1, 'x'), (1, 'y');
                INSERT INTO C VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 1, NULL), (4, 1, 'x')
                """, "1,x", 2
            ),
            // To unique columns other than the key.
            (
                """
                CREATE TABLE P (id INTEGER PRIMARY KEY, code TEXT UNIQUE);
                CREATE TABLE C (id INTEGER PRIMARY KEY, code TEXT REFERENCES P (code) ON DELETE CASCADE);
                INSERT INTO P VALUES (1, 'x'), (2, 'y'); INSERT INTO C VALUES (1, 'x'), (2, 'y'), (3, 'x'), (4, NULL)
                """, "1", 2
            ),
            // With the second foreign key of a column.
            (
                """
                CREATE TABLE Q (id INTEGER PRIMARY KEY); CREATE TABLE P (id INTEGER PRIMARY KEY);
                CREATE TABLE C (id INTEGER PRIMARY KEY,
                    r INTEGER REFERENCES Q ON DELETE CASCADE REFERENCES P ON DELETE CASCADE);
                INSERT INTO Q VALUES (1), (2); INSERT INTO P VALUES (1), (2);
                INSERT INTO C VALUES (1, 1), (2, 2), (3, 1), (4, NULL)
                """, "1", 2
            ),
        ]) func aDryRunNamesTheRowsThatThenGo(tables: String, id: String, count: Int) async throws
    {
        let folder = try TestDatabases()
        let path = try folder.path("keys.sqlite")
        let connection = try Connection(path: path)
        defer { try? connection.close() }
        try connection.execute(tables)
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        func rows() throws -> [String: Set<String>] {
            let children = try connection.values(SQLStatement("SELECT id FROM C")).map { $0[0].description }
            let parents = try connection.values(SQLStatement("SELECT * FROM P")).map { row in
                row.prefix(tables.contains("a INTEGER") ? 2 : 1).map(\.description).joined(separator: ",")
            }
            return ["C": Set(children), "P": Set(parents)]
        }
        let before = try rows()
        let target = "/classes/P/\(id.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? id)"
        let plan = try await server.send("DELETE", target + "?dryRun=true")
        #expect(plan.status == 200 && plan["isDenied"] == false, "\(plan.json)")
        var named: [String: Set<String>] = [:]
        for objects in plan["deleted"]?.array ?? [] {
            named[objects["className"]?.string ?? ""] = Set(objects["objectIds"]?.array?.compactMap(\.string) ?? [])
        }
        #expect(try rows() == before)
        #expect(named["P"] == [id] && named["C"]?.count == count, "\(plan.json)")
        let reply = try await server.send("DELETE", target)
        #expect(reply.status == 200, "\(reply.json)")
        let after = try rows()
        for name in ["C", "P"] { #expect(before[name]?.subtracting(after[name] ?? []) == named[name]) }
    }

    @Test(.onSQLite) func aPartlyUnsetPointerIsUnset() async throws {
        let folder = try TestDatabases()
        let path = try folder.path("parts.sqlite")
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE P (a INTEGER, b TEXT, PRIMARY KEY (a, b));
            CREATE TABLE C (id INTEGER PRIMARY KEY, ca INTEGER, cb TEXT, FOREIGN KEY (ca, cb) REFERENCES P (a, b));
            INSERT INTO P VALUES (1, 'x'); INSERT INTO C VALUES (1, 1, 'x'), (3, 1, NULL);
            """)
        try connection.close()
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        for parameters in ["order=id", "order=id&include=*"] {
            let found = try await server.find("C", parameters)
            #expect(found.map { $0.object?.values.contains { $0["__type"] != nil } } == [true, false], "\(found)")
        }
    }

    private func server(_ sql: String, in folder: TestDatabases) throws -> TestServer {
        let path = try folder.path("foreign.sqlite")
        let connection = try Connection(path: path)
        try connection.execute(sql)
        try connection.close()
        var options = ParseService.Options()
        options.allowsCustomObjectIDs = true
        return try TestServer(path: path, options: options)
    }

    /// The reply contains the computed value.
    @Test(.onSQLite) func aFieldGetsTheDefaultThatTheDatabaseComputes() async throws {
        let folder = try TestDatabases()
        let server = try server(
            """
            CREATE TABLE P (id INTEGER PRIMARY KEY); INSERT INTO P VALUES (7);
            CREATE TABLE C (id INTEGER PRIMARY KEY, t TEXT, made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
                lucky INTEGER DEFAULT (abs(-4)), p INTEGER NOT NULL DEFAULT 7 REFERENCES P);
            CREATE TABLE K (id TEXT PRIMARY KEY NOT NULL DEFAULT (lower(hex(randomblob(8)))), t TEXT);
            """, in: folder)
        defer { try? server.store.close() }
        let made = try await server.send("POST", "/classes/C", ["t": "a"])
        #expect(made.status == 201 && made["lucky"] == 4 && made["made"]?.string?.count == 19, "\(made.json)")
        #expect(made["p"]?["objectId"] == "7")
        let stored = try await server.get("C", "1")
        #expect(stored["made"] == made["made"] && stored["lucky"] == 4 && stored["p"] == made["p"])
        let given = try await server.send("POST", "/classes/C", ["made": "then", "lucky": .null])
        #expect(given.status == 201 && given["made"] == nil, "\(given.json)")
        let second = try await server.get("C", "2")
        #expect(second["made"] == "then" && second["lucky"] == nil)
        #expect(try await server.create("K", ["t": "a"]).count == 16)
        let request: JSONValue = ["method": "POST", "path": "/parse/classes/C", "body": ["t": "b"]]
        let batch = try await server.send("POST", "/batch", ["requests": [request, request]])
        #expect(batch.json.array?.map { $0["success"]?["lucky"] } == [4, 4], "\(batch.json)")
    }

    /// An object without a key can't be requested, or distinguished from others.
    @Test(.onSQLite) func objectsWithoutAKeyAreLeftOut() async throws {
        let folder = try TestDatabases()
        let server = try server(
            """
            CREATE TABLE P (id INTEGER PRIMARY KEY);
            CREATE TABLE C (code TEXT PRIMARY KEY, n INTEGER, p INTEGER REFERENCES P);
            CREATE TABLE D (a TEXT, b TEXT, PRIMARY KEY (a, b));
            CREATE INDEX n ON C (n);
            INSERT INTO P VALUES (1); INSERT INTO C VALUES (NULL, 1, 1), ('x', 2, 1), (NULL, 3, 1);
            INSERT INTO D VALUES ('a', NULL), ('a', 'b');
            """, in: folder)
        defer { try? server.store.close() }
        #expect(try await server.find("C").map { $0["objectId"] } == ["x"])
        #expect(try await server.find("C", where: ["n": ["$gt": 0]], "order=-n").map { $0["objectId"] } == ["x"])
        #expect(try await server.send("GET", "/classes/C?count=1&limit=0")["count"] == 1)
        let hinted = try await server.send("GET", "/classes/C?hint=%7B%22n%22%3A1%7D")
        #expect(hinted.results.map { $0["objectId"] } == ["x"], "\(hinted.json)")
        #expect(try await server.find("D").map { $0["objectId"] } == ["a,b"])
        let members = try await server.find(
            "C", where: ["$relatedTo": ["object": pointer("P", "1"), "key": "cs"]])
        #expect(members.map { $0["objectId"] } == ["x"])
        #expect(try await server.send("PUT", "/classes/C/x", ["n": 5]).status == 200)
        #expect(try await server.get("C", "x")["n"] == 5)
        #expect(try await server.send("DELETE", "/classes/C/x").status == 200)
    }

    @Test(.onSQLite) func otherValuesInABooleanColumnAreShownUnchanged() async throws {
        let folder = try TestDatabases()
        let server = try server(
            """
            CREATE TABLE C (id INTEGER PRIMARY KEY, b BOOLEAN);
            INSERT INTO C VALUES (1, 1), (2, 0), (3, 'yes'), (4, 2.5), (5, NULL), (6, 3);
            """, in: folder)
        defer { try? server.store.close() }
        #expect(try await server.find("C", "order=id").map { $0["b"] } == [true, false, "yes", 2.5, nil, true])
        #expect(try await server.get("C", "3")["b"] == "yes")
    }

    /// An object that is deleted at once isn't acknowledged.
    @Test(.onSQLite) func aNewObjectThatATriggerDeletesIsRefused() async throws {
        let folder = try TestDatabases()
        let server = try server(
            """
            CREATE TABLE C (id INTEGER PRIMARY KEY, t TEXT); CREATE TABLE Log (id INTEGER PRIMARY KEY, t TEXT);
            CREATE TRIGGER gone AFTER INSERT ON C WHEN NEW.t = 'bad' BEGIN DELETE FROM C WHERE id = NEW.id; END;
            CREATE TRIGGER log AFTER INSERT ON C BEGIN INSERT INTO Log (t) VALUES (NEW.t); END;
            """, in: folder)
        defer { try? server.store.close() }
        #expect(try await server.send("POST", "/classes/C", ["t": "good"]).status == 201)
        let bad = try await server.send("POST", "/classes/C", ["t": "bad"])
        #expect(bad.status == 400 && bad.code == 142 && bad["error"]?.string?.contains("deletes it at once") == true)
        let request = { (text: String, id: Int) -> JSONValue in
            ["method": "POST", "path": "/parse/classes/C", "body": ["t": .string(text), "objectId": .string("\(id)")]]
        }
        let batch = try await server.send("POST", "/batch", ["requests": [request("good", 8), request("bad", 9)]])
        #expect(batch.json.array?.map { $0["error"]?["code"]?.integer } == [nil, 142], "\(batch.json)")
        for name in ["C", "Log"] { #expect(try await server.find(name).count == 2) }
    }

    /// A constraint that only the database has is reported, too, as the client's error.
    @Test(.onSQLite) func aConstraintWithoutAFieldIsReported() async throws {
        let folder = try TestDatabases()
        let path = try folder.path("constraints.sqlite")
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE P (id INTEGER PRIMARY KEY, n INTEGER, twice AS (n * 2) VIRTUAL UNIQUE);
            CREATE TABLE C (id INTEGER PRIMARY KEY, r INTEGER REFERENCES P (twice));
            INSERT INTO P (id, n) VALUES (1, -9223372036854775807 - 1);
            """)
        try connection.close()
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        let refused = try await server.send("POST", "/classes/C", ["r": 99])
        #expect(refused.status == 400 && refused.code == 142, "\(refused.json)")
        let query = try await server.send("GET", "/classes/P?predicate=abs(n)%20%3D%3D%201")
        #expect(query.status == 400 && query.code == 102, "\(query.json)")
    }

    /// Links that are only read belong to queries of the tool: a server would have to hide them with their columns, and
    /// remember them without their keys.
    @Test(.onSQLite) func aForeignKeyToUniqueColumnsIsAnAttribute() async throws {
        let folder = try TestDatabases()
        let path = try folder.path("codes.sqlite")
        let connection = try Connection(path: path)
        defer { try? connection.close() }
        try connection.execute(
            """
            CREATE TABLE codes (id INTEGER PRIMARY KEY, k TEXT UNIQUE);
            CREATE TABLE items (id INTEGER PRIMARY KEY, code INTEGER REFERENCES codes (k));
            INSERT INTO codes VALUES (1, '5'), (2, '05'); INSERT INTO items VALUES (1, 5);
            """)
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        for (name, field, type) in [("codes", "k", "String"), ("items", "code", "Number")] {
            let fields = try await server.send("GET", "/schemas/\(name)")["fields"]?.object
            #expect(fields?.map(\.key).sorted() == ["ACL", field, "objectId"].sorted())
            #expect(fields?[field]?["type"]?.string == type, "\(String(describing: fields))")
        }
        _ = try await server.create("items", ["code": 5, "codes": "mine"])
        _ = try await server.create("Other", ["a": 1])
        let stored = try connection.values(
            SQLStatement("SELECT name FROM relata_metadata WHERE value LIKE '%matched%'"))
        #expect(stored == [])
        let schema = try Schema(Introspection.entities(of: connection, followsAllKeys: true))
        let found = try RecordFetcher(connection, schema: schema, access: .everything).fetch(
            QueryPlan(
                entity: "codes",
                condition: try PredicateFormat.parse("ANY items.id == 1", entity: "codes", schema: schema)))
        #expect(found.map { $0.values[0] } == [1], "a declared table's key is followed by its rules")
    }
}
