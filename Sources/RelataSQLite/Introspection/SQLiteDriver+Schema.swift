import RelataCSQLite
import RelataCore
import RelataEngine

extension SQLiteDriver {
    package func hasTable(_ name: String, _ connection: Connection) throws(RelataError) -> Bool {
        let query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1"
        return try connection.value(SQLStatement(query, [.value(.text(name))])) != nil
    }

    package func tables(
        named names: [String]?, hidesReserved: Bool, _ connection: Connection
    ) throws(RelataError) -> [TableDescription] {
        // SQLite compiles statements of its own for each table, which change nothing that others compiled.
        try authorizer.preparing { () throws(RelataError) in
            try Introspection.tables(of: connection, named: names, hidesReserved: hidesReserved)
        }
    }

    package func columnNames(of table: String, _ connection: Connection) throws(RelataError) -> [String] {
        let query = SQLStatement("SELECT name FROM temp.pragma_table_info(?1)", [.value(.text(table))])
        return try connection.values(query).map { $0[0].description }
    }

    package func otherTables(_ connection: Connection) throws(RelataError) -> [String: String] {
        try Introspection.leftOut(of: connection)
    }

    package func triggers(of table: String, _ connection: Connection) throws(RelataError) -> [String] {
        let query =
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE ORDER BY name"
        return try connection.values(SQLStatement(query, [.value(.text(table))])).map { $0[0].description }
    }

    package func collation(of column: String, in table: String) -> String? {
        var name: UnsafePointer<CChar>?
        sqlite3_table_column_metadata(handle, "main", table, column, nil, &name, nil, nil, nil)
        return name.map { String(cString: $0) }.flatMap { $0 == "BINARY" ? nil : $0 }
    }

    package func lastAssignedKey(of table: String, _ connection: Connection) throws(RelataError) -> Int64 {
        guard try hasTable("sqlite_sequence", connection) else { return 0 }
        let query = SQLStatement("SELECT seq FROM sqlite_sequence WHERE name = ?1", [.value(.text(table))])
        guard case .integer(let key)? = try connection.value(query) else { return 0 }
        return key
    }

    package func damage(_ connection: Connection) throws(RelataError) -> EngineDamage {
        var damage = EngineDamage()
        do {
            try connection.rows(SQLStatement("PRAGMA integrity_check(100)")) { row in
                if row.text(at: 0) != "ok" { damage.problems.append(row.text(at: 0)) }
            }
        } catch .corruptStore(let message) {
            damage.problems.append(message)
            damage.isReadable = false
        } catch .database(_, let message, _) where Self.isOfAnotherProgram(message) {
            // What sorts by it, can't be read.
            damage.problems.append("SQLite can't look at all of it: \(message)")
            damage.isReadable = !message.hasPrefix("no such collation sequence")
            damage.mend = "check it with the program that made it"
            return damage
        }
        let isIndexOnly =
            damage.isReadable
            && damage.problems.allSatisfy {
                $0.contains("missing from index") || $0.contains("wrong # of entries in index")
            }
        damage.mend =
            isIndexOnly
            ? "make the indexes anew: REINDEX"
            : "restore it from a copy, or save what can be read: sqlite3 FILE .recover"
        return damage
    }

    /// Whether an error says that a file needs what only the program that made it gives SQLite.
    private static func isOfAnotherProgram(_ message: String) -> Bool {
        message.hasPrefix("no such collation sequence") || message.hasPrefix("unknown function")
    }
}
