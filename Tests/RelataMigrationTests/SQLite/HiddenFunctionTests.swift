import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// Tables that have the names of SQLite's table-valued functions, and would hide them.
@Suite struct HiddenFunctionTests {
    static let names = [
        "json_each", "json_tree", "relata_values", "pragma_defer_foreign_keys", "pragma_foreign_key_check",
        "pragma_foreign_key_list", "pragma_index_list", "pragma_index_xinfo", "pragma_module_list",
        "pragma_schema_version", "pragma_table_list", "pragma_table_xinfo",
    ]
    static let tables = names.map { "CREATE TABLE \"\($0)\" (id INTEGER PRIMARY KEY, name TEXT, value TEXT);" }
        .joined()

    @Test func filesWithTablesNamedLikeFunctionsAreRead() throws {
        let sql = """
            CREATE TABLE genre (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE book (
                id INTEGER PRIMARY KEY, tags TEXT, genre_id INTEGER REFERENCES genre (id) ON DELETE CASCADE);
            CREATE INDEX book_genre ON book (genre_id);
            """
        let plain = try Introspection.tables(of: database(sql))
        let connection = try database(Self.tables + sql)
        let all = try Introspection.tables(of: connection)
        #expect(all.filter { !Self.names.contains($0.name) } == plain)
        #expect(all.count == plain.count + Self.names.count - 1)
        #expect(all.first { $0.name == "json_each" }?.columns.map(\.name) == ["id", "name", "value"])
    }

    @Test func filesWithTablesNamedLikeFunctionsAreUsable() throws {
        let connection = try database(
            Self.tables + """
                CREATE TABLE genre (id INTEGER PRIMARY KEY, name TEXT);
                CREATE TABLE book (
                    id INTEGER PRIMARY KEY, tags JSON, genre_id INTEGER REFERENCES genre (id) ON DELETE CASCADE);
                INSERT INTO genre VALUES (1, 'a'), (2, 'b');
                INSERT INTO book VALUES (1, '["x","y"]', 1), (2, '["y"]', 2), (3, '[]', 1);
                INSERT INTO json_each VALUES (1, 'one', 'x');
                """)
        let entities = try Introspection.entities(of: connection)
        let schema = try Schema(entities)
        let fetcher = RecordFetcher(connection, schema: schema, access: .everything)
        let tags = JSONElements(of: .property(scope: 0, path: ["tags"]), scope: 1)
        let isX = ExpressionNode.comparison(.equal, .element(scope: 1, .text), .value("x"), [])
        let found = try fetcher.fetch(
            QueryPlan(entity: "book", condition: .anyElement(tags, condition: isX)))
        #expect(found.map { $0.key(in: schema) } == [KeyValue(.integer(1))])
        #expect(try fetcher.fetch(QueryPlan(entity: "json_each")).count == 1)
        let keys = [KeyValue(.integer(1)), KeyValue(.integer(3))]
        let byKey = QueryPlan(entity: "book", condition: .keyIn(.property(scope: 0, path: []), keys))
        #expect(try fetcher.fetch(byKey).count == 2)
        #expect(try IntegrityCheck.run(connection, schema: schema) == [])
        let genre = try #require(schema.index(of: "genre"))
        let report = try connection.delete(
            entity: genre, roots: .keys([KeyValue(.integer(1))]), schema: schema, access: .everything)
        #expect(report.deletedCount == 3)
        #expect(try connection.lines("SELECT id FROM book") == ["2"])
        let wanted = try Schema(entities + [Entity(name: "Shelf", properties: [.id(), .toOne("book", "book")])])
        let adopting = MigrationStep("adopt", taking: .adopting)
        try Migrator.migrate(connection, schema: wanted, steps: [adopting])
        #expect(try Migrator.prepare(connection, schema: wanted, steps: [adopting]).isEmpty)
    }

    @Test(arguments: ["json_each", "JSON_Tree", "json_later", "pragma_table_list", "Pragma_later", "fts5", "RTree"])
    func tablesNamedLikeFunctionsAreNotCreated(_ name: String) throws {
        func expectRefusal(_ entities: [Entity], _ connection: Connection, _ place: String) throws {
            let error = #expect(throws: RelataError.self) {
                try Migrator.migrate(connection, schema: try Schema(entities))
            }
            guard case .schemaMismatch(let problems)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            let fix = place.contains(".") ? "`joinTable:`" : "`@Model(table:)`"
            let message = "the table name \(name) belongs to a function of the database: give another with \(fix)"
            #expect(problems.map(\.description) == ["\(place): \(message)"])
            #expect(try connection.lines("SELECT name FROM sqlite_master WHERE name = '\(name)'") == [])
        }
        let thing = Entity(name: "Thing", table: name, properties: [.id()])
        try expectRefusal([thing], database(), "Thing")
        let connection = try database()
        let old = Entity(name: "Thing", table: "Old", properties: [.id()])
        try Migrator.migrate(connection, schema: Schema([old]))
        try expectRefusal([old, Entity(name: "Other", table: name, properties: [.id()])], connection, "Other")
        var renamed = thing
        renamed.originalTable = "Old"
        try expectRefusal([renamed], connection, "Thing")
        let joined = Relationship("others", target: "Thing", kind: .manyToMany(JoinTableNames(table: name)))
        let owner = Entity(name: "Thing", table: "Old", properties: [.id(), .relationship(joined)])
        try expectRefusal([owner], connection, "Thing.others")
        // An existing table is used as it is.
        try connection.execute("CREATE TABLE \"\(name)\" (id INTEGER PRIMARY KEY)")
        try Migrator.migrate(
            connection, schema: Schema([old, Entity(name: "Other", table: name, properties: [.id()])]))
    }

    @Test func tablesMayHaveNamesThatQueriesUseInternally() throws {
        for name in ["doomed", "reached", "tree", "step", "x", "s", "o", "y", "t0", "list", "numbered"] {
            let node = Entity(
                name: name,
                properties: [
                    .id(), .toOne("parent", name, onTargetDelete: .cascade),
                    .toMany("children", name, inverse: "parent"),
                ])
            let schema = try Schema([node])
            let connection = try database()
            try Migrator.migrate(connection, schema: schema)
            try connection.execute(
                "INSERT INTO \"\(name)\" (id, parentId) VALUES (1, NULL), (2, 1), (3, 2), (4, NULL), (5, 4)")
            let fetcher = RecordFetcher(connection, schema: schema, access: .everything)
            let below = QueryPlan(
                entity: name,
                relatedTo: RelatedOwner(
                    entity: name, relationship: "children", key: KeyValue(.integer(1)), isRecursive: true))
            #expect(try fetcher.fetch(below).count == 2, "\(name)")
            let report = try connection.delete(
                entity: 0, roots: .keys([KeyValue(.integer(1))]), schema: schema, access: .everything)
            #expect(report.deletedCount == 3, "\(name)")
            #expect(try connection.lines("SELECT id FROM \"\(name)\" ORDER BY id") == ["4", "5"], "\(name)")
        }
    }
}
