import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// A database in memory with every kind of relationship, and its rows as plain values for the oracle.
final class QueryLibrary {
    let schema: Schema
    let connection: Connection
    /// Rows by table: column names and values before they take their columns' form (dates in microseconds).
    private(set) var rows: [String: [[String: Value]]] = [:]

    var compiler: QueryCompiler { QueryCompiler(schema: schema, access: .everything) }

    init(_ entities: [Entity] = QueryLibrary.entities) throws {
        schema = try Schema(entities)
        connection = try Connection(path: nil)
        for statement in SchemaDDL.creation(of: schema, dialect: .sqlite) { try connection.execute(statement) }
        try connection.execute("PRAGMA foreign_keys = OFF")  // rows come in any order here, and some dangle
    }

    /// A library with a few rows whose relations are easy to keep in mind.
    static func small() throws -> QueryLibrary {
        let library = try QueryLibrary()
        try library.insert(
            "Genre", [["id": 1, "name": "Fantasy"], ["id": 2, "name": "Essay"], ["id": 3, "name": "Éssai"]])
        try library.insert(
            "Book",
            [
                ["id": 1, "title": "Earthsea", "year": 1968, "price": "9.90", "genreId": 1, "isGood": 1, "printed": 0],
                [
                    "id": 2, "title": "The Dispossessed", "year": 1974, "price": "10.5", "genreId": 1, "isGood": 1,
                    "loaned": 1_000_000,
                ],
                ["id": 3, "title": "100% wool_", "year": nil, "price": "100", "genreId": 2, "isGood": 0],
                ["id": 4, "title": "earthworks", "year": 2001, "price": nil, "genreId": nil, "isGood": 0],
            ])
        try library.insert(
            "Author", [["id": "le", "name": "Ursula K. Le Guin"], ["id": "mi", "name": "China Miéville"]])
        try library.insert(
            "Book_authors",
            [
                ["bookId": 1, "authorId": "le", "position": 1], ["bookId": 2, "authorId": "le", "position": 2],
                ["bookId": 2, "authorId": "mi", "position": 1], ["bookId": 3, "authorId": "mi", "position": 1],
            ])
        try library.insert(
            "ISBN", [["id": 1, "value": "978-1", "bookId": 1], ["id": 2, "value": "978-2", "bookId": 3]])
        try library.insert(
            "Review",
            [
                ["id": 1, "stars": 5, "text": "Great", "bookId": 1], ["id": 2, "stars": 3, "text": nil, "bookId": 1],
                ["id": 3, "stars": 4, "text": "good", "bookId": 2], ["id": 4, "stars": nil, "text": "?", "bookId": 3],
            ])
        try library.insert("Setlist", [["id": "tour", "name": "Tour"], ["id": "empty", "name": "Empty"]])
        try library.insert("Song", [["id": 1, "title": "Alpha"], ["id": 2, "title": "Beta"]])
        try library.insert(
            "SetlistItem",
            [
                ["id": 1, "position": 20, "setlistId": "tour", "songId": 1],
                ["id": 2, "position": 10, "setlistId": "tour", "songId": 2],
                ["id": 3, "position": 30, "setlistId": "tour", "songId": 1],
                ["id": 4, "position": 40, "setlistId": "tour", "songId": nil],
            ])
        try library.insert(
            "Person",
            [
                ["id": 1, "name": "Ada", "motherId": nil], ["id": 2, "name": "Bea", "motherId": 1],
                ["id": 3, "name": "Cy", "motherId": 2],
                ["id": 4, "name": "Di", "motherId": 99],
            ])
        try library.insert(
            "Person_friends",
            [["personId": 1, "friendId": 2], ["personId": 1, "friendId": 3], ["personId": 3, "friendId": 1]])
        try library.insert(
            "Enrolment",
            [
                ["student": 1, "course": "math", "mark": 5], ["student": 1, "course": "art", "mark": 7],
                ["student": 2, "course": "math", "mark": 9],
            ])
        try library.insert(
            "Note",
            [
                ["id": 1, "text": "x", "enrolmentStudent": 1, "enrolmentCourse": "math"],
                ["id": 2, "text": "y", "enrolmentStudent": 2, "enrolmentCourse": "math"],
                ["id": 3, "text": "z", "enrolmentStudent": nil, "enrolmentCourse": nil],
            ])
        return library
    }

