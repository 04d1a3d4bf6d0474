import RelataCSQLite
import RelataCore
import RelataSQLite

// Unique values that objects of one save exchange. SQLite checks them row by row: an object that has a value which another
// takes waits for its own turn without it.

extension RowWriter {
    /// Takes a unique value from a row that is written later in the same save: a value stands in that nobody has, random
    /// bits, or it is unset. What follows the value in tables that the models don't know follows random bits too, and
    /// keeps its object; but a reference would lead nowhere, and rather is unset.
    ///
    /// - Returns: Whether that could be done: a table of another program may allow neither.
    func park(_ key: M.Key, _ unique: [Int]) throws -> Bool {
        let columns = Set(RowSQL.written(table)).intersection(unique).sorted()
        for column in columns where table.columns[column].reference == nil {
            if try park(key, column, isUnset: false) { return true }
        }
        for column in columns where table.columns[column].isOptional {
            if try park(key, column, isUnset: true) { return true }
        }
        for column in columns where table.columns[column].reference != nil {
            if try park(key, column, isUnset: false) { return true }
        }
        return false
    }

    private func park(_ key: M.Key, _ number: Int, isUnset: Bool) throws -> Bool {
        let column = table.columns[number]
        if !isUnset, let reference = column.reference, session.catalog.schema.references[reference].isEnforced {
            try session.deferReferences()
        }
        let sql =
            "UPDATE \(RowSQL.quote(table.sqlName)) SET \(RowSQL.quote(column.name)) = "
            + (isUnset ? "NULL" : column.type.storage.randomSQL) + " WHERE "
            + RowSQL.matches(table.keyColumnNames, from: 1)
        let statement = SQLStatement(sql, try M.keyValue(key).values.map(Parameter.value))
        do {
            return try connection.run(statement) == 1
        } catch {
            guard case .database(let code, _, _) = error, code & 0xff == Int(SQLITE_CONSTRAINT) else { throw error }
            return false
        }
    }
}

extension StorageType {
    /// A value that no row has.
    fileprivate var randomSQL: String {
        switch self {
        case .integer, .real, .numeric: "random()"
        case .text: "'relata ' || hex(randomblob(16))"
        case .blob: "randomblob(16)"
        }
    }
}
