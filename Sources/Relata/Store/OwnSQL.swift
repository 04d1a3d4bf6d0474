import RelataCore
import RelataEngine

extension ReadTransaction {
    /// Objects from custom SQL, whose columns are found by their names.
    func objects<M: Model>(_ model: M.Type, sql: SQL) throws -> [M] {
        let table = try catalog.table(model)
        var objects: [M] = []
        let statement = try statement(of: sql)
        try connection.runningForeignSQL {
            try connection.withStatement(statement.sql) { running in
                try connection.bind(statement.parameters, to: running)
                guard try connection.step(running) else {
                    _ = try table.places(in: running)
                    return
                }
                // Only now: with the first step, SQLite reads altered tables again.
                let row = RearrangedRow(of: running, try table.places(in: running))
                repeat {
                    if let object = try row.withRow({ try object(model, at: $0) }) { objects.append(object) }
                } while try connection.step(running)
            }
        }
        return objects
    }
}

extension Table {
    /// The positions of the table's columns in a statement's result.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a missing or repeated column.
    fileprivate func places(in statement: RunningStatement) throws(RelataError) -> [Int] {
        let given = (0..<Int32(truncatingIfNeeded: statement.columnCount)).map { statement.columnName($0) }
        let places = Dictionary(grouping: given.indices) { given[$0].foldedName }
        return try columns.map { (column) throws(RelataError) in
            let found = places[column.name.foldedName] ?? []
            // Names that differ in case alone are different columns to PostgreSQL.
            let exact = found.count > 1 ? found.filter { given[$0] == column.name } : found
            if exact.count == 1 { return exact[0] }
            let what = found.isEmpty ? "returns no column \(column.name)" : "returns the column \(column.name) twice"
            throw .invalidUse(
                "\(name) can't be read from the SQL, which \(what): it returns \(given.joined(separator: ", ")), and must return each of \(columns.map(\.name).joined(separator: ", ")) once, in any order"
            )
        }
    }
}