    static let entities: [Entity] = [
        Entity(
            name: "Genre",
            properties: [
                .attribute(Attribute("id", type: .integer)), .attribute(Attribute("name", type: .text)),
                .relationship(Relationship("books", target: "Book", kind: .toMany(inverse: "genre"))),
            ]),
        Entity(
            name: "Book",
            properties: [
                .attribute(Attribute("id", type: .integer)),
                .attribute(Attribute("title", type: .text)),
                .attribute(Attribute("year", type: .integer, isOptional: true)),
                .attribute(Attribute("price", type: .decimal, isOptional: true)),
                .attribute(Attribute("weight", type: .real, isOptional: true)),
                .attribute(Attribute("isGood", type: .boolean)),
                .attribute(Attribute("added", type: .date(.microseconds), isOptional: true)),
                .attribute(Attribute("printed", type: .date(.iso8601), isOptional: true)),
                .attribute(Attribute("loaned", type: .date(.seconds), isOptional: true)),
                .attribute(Attribute("code", type: .uuid(.text), isOptional: true)),
                .attribute(Attribute("tag", type: .uuid(.blob), isOptional: true)),
                .attribute(Attribute("cover", type: .data, isOptional: true)),
                .attribute(Attribute("notes", type: .json, isOptional: true)),
                .relationship(Relationship("genre", target: "Genre", kind: .toOne(isOptional: true))),
                .relationship(Relationship("authors", target: "Author", kind: .manyToMany(), order: .stored)),
                .relationship(
                    Relationship("reviews", target: "Review", kind: .toMany(inverse: "book"), deleteRule: .cascade)),
                .relationship(
                    Relationship("isbn", target: "ISBN", kind: .hasOne(inverse: "book"), deleteRule: .cascade)),
            ], indexes: [["title"], ["year"]]),
        Entity(
            name: "Author",
            properties: [
                .attribute(Attribute("id", type: .text)), .attribute(Attribute("name", type: .text)),
                .relationship(Relationship("books", target: "Book", kind: .manyToManyInverse(inverse: "authors"))),
            ]),
        Entity(
            name: "ISBN",
            properties: [
                .attribute(Attribute("id", type: .integer)), .attribute(Attribute("value", type: .text)),
                .relationship(Relationship("book", target: "Book", kind: .toOne(isOptional: false))),
            ]),
        Entity(
            name: "Review",
            properties: [
                .attribute(Attribute("id", type: .integer)),
                .attribute(Attribute("stars", type: .integer, isOptional: true)),
                .attribute(Attribute("text", type: .text, isOptional: true)),
                .relationship(Relationship("book", target: "Book", kind: .toOne(isOptional: false))),
            ]),
        Entity(
            name: "Setlist",
            properties: [
                .attribute(Attribute("id", type: .text)), .attribute(Attribute("name", type: .text)),
                .relationship(
                    Relationship(
                        "items", target: "SetlistItem", kind: .toMany(inverse: "setlist"), deleteRule: .cascade,
                        order: .attribute("position"))),
                .relationship(Relationship("songs", target: "Song", kind: .through(toMany: "items", toOne: "song"))),
            ]),
        Entity(
            name: "SetlistItem",
            properties: [
                .attribute(Attribute("id", type: .integer)), .attribute(Attribute("position", type: .integer)),
                .relationship(Relationship("setlist", target: "Setlist", kind: .toOne(isOptional: false))),
                .relationship(Relationship("song", target: "Song", kind: .toOne(isOptional: true))),
            ]),
        Entity(
            name: "Song",
            properties: [
                .attribute(Attribute("id", type: .integer)), .attribute(Attribute("title", type: .text)),
                .relationship(Relationship("items", target: "SetlistItem", kind: .toMany(inverse: "song"))),
            ]),
        Entity(
            name: "Person",
            properties: [
                .attribute(Attribute("id", type: .integer)), .attribute(Attribute("name", type: .text)),
                .relationship(
                    Relationship("mother", target: "Person", kind: .toOne(isOptional: true), onTargetDelete: .noAction)),
                .relationship(Relationship("children", target: "Person", kind: .toMany(inverse: "mother"))),
                .relationship(Relationship("friends", target: "Person", kind: .manyToMany())),
            ]),
        Entity(
            name: "Enrolment",
            properties: [
                .attribute(Attribute("student", type: .integer)), .attribute(Attribute("course", type: .text)),
                .attribute(Attribute("mark", type: .integer)),
                .relationship(Relationship("notes", target: "Note", kind: .toMany(inverse: "enrolment"))),
            ], key: ["student", "course"]),
        Entity(
            name: "Note",
            properties: [
                .attribute(Attribute("id", type: .integer)), .attribute(Attribute("text", type: .text)),
                .relationship(Relationship("enrolment", target: "Enrolment", kind: .toOne(isOptional: true))),
            ]),
    ]

