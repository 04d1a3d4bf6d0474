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
        // SQLite compiles its own statements for each table, which doesn't invalidate others.
        try authorizer.preparing { () throws(RelataError) in
            var reader = SQLiteTableReader(connection, names: names, hidesReserved: hidesReserved)
            try reader.read()
            return reader.tables
        }
    }

    package func columnNames(of table: String, _ connection: Connection) throws(RelataError) -> [String] {
        let query = SQLStatement("SELECT name FROM temp.pragma_table_info(?1)", [.value(.text(table))])
        return try connection.values(query).map { $0[0].description }
    }

    package func otherTables(_ connection: Connection) throws(RelataError) -> [String: String] {
        var kinds: [String: String] = [:]
        let list = "SELECT name, type FROM temp.pragma_table_list WHERE schema = 'main' AND type <> 'table'"
        try connection.rows(SQLStatement(list)) { row in
            if ReservedNames.isOfSearch(row.text(at: 0)) { return }
            kinds[row.text(at: 0)] =
                switch row.text(at: 1) {
                case "view": "a view"
                case "virtual": "a virtual table"
                default: "a table that belongs to a virtual one"
                }
        }
        return kinds
    }

    package func indexes(
        of table: String, _ connection: Connection
    ) throws(RelataError) -> [(name: String, columns: [String])] {
        let query = """
            SELECT i.name, x.name FROM temp.pragma_index_list(?1) AS i JOIN temp.pragma_index_xinfo(i.name) AS x
            WHERE NOT i.partial AND x.key ORDER BY i.seq, x.seqno
            """
        var indexes: [(name: String, columns: [String])] = []
        try connection.rows(SQLStatement(query, [.value(.text(table))])) { row in
            if indexes.last?.name != row.text(at: 0) { indexes.append((row.text(at: 0), [])) }
            indexes[indexes.count - 1].columns.append(row.text(at: 1))
        }
        return indexes
    }

    package func triggers(of table: String, _ connection: Connection) throws(RelataError) -> [String] {
        let query =
            "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE ORDER BY name"
        // Those of a search index write nothing visible.
        return try connection.values(SQLStatement(query, [.value(.text(table))])).map { $0[0].description }
            .filter { !ReservedNames.isOfSearch($0) }
    }

    package func collation(of column: String, in table: String) -> String? {
        var name: UnsafePointer<CChar>?
        sqlite3_table_column_metadata(handle, "main", table, column, nil, &name, nil, nil, nil)
        return name.map { String(cString: $0) }.flatMap { $0 == "BINARY" ? nil : $0 }
    }

    package func comparesPlainly(
        _ column: String, of table: String, _ connection: Connection
    ) throws(RelataError) -> Bool {
        guard let name = collation(of: column, in: table) else { return true }
        return ["BINARY", "NOCASE", "RTRIM"].contains { name.isSameName(as: $0) }
    }

    package func lastAssignedKey(of table: String, _ connection: Connection) throws(RelataError) -> Int64 {
        guard try hasTable("sqlite_sequence", connection) else { return 0 }
        let query = SQLStatement("SELECT seq FROM sqlite_sequence WHERE name = ?1", [.value(.text(table))])
        guard case .integer(let key)? = try connection.value(query) else { return 0 }
        return key
    }

    package func estimatedRows(_ connection: Connection) throws(RelataError) -> [String: Int64] {
        guard try hasTable("sqlite_stat1", connection) else { return [:] }
        var rows: [String: Int64] = [:]
        // An index's statistics begin with the number of its rows, which is smaller for an index with a condition.
        let query = "SELECT tbl, max(CAST(stat AS INTEGER)) FROM sqlite_stat1 GROUP BY tbl"
        try connection.rows(SQLStatement(query)) { row in rows[row.text(at: 0)] = row.integer(at: 1) }
        return rows
    }

    package func assignKeys(
        after key: Int64, of table: String, column: String, _ connection: Connection
    ) throws(RelataError) {
        // Without `AUTOINCREMENT`, the greatest existing key counts.
        guard key > 0, try hasTable("sqlite_sequence", connection) else { return }
        let values: [Parameter] = [.value(.integer(key)), .value(.text(table))]
        let update = "UPDATE sqlite_sequence SET seq = max(seq, ?1) WHERE name = ?2"
        if try connection.run(SQLStatement(update, values)) > 0 { return }
        try connection.execute(SQLStatement("INSERT INTO sqlite_sequence (seq, name) VALUES (?1, ?2)", values))
    }

    package func conditions(of table: TableDescription, _ connection: Connection) throws(RelataError) -> [String] {
        SQLWords.words(in: table.sql ?? "").intersection(["CHECK"]).sorted()
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
        } catch .database(_, let message, _) where UnknownExtension.isMissing(message) {
            // Indexes and tables that sort by it can't be read.
            damage.problems.append("SQLite can't check all of it: \(message)")
            damage.isReadable = !UnknownExtension.isCollation(message)
            damage.fix = "check it with the program that created it"
            return damage
        }
        let isIndexOnly =
            damage.isReadable
            && damage.problems.allSatisfy {
                $0.contains("missing from index") || $0.contains("wrong # of entries in index")
            }
        damage.fix =
            isIndexOnly
            ? "rebuild the indexes: REINDEX"
            : "restore it from a copy, or recover what can be read: sqlite3 FILE .recover"
        if isIndexOnly, !damage.problems.isEmpty {
            damage.repair = IntegrityRepair("rebuild the indexes", [IntegrityRepair.Step("REINDEX")])
        }
        return damage
    }
}
