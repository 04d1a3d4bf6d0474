import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// The parts of a file's entities that models don't declare.
@Suite struct DescribedEntitiesTests {
    private static func property(_ name: String, _ type: AttributeType = .integer) -> Property {
        .attribute(Attribute(name, type: type))
    }

    private func described(_ entities: [Entity], _ sql: String) throws -> [Entity]? {
        try Schema(entities).entities(describedBy: Introspection.tables(of: try database(sql)))
    }

    private func declared(
        _ entities: [Entity], _ sql: String, followsAllKeys: Bool = false
    ) throws -> [Entity] {
        EntityReader(
            try Introspection.tables(of: try database(sql)), declared: entities, followsAllKeys: followsAllKeys
        ).entities
    }

    @Test func createdTablesMatchTheirDeclaration() throws {
        let library = try QueryLibrary()
        let tables = try Introspection.tables(of: library.connection)
        #expect(tables.count > 8)
        #expect(library.schema.entities(describedBy: tables) == nil)
    }

    @Test func keysWithAnotherDeclaredTypeMayHoldOtherTypes() throws {
        let part = Entity(name: "Part", properties: [Self.property("id", .text)])
        let entities = try described([part], "CREATE TABLE Part (id VARCHAR(10) PRIMARY KEY NOT NULL)")
        #expect(entities?[0].attribute("id")?.holdsOtherTypes == true)
        #expect(try described([part], "CREATE TABLE Part (id TEXT PRIMARY KEY NOT NULL)") == nil)
    }

    @Test(arguments: [("INTEGER", "INTEGER", "authorId"), ("TEXT", "TEXT", "bookId"), ("INTEGER", "TEXT", "")])
    func theSidesOfAJoinTableAreComparedSeparately(book: String, author: String, other: String) throws {
        let entities = [
            Entity(
                name: "Book",
                properties: [
                    Self.property("id"),
                    .relationship(Relationship("authors", target: "Author", kind: .manyToMany())),
                ]),
            Entity(name: "Author", properties: [Self.property("id", .text)]),
        ]
        let found = try described(
            entities,
            """
            CREATE TABLE Book (id INTEGER PRIMARY KEY); CREATE TABLE Author (id TEXT PRIMARY KEY NOT NULL);
            CREATE TABLE Book_authors (
                bookId \(book) NOT NULL REFERENCES Book, authorId \(author) NOT NULL REFERENCES Author,
                PRIMARY KEY (bookId, authorId));
            """)
        let authors = found?[0].relationship("authors")
        #expect((authors?.comparison ?? .equal) == .equal || other == "authorId")
        #expect((authors?.sourceComparison ?? .equal) == .equal || other == "bookId")
        #expect((found == nil) == other.isEmpty)
    }

    @Test func undeclaredForeignKeysAreKnown() throws {
        let models = [
            Entity(name: "P", properties: [Self.property("id"), Self.property("ks")]),
            Entity(
                name: "K",
                properties: [
                    Self.property("id"), Self.property("pId"),
                    .relationship(Relationship("q", target: "P", kind: .toOne(isOptional: true, columns: ["qId"]))),
                ]),
        ]
        let sql = """
            CREATE TABLE P (id INTEGER PRIMARY KEY, ks INTEGER);
            CREATE TABLE K (
                id INTEGER PRIMARY KEY, pId INTEGER NOT NULL REFERENCES P ON DELETE CASCADE, qId INTEGER REFERENCES P);
            """
        let entities = try declared(models, sql)
        #expect(entities.map(\.name) == ["P", "K"])
        #expect(entities.map { $0.relationships.map(\.name) } == [[], ["q"]])
        #expect(entities[1].foreignKeys.map(\.columns) == [["pId"]])
        #expect(entities[1].foreignKeys.map(\.rule) == [.cascade])
        let followed = try declared(models, sql, followsAllKeys: true)
        #expect(followed.map { $0.relationships.map(\.name) } == [["pKs"], ["q", "p"]])
        #expect(followed.map { $0.relationships.map(\.isToMany) } == [[true], [false, false]])
        _ = try Schema(followed)
    }

    @Test func foreignKeysToPartOfAKeyAreReadOnly() throws {
        let entities = try declared(
            [],
            """
            CREATE TABLE q (a INTEGER, b INTEGER, PRIMARY KEY (a, b));
            CREATE TABLE k (a INTEGER, b INTEGER, c INTEGER, PRIMARY KEY (a, b), FOREIGN KEY (b, c) REFERENCES q);
            """, followsAllKeys: true)
        let found = try #require(entities.first { $0.name == "k" })
        #expect(found.foreignKeys.map(\.columns) == [["b", "c"]])
        guard case .matched(let columns)? = found.relationship("q")?.kind else {
            Issue.record("no link by columns: \(found.relationships)")
            return
        }
        #expect(columns.own == ["b", "c"] && columns.target == ["a", "b"] && columns.isReferring && !columns.isToMany)
        #expect(found.relationships.count == 1)
    }

    @Test func keysOtherThanRowIDsMayHoldOtherTypes() throws {
        let entity = try declared([], "CREATE TABLE t (id TEXT PRIMARY KEY, name NVARCHAR(20))")[0]
        #expect(entity.attribute("id")?.holdsOtherTypes == true)
        #expect(entity.attribute("name")?.holdsOtherTypes == false)
        let numbered = try declared([], "CREATE TABLE t (id INTEGER PRIMARY KEY)")[0]
        #expect(numbered.attribute("id")?.holdsOtherTypes == false)
    }

    @Test func theNumberOfKeyPartsIsLimited() throws {
        func count(_ parts: Int) throws -> Int {
            let names = (0..<parts).map { "c\($0)" }.joined(separator: ", ")
            return try declared([], "CREATE TABLE t (\(names), PRIMARY KEY (\(names)))").count
        }
        #expect(try count(KeyValue.maximumParts) == 1)
        #expect(try count(KeyValue.maximumParts + 1) == 0)
    }
}
