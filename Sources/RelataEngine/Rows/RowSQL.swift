import RelataCore

/// The SQL of single rows: made once per table and connection, then found by a slot number.
///
/// All statements bind column n of the table to parameter n + 1, so that one `Model.bind(to:)` serves them all.
package struct RowSQL {
    /// The dialect of the SQL.
    package let dialect: Dialect

    package init(_ dialect: Dialect) { self.dialect = dialect }

    /// The kind of a statement, for ``Connection/withStatement(slot:_:_:)``.
    package enum Slot: Int, CaseIterable {
        case fetch, insert, insertSeveral, insertIfAbsent, update
        // With a list of values for each column.
        case insertTogether, insertAssigning, insertAbsent, save, saveTelling, updateTogether

        package func number(_ table: Table) -> Int { number(table: table.index) }

        /// As ``number(_:)`` for the table of a number: a `Table` is large, and a look-up by key shouldn't copy it.
        package func number(table index: Int) -> Int { index * Slot.allCases.count + rawValue }

        /// The statement that inserts a row of a join table, seen from one side.
        package static func number(_ join: Join, isSource: Bool, in schema: Schema) -> Int {
            schema.tables.count * allCases.count + join.index * 2 + (isSource ? 0 : 1)
        }
    }

    package func text(_ slot: Slot, _ table: Table, _ schema: Schema) -> String {
        switch slot {
        case .fetch: fetch(table)
        case .insert: insertTellingKey(table)
        case .insertSeveral: insertSeveral(table)
        case .insertIfAbsent: insert(table) + onConflict(table) + " DO NOTHING"
        case .update: update(table, schema, columns: Self.written(table))
        case .insertTogether: insertTogether(table)
        case .insertAssigning: insertAssigning(table)
        case .insertAbsent: insertAbsent(table, schema, updates: false, tells: true)
        case .save: insertAbsent(table, schema, updates: true, tells: false)
        case .saveTelling: insertAbsent(table, schema, updates: true, tells: true)
        case .updateTogether: updateTogether(table, schema, columns: Self.written(table))
        }
    }

    package func quote(_ name: String) -> String { dialect.quote(name) }

    /// `"a" = ?1 AND "b" = ?2`, with the first parameter's number.
    package func matches(_ columns: [String], from first: Int) -> String {
        columns.enumerated().map { "\(quote($1)) = \(dialect.parameter(first + $0))" }.joined(separator: " AND ")
    }

    /// Whether a row of a reference's source refers to the object with a key, as the database compares the two.
    func refers(_ reference: Reference, in schema: Schema, from first: Int) -> String {
        if reference.comparison == .equal { return matches(reference.columns, from: first) }
        let (source, target) = (schema.tables[reference.source], schema.tables[reference.target])
        let own = target.keyColumnNames.enumerated().map { "t.\(quote($1)) = \(dialect.parameter(first + $0))" }
        return
            "\(dialect.tuple(source.keyColumnNames)) IN (SELECT \(source.keyColumnNames.map { "s.\(quote($0))" }.joined(separator: ", ")) "
            + "FROM \(quote(target.sqlName)) AS t JOIN \(quote(source.sqlName)) AS s "
            + "ON \(dialect.matches(target.keyColumnNames, of: "t", reference.columns, of: "s")) "
            + "WHERE \(own.joined(separator: " AND ")))"
    }

    /// `SELECT` of the position after the last of a list: of the rows with matching columns.
    func nextPlace(_ order: String, in table: String, _ columns: [String], from first: Int) -> String {
        nextPlace(order, in: table, where: matches(columns, from: first))
    }

    /// `SELECT` of the position after the last of a list: of the rows that meet a condition.
    func nextPlace(_ order: String, in table: String, where condition: String) -> String {
        "SELECT coalesce(max(\(quote(order))), 0) + \(Relationship.Order.gap) FROM \(table) WHERE \(condition)"
    }

    /// `SELECT` of all columns in order.
    package func select(_ table: Table) -> String {
        "SELECT " + table.columns.map { quote($0.name) }.joined(separator: ", ") + " FROM " + quote(table.sqlName)
    }

    package func fetch(_ table: Table) -> String {
        select(table) + " WHERE " + matches(table.keyColumnNames, from: 1)
    }

    fileprivate func exists(_ table: Table) -> String {
        "SELECT 1 FROM \(quote(table.sqlName)) WHERE " + matches(table.keyColumnNames, from: 1)
    }

    package func insert(_ table: Table) -> String {
        let values = table.columns.indices.map {
            dialect.newValue(of: table, column: $0, written($0, to: $0 + 1, table))
        }
        return insert(table, "VALUES (" + values.joined(separator: ", ") + ")")
    }

    /// Inserts a row, after which the connection knows the key that the database assigned.
    package func insertTellingKey(_ table: Table) -> String { insert(table) + dialect.tellingKey(of: table) }

    /// The number of rows one statement inserts if the database assigns their keys. SQLite records the last key in a
    /// table, once for each statement: once for each row would cost half as much as the row itself.
    package static let rowsAtOnce = 16

    /// Inserts several rows. The columns of one follow those of another.
    private func insertSeveral(_ table: Table) -> String {
        let count = table.columns.count
        let rows = (0..<Self.rowsAtOnce).map { row in
            "(" + (0..<count).map { written($0, to: row * count + $0 + 1, table) }.joined(separator: ", ") + ")"
        }
        return insert(table, "VALUES " + rows.joined(separator: ", "))
    }

    /// Inserts the rows that are bound as one parameter.
    func insertRows(_ table: Table) -> String {
        insert(
            table,
            "SELECT " + table.columns.indices.map { "c\($0)" }.joined(separator: ", ") + " FROM "
                + dialect.rows(ofParameter: 1, types: table.columns.indices.map { listType($0, table) }) + " AS v")
    }

    /// The parameter for a new value of a column.
    package func written(_ column: Int, to parameter: Int, _ table: Table) -> String {
        guard let type = table.writtenType(of: column) else { return dialect.parameter(parameter) }
        return dialect.parameter(parameter, as: type)
    }

    /// The type in a list of new values of a column.
    func listType(_ column: Int, _ table: Table) -> AttributeType {
        table.writtenType(of: column) ?? table.columns[column].boundType
    }

    private func insert(_ table: Table, _ rows: String) -> String {
        "INSERT INTO \(quote(table.sqlName)) (" + table.columns.map { quote($0.name) }.joined(separator: ", ") + ") "
            + rows
    }

    /// Writes columns of the row with the object's key; one that has a revision only if it still has the one given.
    package func update(_ table: Table, _ schema: Schema, columns: [Int]) -> String {
        // A statement must set something to show whether the row exists.
        let columns = columns.isEmpty ? [table.keyColumns[0]] : columns
        var sql =
            "UPDATE \(quote(table.sqlName)) SET "
            + (columns.map { "\(quote(table.columns[$0].name)) = \(written($0, to: $0 + 1, table))" }
            + places(table, schema, among: columns) { written($0, to: $0 + 1, table) }).joined(separator: ", ")
            + " WHERE "
            + table.keyColumns.map { "\(quote(table.columns[$0].name)) = \(dialect.parameter($0 + 1))" }.joined(
                separator: " AND ")
        if let revision = table.entity.revision, let index = table.columnIndexes(of: revision).first {
            sql += " AND \(quote(table.columns[index].name)) = \(dialect.parameter(table.columns.count + 1))"
        }
        return sql
    }

    /// The assignments of `ON CONFLICT DO UPDATE`: every column except those given, and the timestamp of the insertion.
    package func upserted(_ table: Table, _ schema: Schema, _ fixed: Set<Int>) -> [String] {
        let columns = Self.written(table).filter { !fixed.contains($0) }
        let quoted = columns.map { quote(table.columns[$0].name) }
        return quoted.map { "\($0) = excluded.\($0)" }
            + places(table, schema, among: columns) { "excluded.\(quote(table.columns[$0].name))" }
    }

    private func places(
        _ table: Table, _ schema: Schema, among columns: [Int], _ new: (Int) -> String
    ) -> [String] {
        schema.places(
            in: table, setting: columns.map { (table.columns[$0].name, new($0)) }, of: quote(table.sqlName), dialect)
    }

    /// The columns that an update writes: all but the key and the insertion's stamp.
    package static func written(_ table: Table) -> [Int] {
        let fixed = Set(table.keyColumns + (table.entity.createdAt.map { table.columnIndexes(of: $0) } ?? []))
        return table.columns.indices.filter { !fixed.contains($0) }
    }

    /// `, "revision" = "revision" + 1, "updatedAt" = ?n` for a change that didn't come from a value of the model.
    package func touch(_ table: Table, parameter: Int) -> (sql: String, needsNow: Bool) {
        var sql = ""
        if let revision = table.entity.revision.flatMap({ table.entity.attribute($0)?.column }) {
            sql += ", \(quote(revision)) = \(quote(revision)) + 1"
        }
        guard let updatedAt = table.entity.updatedAt.flatMap({ table.entity.attribute($0)?.column }) else {
            return (sql, false)
        }
        return (sql + ", \(quote(updatedAt)) = \(dialect.parameter(parameter))", true)
    }

    func onConflict(_ table: Table) -> String {
        " ON CONFLICT (" + table.keyColumnNames.map(quote).joined(separator: ", ") + ")"
    }
}

extension Connection {
    /// The SQL of single rows.
    package var rowSQL: RowSQL { RowSQL(dialect) }

    /// Whether a row with that key exists.
    package func isStored(_ key: KeyValue, in table: Table) throws(RelataError) -> Bool {
        try value(SQLStatement(rowSQL.exists(table), key.values.map(Parameter.value))) != nil
    }
}
