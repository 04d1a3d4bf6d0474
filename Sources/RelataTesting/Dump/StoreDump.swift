public import Relata
import RelataCore

extension Store {
    /// Everything in the store as readable text that is equal in every run, for snapshot tests.
    ///
    /// ```text
    /// Genre (1)
    ///   id: Genre#1, name: "Fantasy"
    /// Book (1)
    ///   id: Book#1, title: "Good Omens", genreId: Genre#1
    /// ```
    ///
    /// Rows are in the order of their keys; rows with UUIDs as keys are in the order of their insertion. Objects with
    /// UUIDs as keys are named by their number in this order, `Book#2`. UUIDs of the versions 4 and 7 in attributes are
    /// shown as `<uuid 1>`, and the stamps of insertion and update as `<date 1>`, numbered in order of appearance.
    ///
    /// - Parameters:
    ///   - entities: The names of the entities to show; all by default.
    ///   - raw: Whether keys, UUIDs and stamps are shown unchanged.
    /// - Throws: `RelataError` if the database can't be read.
    public func dump(_ entities: [String]? = nil, raw: Bool = false) throws -> String {
        try read { try StoreDump(raw: raw, in: $0, schema).text(of: entities) }
    }
}

/// Writes the rows of tables and join tables.
private struct StoreDump {
    private let schema: Schema
    private let transaction: ReadTransaction
    private var text: DumpText
    /// The rows of each table, in the order of the dump.
    private var rows: [[[Value]]] = []
    /// The position of each table's objects in that order.
    private var places: [[KeyValue: Int]] = []

    init(raw: Bool, in transaction: ReadTransaction, _ schema: Schema) throws {
        self.schema = schema
        self.transaction = transaction
        text = DumpText(raw: raw)
        for table in schema.tables {
            let rows = try transaction.rows(SQL(stringLiteral: try select(table)))
            let keys = rows.map { row in KeyValue(table.keyColumns.map { row[$0].read(as: table.columns[$0].type) }) }
            self.rows.append(rows)
            places.append(Dictionary(zip(keys, keys.indices), uniquingKeysWith: { first, _ in first }))
            // Objects are numbered in the order of their rows, regardless of which reference comes first.
            if table.hasNumbers { for key in keys { _ = text.object(table.name, key, table.keyTypes) } }
        }
    }

    func text(of entities: [String]?) throws -> String {
        var copy = self
        return try copy.lines(of: entities).joined(separator: "\n")
    }

    private mutating func lines(of entities: [String]?) throws -> [String] {
        var lines: [String] = []
        for table in schema.tables where entities?.contains(table.name) ?? true {
            lines.append("\(table.name) (\(rows[table.index].count))")
            for row in rows[table.index] {
                var cells: [String] = []
                for (column, value) in zip(table.columns, row) {
                    cells.append("\(column.name): " + text(value, of: column, table))
                }
                lines.append("  " + cells.joined(separator: ", "))
            }
        }
        for join in schema.joins where entities?.contains(schema.tables[join.source].name) ?? true {
            let pairs = try pairs(of: join)
            lines.append("\(schema.tables[join.source].name).\(join.property) (\(pairs.count))")
            for (source, target) in pairs {
                lines.append("  " + name(source, join.source) + " → " + name(target, join.target))
            }
        }
        return lines
    }

    // MARK: Values

    private mutating func text(_ value: Value, of column: Column, _ table: Table) -> String {
        if let owner = schema.owner(of: column, table), !value.isNull {
            return text.object(owner.name, KeyValue(value), owner.keyTypes)
        }
        let isStamp = [table.entity.createdAt, table.entity.updatedAt].contains(column.property)
        return text.text(value, column.type, isStamp: isStamp)
    }

    private mutating func name(_ key: KeyValue, _ table: Int) -> String {
        text.object(schema.tables[table].name, key, schema.tables[table].keyTypes)
    }

    // MARK: Rows

    private func select(_ table: Table) throws -> String {
        let dialect = Dialect.sqlite
        return "SELECT \(dialect.list(table.columns.map(\.name))) FROM \(dialect.quote(table.sqlName)) ORDER BY "
            + (try transaction.stableOrder(of: table))
    }

    /// The keys in the rows of a join table, in the order of the sources and then of their lists.
    private func pairs(of join: Join) throws -> [(KeyValue, KeyValue)] {
        let dialect = Dialect.sqlite
        let columns = join.sourceColumns + join.targetColumns + [join.orderColumn].compactMap { $0 }
        let sql = "SELECT \(dialect.list(columns)) FROM \(dialect.quote(join.table))"
        let (source, target) = (schema.tables[join.source], schema.tables[join.target])
        let width = join.sourceColumns.count
        let pairs = try transaction.rows(SQL(stringLiteral: sql)).map { row in
            let own = KeyValue(zip(row, source.keyTypes).map { $0.read(as: $1) })
            let other = KeyValue(zip(row.dropFirst(width), target.keyTypes).map { $0.read(as: $1) })
            var position: Int64 = 0
            if join.orderColumn != nil, case .integer(let number)? = row.last { position = number }
            return (own, other, position)
        }
        func place(_ key: KeyValue, _ table: Int) -> Int { places[table][key] ?? places[table].count }
        return pairs.sorted { left, right in
            (place(left.0, join.source), left.2, place(left.1, join.target))
                < (place(right.0, join.source), right.2, place(right.1, join.target))
        }.map { ($0.0, $0.1) }
    }
}

extension ReadTransaction {
    /// An order of a table's rows that is equal in every run. Random keys have no useful order: their rows are in the
    /// order of insertion.
    func stableOrder(of table: Table) throws -> String {
        let rowID = ["rowid", "_rowid_", "oid"].first { name in
            !table.columns.contains { $0.name.lowercased() == name }
        }
        if table.keyTypes.contains(where: \.isUUID), let rowID,
            dialect == .sqlite,
            try rows("SELECT wr FROM temp.pragma_table_list WHERE name = \(table.sqlName)").first == [0]
        {
            return rowID
        }
        return Dialect.sqlite.list(table.keyColumnNames)
    }
}

extension Table {
    /// Whether the key of its objects is one column with a UUID, which isn't the key of another object.
    fileprivate var hasNumbers: Bool {
        keyColumns.count == 1 && keyTypes[0].isUUID && columns[keyColumns[0]].reference == nil
    }
}

extension Schema {
    /// The entity of the object whose key is a column's value; `nil` if the object isn't named by a number.
    fileprivate func owner(of column: Column, _ table: Table) -> Table? {
        guard let reference = column.reference else {
            return table.hasNumbers && table.entity.key == [column.property] ? table : nil
        }
        let target = tables[references[reference].target]
        // A key may consist of keys: each of its columns leads to one object.
        guard let part = references[reference].columns.firstIndex(of: column.name) else { return nil }
        return owner(of: target.columns[target.keyColumns[part]], target)
    }
}
