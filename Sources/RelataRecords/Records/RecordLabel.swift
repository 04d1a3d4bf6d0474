package import RelataCore
package import RelataEngine

/// The name of an object for people: the values of attributes that look like a name.
package struct RecordLabel {
    private let schema: Schema
    /// The columns of the name, by entity; empty if no attribute looks like one.
    private let columns: [[Int]]

    /// Finds the names of a schema's objects.
    package init(_ schema: Schema) {
        self.schema = schema
        columns = schema.tables.map(Self.columns)
    }

    /// The object's name, or its key if it has none.
    package func callAsFunction(_ record: FetchedRecord) -> String {
        name(of: record) ?? record.key(in: schema).description
    }

    /// The object's name, if it has one besides its key.
    package func name(of record: FetchedRecord) -> String? {
        let words = columns[record.entity].map { record.values[$0] }.filter { !$0.isNull }.map(\.description)
        return words.isEmpty ? nil : words.joined(separator: " ")
    }

    /// The columns that make up the name of an entity's objects.
    package func columns(of entity: Int) -> [Int] { columns[entity] }

    private static let names = ["name", "fullname", "displayname", "title", "label", "subject", "caption"]

    private static func columns(of table: Table) -> [Int] {
        let texts = table.columns.indices.filter {
            table.columns[$0].reference == nil && table.columns[$0].type == .text && !table.keyColumns.contains($0)
        }
        func column(_ name: String) -> Int? {
            texts.first { table.columns[$0].property.lowercased() == name }
        }
        if let name = column(names[0]) { return [name] }
        if let first = column("firstname"), let last = column("lastname") { return [first, last] }
        if let name = names.lazy.compactMap(column).first { return [name] }
        return (texts.first { !table.columns[$0].isOptional } ?? texts.first).map { [$0] } ?? []
    }
}
