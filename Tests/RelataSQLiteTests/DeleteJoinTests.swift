import Foundation
import RelataCore
import Testing

@testable import RelataEngine
@testable import RelataSQLite

/// Many-to-manys and keys of several columns.
@Suite struct DeleteJoinTests {
    private let methods = [Connection.DeletionMethod.setBased, .closureFirst]

    private func library(bookRule: DeleteRule? = nil, authorRule: DeleteRule? = nil) throws -> TestDatabase {
        let database = try TestDatabase([
            Describe.entity("Book", Describe.manyToMany("authors", "Author", rule: bookRule)),
            Describe.entity(
                "Author", Describe.manyToManyInverse("books", "Book", inverse: "authors", rule: authorRule)),
        ])
        try database.insert("Book", [1], [2], [3])
        try database.insert("Author", [10], [11], [12])
        try database.insert("Book_authors", [1, 10], [1, 11], [2, 10], [3, 12])
        return database
    }

    @Test func joinRowsAreDeletedWithEitherSide() throws {
        for method in methods {
            let database = try library()
            let plan = try database.plan("Book", 1)
            let report = try database.delete("Book", 1, method: method)
            #expect(
                report.removedJoinRows == [
                    RemovedJoinRows(relationship: "Book.authors", sources: .of(1, 1), targets: .of(10, 11))
                ])
            #expect(report == plan)
            let other = try database.delete("Author", 10, 11, method: method)
            #expect(other.removedJoinRows.first?.pairs.map(\.source) == [KeyValue(2)])
            #expect(try database.rows("Book_authors") == [[3, 12]])
            #expect(try database.keys("Book") == [2, 3])
        }
    }

    @Test func cascadeReachesTheOtherSide() throws {
        for method in methods {
            let database = try library(bookRule: .cascade)
            let report = try database.delete("Book", 2, method: method)
            #expect(report.deletedKeys(of: "Author") == .of(10))
            #expect(report.removedJoinRows.first?.count == 2)
            #expect(try database.rows("Book_authors") == [[1, 11], [3, 12]])
            #expect(try database.delete("Author", 12, method: method).deletedCount == 1)
        }
    }

    @Test func cascadesFromBothSidesReachAllConnectedObjects() throws {
        for method in methods {
            let database = try library(bookRule: .cascade, authorRule: .cascade)
            let report = try database.delete("Author", 11, method: method)
            #expect(report.deletedKeys(of: "Book") == .of(1, 2))
            #expect(report.deletedKeys(of: "Author") == .of(10, 11))
            #expect(report.removedJoinRows.first?.count == 3)
        }
    }

    @Test func denyNamesTheOtherSide() throws {
        for method in methods {
            let database = try library(authorRule: .deny)
            #expect(
                try database.plan("Author", 10).blockers.map(\.description) == [
                    "Book 1 Author.books Author 10", "Book 2 Author.books Author 10",
                ])
            #expect(throws: RelataError.self) { try database.delete("Author", 10, method: method) }
            #expect(try database.rows("Book_authors").count == 4)
            #expect(try database.delete("Book", 1, 2, method: method).deletedCount == 2)
            #expect(try database.delete("Author", 10, method: method).deletedCount == 1)
        }
    }

    @Test func aSelfLinkIsDeletedOnce() throws {
        for method in methods {
            let database = try TestDatabase([Describe.entity("Person", Describe.manyToMany("friends", "Person"))])
            try database.insert("Person", [1], [2], [3])
            try database.insert("Person_friends", [1, 2], [2, 1], [1, 1], [2, 3])
            let plan = try database.plan("Person", 1, 2)
            let report = try database.delete("Person", 1, 2, method: method)
            #expect(report.removedJoinRows.first?.count == 4)
            #expect(plan == report)
            #expect(try database.rows("Person_friends").isEmpty)
        }
    }

    @Test func compositeKeysWorkEverywhere() throws {
        let course = Entity(
            name: "Course",
            properties: [
                .attribute(Attribute("school", type: .text)), .attribute(Attribute("number", type: .integer)),
                Describe.toMany("exams", "Exam", inverse: "course", rule: .cascade),
                Describe.toMany("posters", "Poster", inverse: "course", rule: .nullify),
                Describe.toMany("grants", "Grant", inverse: "course", rule: .deny),
                Describe.manyToMany("tags", "Tag"),
            ], key: ["school", "number"])
        let exam = Entity(
            name: "Exam",
            properties: [
                Describe.toOne("course", "Course", required: true), .attribute(Attribute("year", type: .integer)),
                Describe.toOne("previous", "Exam", whenTargetGoes: .cascade),
            ], key: ["course", "year"])
        for method in methods {
            let database = try TestDatabase([
                course, exam, Describe.entity("Poster", Describe.toOne("course", "Course")),
                Describe.entity("Grant", Describe.toOne("course", "Course")), Describe.entity("Tag"),
            ])
            try database.insert("Course", ["a", 1], ["a", 2], ["b", 1])
            try database.insert(
                "Exam", ["a", 1, 2025, nil, nil, nil], ["b", 1, 2026, "a", 1, 2025], ["b", 1, 2025, nil, nil, nil])
            try database.insert("Poster", [5, "a", 1], [6, "a", 2])
            try database.insert("Grant", [7, "a", 2])
            try database.insert("Tag", [9])
            try database.insert("Course_tags", ["a", 1, 9], ["b", 1, 9])
            let roots = DeletionRoots.keys([KeyValue(["a", 1]), KeyValue(["z", 1])])
            let report = try database.delete("Course", roots: roots, method: method)
            #expect(report.deletedKeys(of: "Course") == [KeyValue(["a", 1])])
            #expect(report.deletedKeys(of: "Exam") == [KeyValue(["a", 1, 2025]), KeyValue(["b", 1, 2026])])
            #expect(report.nullified == [NullifiedLinks(entity: "Poster", property: "course", keys: .of(5))])
            #expect(report.removedJoinRows.first?.pairs.map(\.source) == [KeyValue(["a", 1])])
            let denied = try database.connection.deletionPlan(
                of: database.number("Course"), roots: .keys([KeyValue(["a", 2])]), schema: database.schema,
                access: .everything)
            #expect(denied.blockers.map(\.description) == ["Grant 7 Course.grants Course (a, 2)"])
            #expect(throws: RelataError.self) {
                try database.delete("Course", roots: .keys([KeyValue(["a"])]), method: method)
            }
        }
    }
}

extension Blocker {
    fileprivate var description: String { "\(object) \(relationship) \(blocked)" }
}
