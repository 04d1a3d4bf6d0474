import Foundation
import RelataCore
import RelataRecords
import RelataEngine

/// Fetched objects as a table, CSV or JSON.
struct RecordOutput {
    private let schema: Schema
    private let table: Table
    private let inclusions: [IncludePlan]
    private let label: RecordLabel

    init(_ schema: Schema, _ request: FetchRequest) {
        self.schema = schema
        table = request.table
        inclusions = request.inclusions
        label = RecordLabel(schema)
    }

    // MARK: Rows

    /// The properties with a column: attributes and to-ones as declared, then other includes.
    private var properties: [String] {
        let stored = table.entity.properties.map(\.name).filter { !table.columnIndexes(of: $0).isEmpty }
        return stored + inclusions.map(\.relationship).filter { !stored.contains($0) }
    }

    /// The objects as lines under headings, and their number.
    func tableLines(_ records: [FetchedRecord]) -> [String] {
        let properties = properties
        let rows = records.map { record in properties.map { cell($0, of: record) } }
        let lines = records.isEmpty ? [] : TextTable(headings: properties, rows: rows).lines() + [""]
        return lines + [DisplayText.count(records.count, "object")]
    }

    private func cell(_ property: String, of record: FetchedRecord) -> TextTable.Cell {
        if let link = record.links[property] { return TextTable.Cell(summary(of: link, property, of: record)) }
        let columns = table.columnIndexes(of: property)
        let isNumber = columns.count == 1 && record.values[columns[0]].isNumber
        return TextTable.Cell(text(columns, of: record), isNumber: isNumber)
    }

    /// The objects as RFC 4180 has it: a line of names, then one for each object.
    func csvLines(_ records: [FetchedRecord]) -> [String] {
        let properties = properties
        let heading = properties.map(Self.quoted).joined(separator: ",")
        return [heading]
            + records.map { record in
                properties.map { property in
                    if let link = record.links[property] {
                        return Self.quoted(link.records.map(described).joined(separator: "; "))
                    }
                    let columns = table.columnIndexes(of: property)
                    // An unset value is an empty field; empty text is a pair of quotes.
                    if columns.allSatisfy({ record.values[$0].isNull }) { return "" }
                    let text = text(columns, of: record)
                    return text.isEmpty ? "\"\"" : Self.quoted(text)
                }.joined(separator: ",")
            }
    }

    private static func quoted(_ text: String) -> String {
        let needsQuotes = text.unicodeScalars.contains { ",\"\r\n".unicodeScalars.contains($0) }
        guard needsQuotes || text.hasPrefix(" ") || text.hasSuffix(" ") else { return text }
        return "\"" + text.replacingOccurrences(of: "\"", with: "\"\"", options: .literal) + "\""
    }

    private func text(_ columns: [Int], of record: FetchedRecord) -> String {
        let values = columns.map { text(record.values[$0], as: table.columns[$0].type) }
        return values.count > 1 && !values.allSatisfy(\.isEmpty)
            ? "(\(values.joined(separator: ", ")))" : values.first ?? ""
    }

    private func text(_ value: Value, as type: AttributeType) -> String {
        switch JSONValue(value, as: type) {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        // Bytes are looked at rather than decoded.
        case .string(let text): if case .blob = value { value.description } else { text }
        default: value.description
        }
    }

    // MARK: Related objects

    /// Related objects in a cell: a name, or their number and their names.
    private func summary(of link: LoadedLink, _ property: String, of record: FetchedRecord) -> String {
        switch link {
        case .one(let target?): return described(target)
        case .one(nil):
            // A deleted object is shown by its key.
            let columns = table.columnIndexes(of: property)
            if record.key(at: columns).values.contains(.null) { return "" }
            let key = text(columns, of: record)
            return key.isEmpty ? "" : "\(key) (missing)"
        case .many(let records):
            return records.isEmpty ? "0" : "\(records.count): \(records.map(described).joined(separator: ", "))"
        }
    }

    /// An object's name, and those of its included objects.
    private func described(_ record: FetchedRecord) -> String {
        let nested = schema.tables[record.entity].entity.relationships.compactMap { relationship -> String? in
            guard let link = record.links[relationship.name] else { return nil }
            let records = link.records
            return relationship.isToMany && records.count != 1
                ? "\(records.count) \(relationship.name)" : records.first.map(described)
        }
        return label(record) + (nested.isEmpty ? "" : " [\(nested.joined(separator: "; "))]")
    }

    // MARK: JSON

    /// The objects, with included ones inside them.
    func json(_ records: [FetchedRecord]) -> JSONValue { .array(records.map(json)) }

    private func json(_ record: FetchedRecord) -> JSONValue {
        let table = schema.tables[record.entity]
        var members = JSONObject()
        for property in table.entity.properties {
            let columns = table.columnIndexes(of: property.name)
            members[property.name] =
                switch (property, record.links[property.name]) {
                case (_, .many(let records)): .array(records.map(json))
                case (_, .one(let target?)): json(target)
                // A deleted object is shown by its key.
                case (.relationship(let relationship), .one(nil)):
                    columns.isEmpty ? .null : missing(record.key(at: columns), relationship)
                case (_, nil) where columns.isEmpty, (.attribute, .one(nil)): nil
                case (_, nil):
                    columns.count == 1 ? value(columns[0], of: record) : .array(columns.map { value($0, of: record) })
                }
        }
        return .object(members)
    }

    private func value(_ column: Int, of record: FetchedRecord) -> JSONValue {
        JSONValue(record.values[column], as: schema.tables[record.entity].columns[column].type)
    }

    private func missing(_ key: KeyValue, _ relationship: Relationship) -> JSONValue {
        guard let target = schema[relationship.target], !key.values.contains(.null) else { return .null }
        var members = JSONObject()
        for (index, value) in zip(target.keyColumns, key.values) {
            members[target.columns[index].property] = JSONValue(value, as: target.columns[index].type)
        }
        return .object(members)
    }
}

extension Value {
    fileprivate var isNumber: Bool {
        switch self {
        case .integer, .real: true
        case .null, .text, .blob, .uuid: false
        }
    }
}
