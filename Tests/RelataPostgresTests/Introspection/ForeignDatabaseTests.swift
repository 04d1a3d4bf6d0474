#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import Testing

@testable import RelataEngine

/// Databases that other programs made, as entities.
@Suite(.needsPostgreSQL) struct ForeignDatabaseTests {
    private let database: TestDatabase
    private let reading: ForeignReading

    init() throws {
        database = try ForeignDatabase.make(on: .shared)
        reading = try ForeignReading(foreignConnection(database.url))
    }

    @Test func everyTableAndViewIsAnEntity() throws {
        #expect(
            reading.schema.tables.map(\.name) == [
                "person", "event", "vehicle", "car", "branch", "clerk", "log_line", "people", "totals",
                "Odd Schema.Odd.Table \"x\"", "sales.orders", "sales.item", "sales.tag",
            ])
        let kinds = try ["person", "event", "people", "totals"].map { try reading.entity($0).entity.source?.kind }
        #expect(kinds == [.table, .partitionedTable, .view, .materializedView])
        #expect(try reading.entity("orders").name == "sales.orders")
        #expect(try reading.entity("public.person").name == "person")
    }

    @Test func columnTypesAreRead() throws {
        let expected = [
            "id": "integer (identity)", "name": "text (character varying(40))", "mail": "text? (email)",
            "work": "text (work_email)", "feeling": "text? (mood)", "home": "text? (address)", "tags": "text? (text[])",
            "born": "text? (date)", "seen": "date?", "at": "text? (timestamp without time zone)",
            "span": "text? (tstzrange)", "price": "decimal?", "big": "decimal?", "raw": "data?", "doc": "json?",
            "plain": "text? (json)", "code": "uuid?", "single": "real? (real)", "flags": "text? (bit(3))",
            "net": "text? (inet)", "gap": "text? (interval)", "upper": "text?", "upper2": "text?",
            "initial": "text? generated",
        ]
        for (name, type) in expected {
            let actual = try reading.attribute(name, of: "person")
            #expect(actual == type, "\(name)")
        }
    }

    @Test func valuesAreReadOrShownAsText() throws {
        let ada = try reading.values("person")
        let code = try #require(UUID(uuidString: "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"))
        let expected: [String: Value] = [
            "name": "Ada", "mail": "ada@x.org", "work": "w@x", "feeling": "happy", "home": "(\"Main, 1\",12345)",
            "tags": "{a,\"b c\"}", "born": "1815-12-10", "seen": .integer(1_795_241_940_000_000),
            "at": "2026-11-21 06:19:00", "span": "[\"2026-01-01 00:00:00+00\",\"2026-02-01 00:00:00+00\")",
            "price": "12.5", "big": "123456789012345678901234567890.5", "raw": .blob(Data([0, 255])),
            "doc": "{\"a\": [1, 2]}", "plain": "{\"b\":\"\\u0000\"}", "code": .uuid(code), "single": 0.1,
            "flags": "101", "net": "10.0.0.1/8", "gap": "1 day 02:03:04", "upper": "U", "upper2": "u", "initial": "A",
            "boss": .null,
        ]
        for (name, value) in expected { #expect(ada[name] == value, "\(name)") }
        let (bob, cy) = (try reading.values("person", at: 1), try reading.values("person", at: 2))
        #expect(bob["seen"] == "infinity" && cy["seen"] == "-infinity" && bob["born"] == "-infinity")
        #expect(bob["big"] == "NaN" && cy["big"] == "Infinity" && bob["span"] == "empty" && bob["boss"] == 1)
    }

    @Test func rowsBelongToOneTable() throws {
        #expect(try reading.fetch("vehicle").map { $0.values[0] } == [1, 2])
        #expect(try reading.fetch("car").map { $0.values[0] } == [1, 3])
        #expect(try reading.fetch("event").count == 4)
        #expect(reading.notes.contains { $0.entity == "car" && $0.message.contains("inherits from public.vehicle") })
    }

    @Test func foreignKeysAreRelationships() throws {
        let item = try reading.entity("item")
        #expect(item.entity.relationships.map(\.name) == ["order", "odd"])
        #expect(item.entity.relationships.map(\.target) == ["sales.orders", "Odd Schema.Odd.Table \"x\""])
        // The comparison ignores case, and the value is read in the target's spelling.
        #expect(try reading.fetch("item").map { $0.values[2] } == ["Hammer", "Saw", .null])
        let orders = try reading.entity("sales.orders").entity
        #expect(orders.relationships.map(\.name) == ["person", "items", "tags"])
        #expect(try reading.entity("person").entity.relationship("orders")?.deleteRule == .cascade)
        #expect(try reading.entity("person").entity.relationship("people")?.deleteRule == .nullify)
    }

    @Test func onlyPlainTextComparesPlainly() throws {
        let owner = try session(database)
        defer { owner.close() }
        try owner.run(
            "CREATE TABLE plain (a text, b varchar(9), c text COLLATE any_case, d citext, e integer)")
        let connection = try foreignConnection(database.url)
        defer { try? connection.close() }
        let plain = try ["a", "b", "c", "d", "e", "f"].filter {
            try connection.driver.comparesPlainly($0, of: "plain", connection)
        }
        #expect(plain == ["a", "b"])
    }

    @Test func referencingAttributesShowTheStoredValue() throws {
        let owner = try session(database)
        defer { owner.close() }
        try owner.run(
            """
            CREATE TABLE tool (id integer PRIMARY KEY, code text COLLATE any_case UNIQUE);
            CREATE TABLE loan (
                id integer PRIMARY KEY, code text COLLATE any_case REFERENCES tool (code) ON DELETE CASCADE);
            INSERT INTO tool VALUES (1, 'Abc'), (2, 'Xyz'); INSERT INTO loan VALUES (1, 'ABC'), (2, 'xyz')
            """)
        let reading = try ForeignReading(foreignConnection(database.url), followsAllKeys: true)
        defer { try? reading.connection.close() }
        #expect(try reading.values("loan")["code"] == "ABC")
        let fetcher = RecordFetcher(reading.connection, schema: reading.schema, access: .everything)
        func count(_ condition: String, of entity: String) throws -> Int {
            let node = try PredicateFormat.parse(condition, entity: entity, schema: reading.schema)
            return try fetcher.fetch(QueryPlan(entity: entity, condition: node)).count
        }
        #expect(try count("code == 'ABC'", of: "loan") == 1 && count("code == 'Abc'", of: "loan") == 0)
        #expect(try count("tool.id == 1", of: "loan") == 1 && count("ANY loans.code == 'ABC'", of: "tool") == 1)
        let links = try fetcher.fetch(QueryPlan(entity: "loan"), including: [IncludePlan("tool")])
        #expect(links.map { $0.links["tool"]?.records.map { $0.values[1] } } == [["Abc"], ["Xyz"]])
        #expect(try reading.plan("tool", 1).deletedCount == 2)
    }

    @Test func relatedObjectsAreLoaded() throws {
        let fetcher = RecordFetcher(reading.connection, schema: reading.schema, access: .everything)
        let orders = try fetcher.fetch(
            QueryPlan(entity: "sales.orders"),
            including: [
                IncludePlan("person"), IncludePlan("tags"),
                IncludePlan("items", children: [IncludePlan("odd")]),
            ])
        #expect(orders.map { $0.links["person"]?.records.map { $0.values[1] } } == [["Ada"], ["Ada"], ["Bob"]])
        #expect(orders.map { $0.links["tags"]?.records.map { $0.values[0] } } == [["big", "new"], [], ["new"]])
        let odd = orders[0].links["items"]?.records.map { $0.links["odd"]?.records.map { $0.values[0] } }
        #expect(odd == [["Hammer"], ["Saw"]])
    }

    @Test func tablesThatTheRoleCannotReadAreNamed() throws {
        let owner = try session(database)
        let role = "reader_\(UInt32.random(in: 0 ... .max))"
        try owner.run(
            """
            CREATE ROLE \(role) LOGIN; GRANT SELECT ON branch, log_line, people TO \(role);
            GRANT SELECT (id, name, boss) ON person TO \(role);
            ALTER TABLE branch ENABLE ROW LEVEL SECURITY;
            """)
        defer {
            _ = try? owner.run("DROP OWNED BY \(role); DROP ROLE \(role)")
            owner.close()
        }
        let url = try PrivateCluster.shared.url(database: database.name, user: role)
        let reading = try ForeignReading(foreignConnection(url))
        #expect(reading.schema.tables.map(\.name) == ["person", "branch", "log_line", "people"])
        #expect(try reading.entity("person").entity.attributes.map(\.name) == ["id", "name"])
        #expect(try reading.fetch("person").count == 3)
        let notes = reading.notes.map(\.description)
        #expect(notes.contains { $0.hasPrefix("sales.orders: the role has no privilege to read it") })
        #expect(notes.contains { $0.hasPrefix("person.seen: the role has no privilege to read it") })
        #expect(notes.contains { $0.hasPrefix("branch: row-level security hides some of its rows") })
        try reading.connection.close()
    }

    /// A condition that every view's rows meet, and all of its columns, without an error.
    @Test func everySystemViewIsRead() throws {
        let connection = try foreignConnection(database.url, including: ["pg_catalog", "information_schema"])
        let reading = try ForeignReading(connection)
        let own = reading.schema.tables.filter { table in
            ["pg_catalog.", "information_schema."].contains { table.entity.source?.fullName.hasPrefix($0) == true }
        }
        #expect(own.filter { $0.entity.source?.kind == .view }.count > 100)
        #expect(own.contains { $0.name == "pg_class" } && own.contains { $0.name == "information_schema.columns" })
        try connection.begin()
        defer { connection.endReading() }
        for table in own {
            do {
                let records = try connection.savepoint { try reading.fetch(table.name, limit: 30) }
                #expect(records.allSatisfy { $0.values.count == table.columns.count })
            } catch {
                Issue.record("\(table.name): \(error)")
            }
        }
    }
}
#endif