    func insert(_ table: String, _ rows: [[String: Value]]) throws {
        self.rows[table, default: []] += rows
        let types = schema[table]?.columns.reduce(into: [:]) { $0[$1.name] = $1.type } ?? [:]
        for row in rows {
            let columns = row.keys.sorted()
            let values = try columns.map { column in
                try #require(types[column].map { row[column]!.stored(as: $0) } ?? row[column]!)
            }
            try connection.execute(
                SQLStatement(
                    "INSERT INTO \"\(table)\" (\(Dialect.sqlite.list(columns))) VALUES "
                        + "(\(columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")))",
                    values.map { .value($0) }))
        }
    }

    // MARK: Asking

    /// The first key column of each object found, in order.
    func keys(_ plan: QueryPlan) throws -> [Value] {
        try run(compiler.keys(plan)).map { $0[0] }
    }

    func keys(_ entity: String, _ condition: ExpressionNode, sort: [SortTerm] = []) throws -> [Value] {
        try keys(QueryPlan(entity: entity, condition: condition, sort: sort))
    }

    /// The books in whose titles something is found.
    func books(_ search: TextOperator, _ pattern: String, _ options: TextOptions = []) throws -> [Value] {
        try keys("Book", .text(search, the("title"), .value(.text(pattern)), options))
    }

    func run(_ query: CompiledQuery) throws -> [[Value]] {
        try connection.values(query.statement, types: query.columnTypes)
    }

    /// SQLite's own description of how it finds the rows.
    func explain(_ statement: SQLStatement) throws -> String {
        let plan = SQLStatement("EXPLAIN QUERY PLAN " + statement.sql, statement.parameters)
        return try connection.values(plan).map { $0[3].description }.joined(separator: "; ")
    }
}

// MARK: Short forms

/// A property of the query's own object, or of a related one.
func the(_ path: String, _ scope: Int = 0) -> ExpressionNode {
    .property(scope: scope, path: path.isEmpty ? [] : path.split(separator: ".").map(String.init))
}

func set(_ path: String, _ scope: Int = 0) -> RelatedSet {
    RelatedSet(scope: scope, path: path.split(separator: ".").map(String.init), innerScope: scope + 1)
}

func == (left: ExpressionNode, right: Value) -> ExpressionNode { .comparison(.equal, left, .value(right), []) }
func != (left: ExpressionNode, right: Value) -> ExpressionNode { .comparison(.notEqual, left, .value(right), []) }
func > (left: ExpressionNode, right: Value) -> ExpressionNode { .comparison(.greater, left, .value(right), []) }
func < (left: ExpressionNode, right: Value) -> ExpressionNode { .comparison(.less, left, .value(right), []) }
func >= (left: ExpressionNode, right: Value) -> ExpressionNode { .comparison(.greaterOrEqual, left, .value(right), []) }
func <= (left: ExpressionNode, right: Value) -> ExpressionNode { .comparison(.lessOrEqual, left, .value(right), []) }
