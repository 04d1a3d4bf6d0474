import Foundation
import RelataCore
import TestSupport
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Join tables of other programs, one of whose sides spells keys otherwise than the objects do.
@Suite struct DeleteComparedJoinTests {
    private let methods = [Connection.DeletionMethod.setBased, .closureFirst]

    /// Courses and tags, with a join table that compares the names of schools by case, which the courses don't do.
    private func library(rule: DeleteRule? = nil) throws -> (connection: Connection, schema: Schema) {
        let connection = try database(
            """
            CREATE TABLE Course (
                school TEXT COLLATE NOCASE NOT NULL, number INTEGER NOT NULL, PRIMARY KEY (school, number));
            CREATE TABLE Tag (id INTEGER PRIMARY KEY);
            CREATE TABLE CourseTag (
                school TEXT NOT NULL, number INTEGER NOT NULL, tag INTEGER NOT NULL REFERENCES Tag ON DELETE CASCADE,
                PRIMARY KEY (school, number, tag),
                FOREIGN KEY (school, number) REFERENCES Course ON DELETE CASCADE);
            INSERT INTO Course VALUES ('a', 1), ('a', 2), ('b', 1);
            INSERT INTO Tag VALUES (8), (9);
            INSERT INTO CourseTag VALUES ('A', 1, 9), ('a', 2, 9), ('A', 2, 8), ('B', 1, 8);
            """)
        let names = JoinTableNames(table: "CourseTag", sourceColumns: ["school", "number"], targetColumns: ["tag"])
        let entities = [
            Entity(
                name: "Course",
                properties: [
                    .attribute(Attribute("school", type: .text)), .attribute(Attribute("number", type: .integer)),
                    .relationship(Relationship("tags", target: "Tag", kind: .manyToMany(names), deleteRule: rule)),
                ], key: ["school", "number"]),
            Describe.entity("Tag"),
        ]
        let described = try Schema(entities).entities(describedBy: Introspection.tables(of: connection))
        let schema = try Schema(try #require(described))
        #expect(schema.joins[0].comparison(isSource: true) != .equal)
        #expect(schema.joins[0].comparison(isSource: false) == .equal)
        return (connection, schema)
    }

    /// Deletes objects as planned.
    private func delete(
        _ entity: String, _ keys: KeyValue..., from library: (connection: Connection, schema: Schema),
        _ method: Connection.DeletionMethod
    ) throws -> DeletionReport {
        let (connection, schema) = library
        let number = try #require(schema.index(of: entity))
        let plan = try connection.deletionPlan(of: number, roots: .keys(keys), schema: schema, access: .everything)
        try connection.execute("BEGIN IMMEDIATE")
        let report = try connection.delete(entity: number, roots: .keys(keys), schema: schema, method: method)
        try connection.execute("COMMIT")
        #expect(report.sorted() == plan.sorted())
        return report.sorted()
    }

    private func rows(_ connection: Connection) throws -> [[Value]] {
        try connection.values(SQLStatement("SELECT school, number, tag FROM CourseTag ORDER BY school, number, tag"))
    }

    @Test func rowsAreDeletedWithTheirObjectInAnotherSpelling() throws {
        for method in methods {
            let library = try library()
            let report = try delete("Course", KeyValue(["a", 1]), KeyValue(["b", 1]), from: library, method)
            let removed = try #require(report.removedJoinRows.first)
            #expect(removed.pairs.map(\.source) == [KeyValue(["a", 1]), KeyValue(["b", 1])])
            #expect(removed.pairs.map(\.target) == [KeyValue(9), KeyValue(8)])
            #expect(try rows(library.connection) == [["A", 2, 8], ["a", 2, 9]])
        }
    }

    @Test func rowsAreDeletedWithTheObjectAtTheOtherSide() throws {
        for method in methods {
            let library = try library()
            let report = try delete("Tag", KeyValue(9), from: library, method)
            #expect(
                report.removedJoinRows.first?.pairs.map(\.source) == [KeyValue(["a", 1]), KeyValue(["a", 2])])
            #expect(try rows(library.connection) == [["A", 2, 8], ["B", 1, 8]])
        }
    }

    @Test func aDeletionFollowsKeysThatAreSpelledOtherwise() throws {
        for method in methods {
            let library = try library(rule: .cascade)
            let report = try delete("Course", KeyValue(["a", 1]), from: library, method)
            #expect(report.deletedKeys(of: "Tag") == .of(9))
            #expect(report.removedJoinRows.first?.count == 2)
            #expect(try rows(library.connection) == [["A", 2, 8], ["B", 1, 8]])
        }
    }
}
