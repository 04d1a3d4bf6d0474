import RelataCore

/// Statements that write many rows, which are bound as a list for each column: the values of column n to parameter n +
/// 1, as in the statements of single rows.
extension RowSQL {
    /// Inserts rows that have their keys.
    func insertTogether(_ table: Table) -> String { insertion(table, Array(table.columns.indices)) }

    /// Inserts rows whose keys the database assigns, and returns the keys in the same order.
    func insertAssigning(_ table: Table) -> String {
        insertion(table, table.columns.indices.filter { !table.keyColumns.contains($0) }) + " RETURNING "
            + dialect.list(table.keyColumnNames)
    }

    /// Inserts those rows that aren't stored yet.
    ///
    /// - Parameters:
    ///   - updates: Whether existing ones are updated.
    ///   - tells: Whether the written rows are returned: the row's number, from 1 on, whether it is new, and its time
    ///     of insertion, if the model has one.
    func insertAbsent(_ table: Table, _ schema: Schema, updates: Bool, tells: Bool) -> String {
        let columns = Array(table.columns.indices)
        let assignments = upserted(table, schema, Set(table.keyColumns))
        let action =
            updates && !assignments.isEmpty ? " DO UPDATE SET " + assignments.joined(separator: ", ") : " DO NOTHING"
        guard tells else { return insertion(table, columns) + onConflict(table) + action }
        let keys = table.keyColumnNames
        let isSame = zip(table.keyColumns, keys).map { "i.\(quote($1)) = v.c\($0)" }.joined(separator: " AND ")
        let created = creation(table).map { quote(table.sqlName) + "." + $0 } ?? "NULL"
        return "WITH v AS (SELECT * FROM \(lists(table, columns, isNumbered: true))), i AS (" + into(table, columns)
            + " SELECT \(values(columns)) FROM v" + isAssignedBefore(table) + onConflict(table) + action
            + " RETURNING \(dialect.list(keys)), xmax = 0 AS relata_inserted, \(created) AS relata_created) "
            + "SELECT v.relata_row, i.relata_inserted, i.relata_created FROM i JOIN v ON \(isSame)"
    }

    /// Updates rows, and returns the numbers of the existing ones, from 1 on, and their times of insertion, if the
    /// model has one.
    package func updateTogether(_ table: Table, _ schema: Schema, columns: [Int]) -> String {
        let columns = columns.isEmpty ? [table.keyColumns[0]] : columns
        let values = columns.map { (name: table.columns[$0].name, value: "v.c\($0)") }
        let assignments =
            values.map { "\(quote($0.name)) = \($0.value)" }
            + schema.places(in: table, setting: values, of: "t", dialect)
        var conditions = table.keyColumns.map { "t.\(quote(table.columns[$0].name)) = v.c\($0)" }
        let revision = table.entity.revision.flatMap { table.columnIndexes(of: $0).first }
        if let revision { conditions.append("t.\(quote(table.columns[revision].name)) = v.c\(table.columns.count)") }
        let list = lists(
            table, Set(columns + table.keyColumns).sorted(), revision: revision.map { table.columns[$0].type },
            isNumbered: true)
        return "UPDATE \(quote(table.sqlName)) AS t SET \(assignments.joined(separator: ", ")) FROM \(list) "
            + "WHERE \(conditions.joined(separator: " AND ")) RETURNING v.relata_row, TRUE, "
            + (creation(table).map { "t.\($0)" } ?? "NULL")
    }

    // MARK: Parts

    private func insertion(_ table: Table, _ columns: [Int]) -> String {
        if columns.isEmpty {
            // One new value for each unset key.
            let keys = table.keyColumns.map { dialect.newValue(of: table, column: $0, "v.c\($0)") }
            return into(table, table.keyColumns) + " SELECT \(keys.joined(separator: ", ")) FROM "
                + lists(table, table.keyColumns)
        }
        return into(table, columns) + " SELECT \(values(columns)) FROM \(lists(table, columns))"
            + (columns.contains(where: table.keyColumns.contains) ? isAssignedBefore(table) : "")
    }

    private func into(_ table: Table, _ columns: [Int]) -> String {
        "INSERT INTO \(quote(table.sqlName)) (\(dialect.list(columns.map { table.columns[$0].name })))"
    }

    private func values(_ columns: [Int]) -> String { columns.map { "v.c\($0)" }.joined(separator: ", ") }

    /// A condition that advances the table's sequence to the greatest given key, once for all rows.
    private func isAssignedBefore(_ table: Table) -> String {
        guard table.entity.isKeyAssigned, let column = table.keyColumns.first else { return "" }
        let list = dialect.list(ofParameter: column + 1, as: table.columns[column].type)
        let greatest = dialect.newValue(of: table, column: column, "max(c0)")
        return " WHERE (SELECT \(greatest) FROM unnest(\(list)) AS relata_keys(c0)) IS NOT NULL"
    }

    private func lists(
        _ table: Table, _ columns: [Int], revision: AttributeType? = nil, isNumbered: Bool = false
    ) -> String {
        var columns = columns.map { (number: $0, type: listType($0, table)) }
        if let revision { columns.append((table.columns.count, revision)) }
        let names = columns.map { "c\($0.number)" } + (isNumbered ? ["relata_row"] : [])
        return dialect.rows(ofLists: columns.map { ($0.number + 1, $0.type) }, isNumbered: isNumbered)
            + " AS v(\(names.joined(separator: ", ")))"
    }

    /// The column that keeps when a row was inserted.
    private func creation(_ table: Table) -> String? {
        table.entity.createdAt.flatMap { table.columnIndexes(of: $0).first }.map { quote(table.columns[$0].name) }
    }
}
