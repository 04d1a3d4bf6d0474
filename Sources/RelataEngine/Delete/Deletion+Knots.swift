import RelataCore

/// Rows that refer to each other in a cycle, and rows that are found by no index.
extension Deletion {
    /// Unsets references between doomed rows on a cycle, or points them at the row itself, if possible.
    func untie() throws(RelataError) {
        for number in graph.knots where !sql.isEmpty(schema.foreignKeys[number].source) {
            if let statement = sql.untie(schema.foreignKeys[number]) { try connection.execute(statement) }
        }
    }

    /// Refuses a deletion of rows in a cycle of required references if the database would unset one of the references
    /// in a row that is deleted later: that fails in any order.
    func refuseCircles() throws(RelataError) {
        let keys = graph.circles.map { schema.foreignKeys[$0] }.filter {
            !sql.isEmpty($0.source) && !sql.isEmpty($0.target)
        }
        // A server deletes all of these rows with one statement.
        guard !keys.isEmpty, fileKeys.foreign == nil else { return }
        let names = Set(keys.map { schema.tables[$0.source].sqlName })
        let tables = try connection.driver.tables(named: names.sorted(), hidesReserved: false, connection)
        for key in keys {
            let (source, target) = (schema.tables[key.source], schema.tables[key.target])
            let columns = Set(key.columns.map { $0.foldedName })
            let described = tables.first { $0.name.isSameName(as: source.sqlName) }?.foreignKeys.first {
                Set($0.columns.map { $0.foldedName }) == columns && $0.target.isSameName(as: target.sqlName)
                    && ($0.onDelete == .setNull || $0.onDelete == .setDefault)
            }
            guard let action = described?.onDelete, try connection.value(sql.circle(key)) != nil else { continue }
            throw .invalidUse(
                "\(report.entity) can't be deleted: \(source.sqlName).\(key.columns.joined(separator: ", ")) is required, "
                    + "and its foreign key says ON DELETE \(action.rawValue), on a cycle of required references between "
                    + "\(source.name) and \(target.name): declare ON DELETE CASCADE, or allow NULL in the column")
        }
    }

    /// Creates the temporary indexes that SQLite needs to look up the rows which refer to each deleted row: without
    /// them it reads a whole table for each. Returns their quoted names.
    func makeIndexes() throws(RelataError) -> [String] {
        var names: [String] = []
        var places: Set<String> = []
        for key in fileKeys.unindexed {
            guard let list = sql.lists[key.target], list.count >= Self.worthIndexing else { continue }
            let columns = zip(key.columns, key.targetColumns).map { column, target in
                connection.dialect.quote(column) + collation(of: target, in: schema.tables[key.target].sqlName)
            }
            let place = "\(connection.dialect.quote(key.table)) (\(columns.joined(separator: ", ")))"
            // Several foreign keys may have the same columns.
            guard places.insert(place).inserted else { continue }
            let name = connection.dialect.quote("relata_deletion_\(names.count)")
            try connection.execute("CREATE INDEX \(name) ON \(place)")
            names.append(name)
        }
        return names
    }

    /// The number of deleted rows of an entity from which an index saves more time than it takes to build.
    private static let worthIndexing = 500

    private func collation(of column: String, in table: String) -> String {
        connection.driver.collation(of: column, in: table).map { " COLLATE \(connection.dialect.quote($0))" } ?? ""
    }
}
