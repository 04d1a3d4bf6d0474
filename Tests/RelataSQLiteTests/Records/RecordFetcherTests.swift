import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import Synchronization
import TestSupport
import Testing

@Suite struct RecordFetcherTests {
    private let entities = [
        Entity(
            name: "Setlist",
            properties: [
                .attribute(Attribute("id", type: .integer)),
                .relationship(
                    Relationship(
                        "items", target: "Item", kind: .toMany(inverse: "setlist"), deleteRule: .cascade,
                        order: .attribute("position"))),
                .relationship(
                    Relationship("songs", target: "Song", kind: .through(toMany: "items", toOne: "song"))),
                .relationship(Relationship("fans", target: "Fan", kind: .manyToMany(), order: .stored)),
            ]),
        Entity(
            name: "Item",
            properties: [
                .attribute(Attribute("id", type: .integer)),
                .relationship(Relationship("setlist", target: "Setlist", kind: .toOne(isOptional: false))),
                .relationship(Relationship("song", target: "Song", kind: .toOne(isOptional: true))),
                .attribute(Attribute("position", type: .integer)),
            ]),
        Entity(
            name: "Song",
            properties: [
                .attribute(Attribute("id", type: .uuid(.blob))), .attribute(Attribute("title", type: .text)),
            ]),
        Entity(
            name: "Fan",
            properties: [
                .attribute(Attribute("id", type: .text)),
                .relationship(Relationship("setlists", target: "Setlist", kind: .manyToManyInverse(inverse: "fans"))),
            ]),
    ]

    private func uuid(_ digit: Int) throws -> UUID {
        try #require(UUID(uuidString: "00000000-0000-0000-0000-00000000000\(digit)"))
    }

    /// Two setlists: a song twice in the first, an item without a song in the second, a fan of both.
    private func setlistDatabase(trace: SQLTrace? = nil) throws -> (Connection, Schema) {
        let schema = try Schema(entities)
        let connection = try Connection(path: nil, trace: trace)
        for statement in SchemaDDL.creation(of: schema, dialect: .sqlite) { try connection.execute(statement) }
        func insert(_ sql: String, _ rows: [[Value]]) throws {
            for row in rows { try connection.execute(SQLStatement(sql, row.map { .value($0) })) }
        }
        try insert("INSERT INTO Setlist (id) VALUES (?1)", [[1], [2], [3]])
        try insert(
            "INSERT INTO Song (id, title) VALUES (?1, ?2)",
            [[.uuid(try uuid(1)), "One"], [.uuid(try uuid(2)), "Two"]])
        try insert(
            "INSERT INTO Item (id, setlistId, songId, position) VALUES (?1, ?2, ?3, ?4)",
            [
                [1, 1, .uuid(try uuid(1)), 30], [2, 1, .uuid(try uuid(2)), 20], [3, 1, .uuid(try uuid(1)), 10],
                [4, 2, nil, 1],
            ])
        try insert("INSERT INTO Fan (id) VALUES (?1)", [["Ida"], ["Mei"]])
        try insert(
            "INSERT INTO Setlist_fans (setlistId, fanId, position) VALUES (?1, ?2, ?3)",
            [[1, "Ida", 2], [1, "Mei", 1], [2, "Mei", 1]])
        return (connection, schema)
    }

    private func titles(_ link: LoadedLink?) -> [String] {
        link?.records.map { $0.values[1].description } ?? ["unloaded"]
    }

    @Test func relationshipsOfEveryKindAreLoadedInTheirOrder() throws {
        let (connection, schema) = try setlistDatabase()
        let setlists = try RecordFetcher(connection, schema: schema, access: .everything).fetch(
            QueryPlan(entity: "Setlist"),
            including: [
                IncludePlan("items", children: [IncludePlan("song")]), IncludePlan("songs"),
                IncludePlan("fans", children: [IncludePlan("setlists")]),
            ])
        #expect(setlists.map { titles($0.links["songs"]) } == [["One", "Two", "One"], [], []])
        let items = try #require(setlists[0].links["items"]?.records)
        #expect(items.map { $0.values[0] } == [3, 2, 1])
        #expect(items.map { titles($0.links["song"]) } == [["One"], ["Two"], ["One"]])
        #expect(setlists[1].links["items"]?.records.first?.links["song"] == .one(nil))
        let fans = try #require(setlists[0].links["fans"]?.records)
        #expect(fans.map { $0.values[0] } == ["Mei", "Ida"])
        #expect(fans[0].links["setlists"]?.records.map { $0.values[0] } == [1, 2])
        #expect(setlists[2].links["items"] == .many([]))
        #expect(setlists[0].links["nothing"] == nil)
    }

    @Test func filtersOrdersAndLimitsApplyPerOwner() throws {
        let (connection, schema) = try setlistDatabase()
        let position = ExpressionNode.property(scope: 0, path: ["position"])
        let late = IncludePlan(
            "items", condition: .comparison(.greater, position, .value(1), []),
            sort: [SortTerm(position, isAscending: false)], limit: 2, isRequired: true)
        let setlists = try RecordFetcher(connection, schema: schema, access: .everything).fetch(
            QueryPlan(entity: "Setlist"), including: [late])
        #expect(setlists.map { $0.values[0] } == [1])
        #expect(setlists[0].links["items"]?.records.map { $0.values[0] } == [1, 2])
    }

    @Test func everyEdgeIsOneStatement() throws {
        let statements = Counter()
        let (connection, schema) = try setlistDatabase { _, _ in statements.add() }
        let before = statements.count
        _ = try RecordFetcher(connection, schema: schema, access: .everything).fetch(
            QueryPlan(entity: "Setlist"),
            including: [IncludePlan("items", children: [IncludePlan("song")]), IncludePlan("fans")])
        #expect(statements.count - before == 4)
    }

    @Test func keysThatSQLTreatsAsEqualMatch() throws {
        // A text column that refers to integers: SQLite compares them as numbers.
        let connection = try database(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY);
            CREATE TABLE b (id INTEGER PRIMARY KEY, a_id TEXT REFERENCES a (id));
            INSERT INTO a VALUES (7); INSERT INTO b VALUES (1, '7');
            """)
        let schema = try Schema(try Introspection.entities(of: connection))
        let fetcher = RecordFetcher(connection, schema: schema, access: .everything)
        let owners = try fetcher.fetch(QueryPlan(entity: "a"), including: [IncludePlan("bs")])
        #expect(owners[0].links["bs"]?.records.count == 1)
        let members = try fetcher.fetch(QueryPlan(entity: "b"), including: [IncludePlan("a")])
        #expect(members[0].links["a"]?.records.count == 1)
    }

    @Test func unknownRelationshipsAreErrors() throws {
        let (connection, schema) = try setlistDatabase()
        #expect {
            try RecordFetcher(connection, schema: schema, access: .everything).fetch(
                QueryPlan(entity: "Setlist"), including: [IncludePlan("item")])
        } throws: { error in
            "\(error)".contains("did you mean items?")
        }
    }
}

/// Counts from any thread.
private final class Counter: Sendable {
    private let number = Mutex(0)
    var count: Int { number.withLock { $0 } }
    func add() { number.withLock { $0 += 1 } }
}
