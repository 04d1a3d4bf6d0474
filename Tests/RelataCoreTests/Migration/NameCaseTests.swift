import Testing

@testable import RelataCore

/// To PostgreSQL, names that differ in case only are two names.
@Suite struct NameCaseTests {
    private func table(_ columns: String...) -> TableDescription {
        TableDescription(
            name: "Book", columns: columns.map { ColumnDescription(name: $0, type: "text", isRequired: false) },
            primaryKey: [])
    }

    private func own(
        _ actual: TableDescription, _ wanted: TableDescription, before old: TableDescription? = nil,
        _ dialect: Dialect = .postgres
    ) -> [[String]] {
        let old = old.map { ["Book".foldedName: $0] } ?? [:]
        return MigrationPlanner.own([actual], [wanted], old, dialect).map { $0.columns.map(\.name) }
    }

    @Test func aColumnThatDiffersInCaseBelongsToAnotherProgram() {
        #expect(own(table("id", "Title", "more"), table("id", "title")) == [["id", "more"]])
        #expect(own(table("id", "Title", "title"), table("id", "title")) == [["id", "title"]])
        #expect(own(table("id", "title"), table("id", "title")) == [["id", "title"]])
    }

    @Test func aColumnOfTheOldModelsBelongsToTheModels() {
        #expect(own(table("id", "Title"), table("id", "title"), before: table("id", "Title")) == [["id", "Title"]])
    }

    @Test func onSQLiteBothAreOneName() {
        #expect(own(table("id", "Title"), table("id", "title"), .sqlite) == [["id", "Title"]])
    }
}
