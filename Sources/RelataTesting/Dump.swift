import Foundation
public import Relata

extension Store {
    /// Everything in the store as readable text that stays the same from run to run, for snapshot tests.
    ///
    /// Rows are in the order of their keys. Keys that are made on the device are random, so each is shown as the number
    /// of its object: `Book #2`.
    ///
    /// - Parameter entities: The names of the entities to show; all by default.
    public func dump(_ entities: [String]? = nil) throws -> String {
        let tables = schema.tables.filter { entities?.contains($0.name) ?? true }
        var numbers: [String: [Value: Int]] = [:]
        for table in schema.tables where table.hasDeviceKey {
            let keys = try rows(SQL.keys(of: table)).map { $0[0].asUUID }
            numbers[table.name] = Dictionary(
                keys.enumerated().map { ($1, $0 + 1) }, uniquingKeysWith: { first, _ in first })
        }
        var lines: [String] = []
        for table in tables {
            let rows = try rows(SQL.rows(of: table))
            lines.append("\(table.name) (\(rows.count))")
            for row in rows {
                let cells = zip(table.columns, row).map { column, value in
                    "\(column.name): " + text(value, of: column, table, numbers)
                }
                lines.append("  " + cells.joined(separator: ", "))
            }
        }
        for join in schema.joins where entities?.contains(schema.tables[join.source].name) ?? true {
            let (source, target) = (schema.tables[join.source], schema.tables[join.target])
            let rows = try rows(SQL.rows(of: join))
            lines.append("\(source.name).\(join.property) (\(rows.count))")
            for row in rows {
                let width = join.sourceColumns.count
                let own = row.prefix(width).map { number($0, source, numbers) }
                let other = row.dropFirst(width).prefix(join.targetColumns.count).map { number($0, target, numbers) }
                lines.append("  " + own.joined(separator: ", ") + " → " + other.joined(separator: ", "))
            }
        }
        return lines.joined(separator: "\n")
    }

    private func text(
        _ value: Value, of column: Column, _ table: Table, _ numbers: [String: [Value: Int]]
    ) -> String {
        if let reference = column.reference {
            return number(value, schema.tables[schema.references[reference].target], numbers)
        }
        if table.entity.key == [column.property] { return number(value, table, numbers) }
        if case .text(let text) = value { return "\"\(text)\"" }
        return value.description
    }

    private func number(_ value: Value, _ table: Table, _ numbers: [String: [Value: Int]]) -> String {
        numbers[table.name]?[value.asUUID].map { "#\($0)" } ?? value.description
    }
}

extension Table {
    /// Whether the key is one that is made on the device, and so another in every run.
    fileprivate var hasDeviceKey: Bool {
        guard keyColumns.count == 1, case .uuid = columns[keyColumns[0]].type else { return false }
        return columns[keyColumns[0]].reference == nil
    }
}

extension Value {
    /// A stored UUID is read as bytes or text where nothing says what it is.
    fileprivate var asUUID: Value {
        switch self {
        case .blob(let data) where data.count == 16:
            .uuid(UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
        default: self
        }
    }
}

extension SQL {
    fileprivate static func keys(of table: Table) -> SQL {
        let dialect = Dialect.sqlite
        let order = table.keyColumnNames
        return SQL(
            stringLiteral:
                "SELECT \(dialect.list(order)) FROM \(dialect.quote(table.sqlName)) ORDER BY \(dialect.list(order))")
    }

    fileprivate static func rows(of table: Table) -> SQL {
        let dialect = Dialect.sqlite
        return SQL(
            stringLiteral:
                "SELECT \(dialect.list(table.columns.map(\.name))) FROM \(dialect.quote(table.sqlName)) ORDER BY \(dialect.list(table.keyColumnNames))"
        )
    }

    fileprivate static func rows(of join: Join) -> SQL {
        let dialect = Dialect.sqlite
        let columns = join.sourceColumns + join.targetColumns
        let order = join.sourceColumns + [join.orderColumn].compactMap { $0 } + join.targetColumns
        return SQL(
            stringLiteral:
                "SELECT \(dialect.list(columns)) FROM \(dialect.quote(join.table)) ORDER BY \(dialect.list(order))")
    }
}
