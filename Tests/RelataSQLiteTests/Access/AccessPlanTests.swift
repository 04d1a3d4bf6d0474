import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// Statements under an access: the same text for all who see by the same conditions, and found by the same indexes.
struct AccessPlanTests {
    let library: QueryLibrary

    init() throws { library = try QueryLibrary(AccessLibrary.entities) }

    /// Guards entities by lists, as lists of who may read will.
    private func access(_ levels: Value..., guarding entities: [String]? = nil) throws -> Access {
        let names = entities ?? library.schema.tables.map(\.name)
        return try Access(
            Dictionary(uniqueKeysWithValues: names.map { ($0, .valueIn(the("level"), levels, [])) }),
            in: library.schema)
    }

    private func compiler(_ access: Access) -> QueryCompiler { QueryCompiler(schema: library.schema, access: access) }

    /// The plan without the lists that are bound.
    private func plan(_ statement: SQLStatement) throws -> String {
        try library.explain(statement).replacing(/SCAN (temp\.)?relata_values/, with: "")
    }

    @Test func guardedTablesUseIndexesLikeOthers() throws {
        let compiler = try compiler(access(1, 2, 3))
        let two = [KeyValue(1), KeyValue(2)]
        let searches: [(String, ExpressionNode)] = [
            ("Book", the("id") == 1), ("Book", .keyIn(the(""), two)), ("Book", the("title") == "x"),
            ("Book", .text(.beginsWith, the("title"), .value("Ea"), [])),
            ("Book", .valueIn(the("year"), [1, 2, 3], [])), ("Book", the("year") == nil), ("Author", the("id") == "x"),
            ("Book", .and([the("id") == 1, the("genre.name") == "x"])),
            ("Book", .and([the("id") == 1, the("isbn.value") == "x"])),
            ("Enrolment", .keyIn(the(""), [KeyValue([1, "a"]), KeyValue([2, "b"])])),
            ("Book", .quantified(.any, set("authors"), condition: .keyIn(the("", 1), [KeyValue("le")]))),
            ("Book", .quantified(.any, set("reviews"), condition: the("id", 1) == 3)),
            ("Author", .quantified(.any, set("books"), condition: the("title", 1) == "Earthsea")),
            ("Book", .and([the("id") == 1, .quantified(.all, set("reviews"), condition: the("stars", 1) > 3)])),
            ("Book", .and([the("id") == 1, .aggregate(.count, set("authors"), of: nil, filter: nil) > 2])),
        ]
        for (entity, condition) in searches {
            for columns in [SelectedColumns.all, .parts([.key(path: [])])] {
                let plan = try plan(
                    compiler.select(QueryPlan(entity: entity, condition: condition), columns: columns).statement)
                #expect(!plan.contains(/SCAN|MATERIALIZE|CO-ROUTINE/), "\(condition): \(plan)")
            }
        }
    }

    @Test func linksOfManyOwnersUseIndexes() throws {
        let compiler = try compiler(access(1, 2, 3))
        let owners: [(String, String, KeyList)] = [
            ("Book", "reviews", KeyList([KeyValue(1)])), ("Book", "authors", KeyList([KeyValue(1)])),
            ("Book", "genre", KeyList([KeyValue(1)])), ("Book", "isbn", KeyList([KeyValue(1)])),
            ("Setlist", "songs", KeyList([KeyValue("a")])), ("Person", "children", KeyList([KeyValue(1)])),
        ]
        for (entity, name, keys) in owners {
            let target = try #require(library.schema[entity]?.entity.relationship(name)?.target)
            for limit in [nil, 2] {
                let query = try compiler.edge(
                    QueryPlan(entity: target), from: entity, along: name, of: keys, limit: limit, tellsRows: true)
                var plan = try plan(query.statement)
                // The list of owners is iterated, and rows are numbered in their own query.
                plan.replace(/SCAN k/, with: "")
                plan.replace(/CO-ROUTINE (relata_rows|\(subquery-\d+\))/, with: "")
                plan.replace(/SCAN (relata_rows|\(subquery-\d+\))/, with: "")
                #expect(!plan.contains(/SCAN|MATERIALIZE|CO-ROUTINE/), "\(entity).\(name) \(limit ?? 0): \(plan)")
            }
        }
    }

    @Test func theIndexOfTheConditionIsUsedAsALastResort() throws {
        let plan = try plan(compiler(access(1, 2)).count(QueryPlan(entity: "Book")))
        #expect(plan.contains(/SEARCH .*level/), "\(plan)")
    }

