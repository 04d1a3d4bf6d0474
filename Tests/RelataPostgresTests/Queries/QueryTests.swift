#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataEngine
import RelataPostgres
import Testing

/// Queries whose SQL on PostgreSQL is its own.
@Suite(.needsPostgreSQL) struct QueryTests {
    private let database: TestDatabase
    private let connection: Connection
    private let schema: Schema

    private var compiler: QueryCompiler { QueryCompiler(schema: schema, access: .everything, dialect: .postgres) }

    init() throws {
        let number = Property.attribute(Attribute("id", type: .integer))
        schema = try Schema([
            Entity(name: "Genre", properties: [number, .attribute(Attribute("name", type: .text))]),
            Entity(
                name: "Book",
                properties: [
                    number, .attribute(Attribute("title", type: .text)),
                    .attribute(Attribute("cover", type: .data, isOptional: true)),
                    .attribute(Attribute("notes", type: .json, isOptional: true)),
                    .relationship(Relationship("genre", target: "Genre", kind: .toOne(isOptional: true))),
                    .relationship(Relationship("genres", target: "Genre", kind: .manyToMany(), order: .stored)),
                ]),
        ])
        database = try PrivateCluster.shared.makeDatabase()
        connection = try PostgresEngine(url: PostgresURL(database.url)).connect(.writing, waits: true)
        try connection.driver.makeReady(connection)
        try Migrator.migrate(connection, schema: schema)
        try connection.execute(
            #"""
            INSERT INTO "Genre" VALUES (1, 'Novel'), (2, 'Essay');
            INSERT INTO "Book" VALUES
                (1, 'b', '\x0102', '{"n": 3, "t": "x"}', 1), (2, 'a', '\x010203', '{"n": 10, "t": 7}', 1),
                (3, 'c', NULL, '{"n": "3"}', 2);
            INSERT INTO "Book_genres" ("bookId", "genreId", position) VALUES (1, 1, 20), (1, 2, 10), (2, 1, 10);
            """#)
    }

    private func the(_ path: String...) -> ExpressionNode { .property(scope: 0, path: path) }

    private func run(_ query: CompiledQuery) throws -> [[Value]] {
        try connection.values(query.statement, types: query.columnTypes)
    }

    private func keys(_ condition: ExpressionNode) throws -> [Value] {
        try run(compiler.keys(QueryPlan(entity: "Book", condition: condition))).map { $0[0] }
    }

    @Test func theLengthOfDataIsInBytes() throws {
        #expect(try keys(.comparison(.greater, .function(.length, [the("cover")]), .value(2), [])) == [2])
    }

    @Test func membersOfDocumentsKeepTheirTypes() throws {
        let number = ExpressionNode.function(.json(.number, [.member("n")]), [the("notes")])
        #expect(try keys(.comparison(.greater, number, .value(4), [])) == [2])
        #expect(try keys(.comparison(.equal, number, .value(3), [])) == [1])
        let text = ExpressionNode.function(.json(.text, [.member("t")]), [the("notes")])
        #expect(try keys(.comparison(.equal, text, .value("x"), [])) == [1])
        let any = ExpressionNode.function(.json(.any, [.member("n")]), [the("notes")])
        #expect(try keys(.comparison(.equal, any, .value("3"), [])) == [3])
        #expect(try keys(.comparison(.equal, any, .value(3), [])) == [1])
    }

    @Test func groupsIncludeTheLinkedObject() throws {
        let count = ExpressionNode.groupAggregate(.count, of: nil, isDistinct: false)
        let plan = QueryPlan(entity: "Book", sort: [SortTerm(count)])
        let query = try compiler.grouped(plan, by: [the("genre")], columns: [the("genre", "name"), count])
        #expect(try run(query) == [["Essay", 1], ["Novel", 2]])
    }

    @Test func theFirstOfEqualRowsDeterminesTheOrder() throws {
        let plan = QueryPlan(entity: "Book", sort: [SortTerm(the("title"), isAscending: false)], isDistinct: true)
        let objects = try compiler.select(plan, columns: .parts([.object(path: ["genre"])]))
        #expect(try run(objects) == [[2, "Essay"], [1, "Novel"]])
        let keys = try compiler.select(plan, columns: .parts([.key(path: ["genre"])]))
        #expect(try run(keys) == [[2], [1]])
        let every = QueryPlan(entity: "Book", sort: [SortTerm(the("title"))])
        #expect(try run(compiler.select(every, columns: .expressions([the("genre", "id")]))) == [[1], [1], [2]])
    }

    @Test func linksAndObjectsAreReadSeparately() throws {
        let query = try compiler.edge(
            QueryPlan(entity: "Genre"), from: "Book", along: "genres", of: KeyList(values: [1, 2], width: 1),
            tellsOnce: true)
        #expect(query.objectRows == .keys)
        let (rows, parts) = (try run(query), query.partColumns)
        let links = rows.filter { !$0[0].isNull }.map { [$0[0], $0[parts[0]]] }
        #expect(links.sorted { "\($0)" < "\($1)" } == [[1, 1], [1, 2], [2, 1]])
        let objects = rows.filter { $0[0].isNull }.map { Array($0[parts[1]..<parts[2]]) }
        #expect(objects.sorted { "\($0)" < "\($1)" } == [[1, "Novel"], [2, "Essay"]])
    }

    /// Few objects are all read; of many those that are linked.
    @Test(arguments: [100, 1]) func objectsOfAllLinksAreReadEitherWay(ownerCount: Int) throws {
        let query = try compiler.edge(
            QueryPlan(entity: "Genre"), from: "Book", along: "genres", of: nil, sortsRows: false, tellsOnce: true,
            ownerCount: ownerCount)
        #expect(query.objectRows == .keys)
        let (rows, parts) = (try run(query), query.partColumns)
        let links = rows.filter { !$0[0].isNull }.map { [$0[0], $0[parts[0]]] }
        #expect(Set(links).isSuperset(of: [[1, 1], [1, 2], [2, 1]]))
        let objects = rows.filter { $0[0].isNull }.map { Array($0[parts[1]..<parts[2]]) }
        #expect(objects.sorted { "\($0)" < "\($1)" } == [[1, "Novel"], [2, "Essay"]])
    }
}
#endif
