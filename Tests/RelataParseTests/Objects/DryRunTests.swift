import RelataCore
import RelataEngine
import RelataParse
import RelataSQLite
import TestEngines
import Testing

/// Whoever asks what a deletion would do must not have it done because of a slip.
@Suite(.onEveryEngine) struct DryRunTests {
    @Test(arguments: ["dryRun", "dryRun=1", "dryRun=true", "dryRun=TRUE", "dryRun="])
    func aDryRunDeletesNothing(_ parameters: String) async throws {
        let server = try TestServer()
        let id = try await server.create("Book", ["title": "A"])
        let plan = try await server.send("DELETE", "/classes/Book/\(id)?\(parameters)")
        #expect(plan["deleted"]?.array?.count == 1, "\(plan.json)")
        let purge = try await server.send("DELETE", "/purge/Book?\(parameters)")
        #expect(purge["deleted"]?.array?.first?["objectIds"]?.array?.first?.string == id, "\(purge.json)")
        #expect(try await server.get("Book", id)["title"] == "A")
    }

    @Test(arguments: ["dryRun=yes", "dryRun=2", "dryRun=on", "dryrun=1", "dry_run=1", "dryRun=1&force=1"])
    func oneThatIsSpeltOtherwiseIsRefused(_ parameters: String) async throws {
        let server = try TestServer()
        let id = try await server.create("Book", ["title": "A"])
        #expect(try await server.send("DELETE", "/classes/Book/\(id)?\(parameters)").code == 102)
        #expect(try await server.send("DELETE", "/purge/Book?\(parameters)").code == 102)
        #expect(try await server.get("Book", id)["title"] == "A")
    }

    /// What a dry run said, and a trigger keeps from happening, isn't told to be done.
    @Test(.onSQLite) func aDeletionThatATriggerKeepsFromHappeningIsNoneThatWasDone() async throws {
        let folder = try TestDatabases()
        let path = try folder.path("books.sqlite")
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        let genre = try await server.create("Genre", ["name": "A"])
        let cascade: JSONValue = [
            "fields": ["genre": ["type": "Pointer", "targetClass": "Genre", "onTargetDelete": "cascade"]]
        ]
        #expect(try await server.send("POST", "/schemas/Book", cascade).status == 200)
        let book = try await server.create("Book", ["genre": pointer("Genre", genre)])
        let connection = try Connection(path: path)
        try connection.execute(
            "CREATE TRIGGER guard BEFORE DELETE ON \"Genre\" BEGIN SELECT RAISE(IGNORE); END")
        try connection.close()
        let dryRun = try await server.send("DELETE", "/classes/Genre/\(genre)?dryRun=true")
        #expect(dryRun["deleted"]?.array?.count == 2, "\(dryRun.json)")
        for (method, target) in [("DELETE", "/classes/Genre/\(genre)"), ("DELETE", "/purge/Genre")] {
            let reply = try await server.send(method, target)
            #expect(reply.status >= 400, "\(reply.json)")
            #expect(reply.json["error"]?.string?.contains("trigger") == true, "\(reply.json)")
        }
        #expect(try await server.get("Genre", genre)["name"] == "A")
        #expect(try await server.get("Book", book)["objectId"]?.string == book)
    }

    /// A new object that the database passes over has no id: the number that it gave last is another object's.
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

    @Test(.onSQLite) func aPointerThatIsPartlyUnsetIsNotThere() async throws {
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

    /// What only the database knows of a table is said, too, and no fault of the server.
    @Test(.onSQLite) func aConstraintThatNoFieldStandsForIsSaid() async throws {
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

    @Test func oneThatIsOffDeletes() async throws {
        let server = try TestServer()
        for value in ["0", "false"] {
            let id = try await server.create("Book", ["title": "A"])
            #expect(try await server.send("DELETE", "/classes/Book/\(id)?dryRun=\(value)").json == [:])
            #expect(try await server.get("Book", id)["code"] == 101)
        }
    }

    @Test func otherFlagsMustBeTrueOrFalseToo() async throws {
        let server = try TestServer()
        let id = try await server.create("Book", ["title": "A"])
        #expect(try await server.send("GET", "/classes/Book?count=maybe").code == 102)
        #expect(try await server.send("GET", "/classes/Book?count").json["count"] == 1)
        #expect(try await server.send("GET", "/classes/Book/\(id)?deletionPlan=0").json["title"] == "A")
        #expect(try await server.send("GET", "/classes/Book/\(id)?deletionPlan=perhaps").code == 102)
    }

    @Test func oneThatContradictsItselfDeletesNothing() async throws {
        let server = try TestServer()
        let id = try await server.create("Book", ["title": "A"])
        #expect(try await server.send("DELETE", "/classes/Book/\(id)?dryRun=1&dryRun=0").code == 102)
        #expect(try await server.send("DELETE", "/classes/Book/\(id)?dryRun=1", ["dryRun": false]).code == 102)
        #expect(try await server.get("Book", id)["title"] == "A")
    }
}