    @Test func openTablesAreReadAsIfWithoutAnAccess() throws {
        let limited = try compiler(access(1, guarding: ["Song"]))
        let plan = QueryPlan(
            entity: "Book",
            condition: .and([
                the("genre.name") == "x", .quantified(.any, set("authors"), condition: the("name", 1) == "y"),
            ]),
            sort: [SortTerm(the("isbn"))], limit: 3)
        #expect(try limited.select(plan) == library.compiler.select(plan))
        #expect(try limited.keys(plan) == library.compiler.keys(plan))
        #expect(
            try limited.update(plan, [Assignment("level", .value(1))])
                == library.compiler.update(plan, [Assignment("level", .value(1))]))
    }

    @Test func accessesOfOneShapeShareTheirStatements() throws {
        let (one, other, third) = (try access(1, 2), try access(3, 4), try access(3))
        #expect(one.shape == other.shape && one != other && one.shape != third.shape)
        #expect(Access.everything.shape != one.shape)
        let inner = QueryPlan(entity: "Genre", condition: the("name") == "x")
        let plan = QueryPlan(
            entity: "Book",
            condition: .and([
                the("title") == "y", .inQuery(the("genre"), inner, selecting: nil), the("isbn.value") == "z",
            ]),
            sort: [SortTerm(the("genre.name"))], limit: 3)
        let query = try compiler(one).select(plan)
        #expect(query.ownParameters == [.value("y"), .value("x"), .value("z"), .value(3)])
        #expect(
            query.statement(binding: query.ownParameters, under: other) == (try compiler(other).select(plan).statement))
        #expect(try compiler(one).select(plan).statement.sql == compiler(other).select(plan).statement.sql)
        // With an access whose values aren't known, no object is visible.
        let none = query.statement(binding: query.ownParameters, under: .everything)
        #expect(none.sql == query.statement.sql && none.parameters.contains(.value(.null)))
    }

    /// Foreign keys that are compared by the target's rules are read by their own query.
    @Test(arguments: [true, false])
    func linksComparedByTheTargetsRulesReachNoHiddenRow(_ guardsSource: Bool) throws {
        let connection = try database(
            """
            CREATE TABLE artist (name TEXT PRIMARY KEY COLLATE NOCASE, level INTEGER);
            CREATE TABLE album (id INTEGER PRIMARY KEY, artist TEXT REFERENCES artist (name), level INTEGER);
            INSERT INTO artist VALUES ('Ann', 1), ('Bob', 0);
            INSERT INTO album VALUES (1, 'ANN', 1), (2, 'ann', 0), (3, 'BOB', 1), (4, 'Ann', 1), (5, NULL, 1);
            """)
        let schema = try Schema(Introspection.read(connection).entities)
        let names = try #require(schema.tables.first { $0.sqlName == "artist" }?.name)
        let albums = try #require(schema.tables.first { $0.sqlName == "album" })
        let list = try #require(schema[names]?.entity.relationships.first)
        let link = try #require(albums.entity.relationships.first)
        let access = try Access(
            [guardsSource ? albums.name : names: .comparison(.equal, the("level"), .value(1), [])], in: schema)
        let compiler = QueryCompiler(schema: schema, access: access)
        func keys(_ plan: QueryPlan) throws -> [Value] {
            let query = try compiler.keys(plan)
            return try connection.values(query.statement, types: query.columnTypes).map { $0[0] }
        }
        let members = ExpressionNode.aggregate(.count, set(list.name), of: nil, filter: nil)
        #expect(
            try keys(QueryPlan(entity: names, condition: members == 2)) == (guardsSource ? ["Ann"] : []))
        #expect(try keys(QueryPlan(entity: names, condition: members == 3)) == (guardsSource ? [] : ["Ann"]))
        #expect(
            try keys(QueryPlan(entity: albums.name, condition: .isNull(the(link.name))))
                == (guardsSource ? [5] : [3, 5]))
        let record = try RecordFetcher(connection, schema: schema, access: access).fetch(
            QueryPlan(entity: names), including: [IncludePlan(list.name)])
        #expect(record.map { $0.links[list.name]?.records.count } == (guardsSource ? [2, 1] : [3]))
        let fetched = try RecordFetcher(connection, schema: schema, access: access).fetch(
            QueryPlan(entity: albums.name, sort: [SortTerm(the("id"))]), including: [IncludePlan(link.name)])
        #expect(fetched.map { $0.links[link.name]?.records.count } == (guardsSource ? [1, 1, 1, 0] : [1, 1, 0, 1, 0]))
        let key = KeyValue("ann")
        let related = RelatedOwner(entity: names, relationship: list.name, key: key)
        #expect(
            try keys(QueryPlan(entity: albums.name, relatedTo: related)) == (guardsSource ? [1, 4] : [1, 2, 4]))
    }
}
