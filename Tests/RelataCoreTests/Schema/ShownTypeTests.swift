import RelataCore
import Testing

/// The types that a database declares, as people see them.
@Suite struct ShownTypeTests {
    @Test func anAttributeShowsTheTypeThatItsColumnDoes() throws {
        var columns = ["id", "price"].map { ColumnDescription(name: $0, type: "INTEGER", isRequired: true) }
        columns[1].shownType = "money"
        let reader = EntityReader([TableDescription(name: "Book", columns: columns, primaryKey: ["id"])])
        let book = try #require(reader.entities.first)
        #expect(book.attributes.map(\.name) == ["id", "price"])
        #expect(book.attributes.map(\.declaredType) == [nil, "money"])
    }
}
