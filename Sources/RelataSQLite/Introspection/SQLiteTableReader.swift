import RelataCSQLite
import RelataCore
import RelataEngine

/// Reads the tables of a file as they are, without SQLite's and Relata's own, views and virtual tables.
struct SQLiteTableReader {
    private let connection: Connection
    /// The tables that are read; `nil` for all.
    private let names: [String]?
    private(set) var tables: [TableDescription] = []
    /// The places of the tables, by name.
    private var numbers: [FoldedName: Int] = [:]
    private var strictTables: Set<FoldedName> = []
    /// The texts of the indexes that have one, by name.
    private var indexTexts: [String: String] = [:]
    /// Whether tables with Relata's reserved names are left out, even those of another program.
    private let hidesReserved: Bool

    init(_ connection: Connection, names: [String]?, hidesReserved: Bool = true) {
        self.connection = connection
        self.names = names
        self.hidesReserved = hidesReserved
    }

    mutating func read() throws(RelataError) {
        var hasRowID: [FoldedName: Bool] = [:]
        try connection.rows(list) { row in
            hasRowID[row.text(at: 0).foldedName] = row.integer(at: 1) == 0
            if row.integer(at: 2) != 0 { strictTables.insert(row.text(at: 0).foldedName) }
        }
        // Read at once: the schema has no index, so each query would read the entries of all tables.
        let texts =
            "SELECT m.type, m.name, m.tbl_name, m.sql FROM sqlite_master AS m WHERE m.sql IS NOT NULL\(condition) ORDER BY m.rowid"
        var triggers: [(table: FoldedName, sql: String)] = []
        try connection.rows(query(texts)) { row in
            let (name, holder) = (row.text(at: 1), row.text(at: 2).foldedName)
            switch row.text(at: 0) {
            case "table":
                let isHidden = hidesReserved ? ReservedNames.isInternal(name) : ReservedNames.isOwn(name)
                guard let hasRowID = hasRowID[holder], !isHidden else { return }
                numbers[holder] = tables.count
                tables.append(
                    TableDescription(name: name, columns: [], primaryKey: [], hasRowID: hasRowID, sql: row.text(at: 3)))
            case "index": indexTexts[name] = row.text(at: 3)
            // The triggers of a search index are rebuilt with it.
            case "trigger" where !ReservedNames.isOfSearch(name): triggers.append((holder, row.text(at: 3)))
            default: break
            }
        }
        for trigger in triggers {
            if let number = numbers[trigger.table] { tables[number].triggers.append(trigger.sql) }
        }
        try readColumns()
        try readForeignKeys()
        try readIndexes()
    }

    /// The kinds of the tables. SQLite looks up a named one.
    private var list: SQLStatement {
        let columns = "SELECT m.name, m.wr, m.strict FROM"
        let isTable = "m.schema = 'main' AND m.type = 'table'"
        guard names != nil else { return SQLStatement("\(columns) temp.pragma_table_list AS m WHERE \(isTable)") }
        return query(
            "\(columns) \(Dialect.sqlite.rows(ofParameter: 1)) AS n JOIN temp.pragma_table_list(n.c0) AS m WHERE \(isTable)"
        )
    }

    /// Leaves out what belongs to tables that aren't read.
    private var condition: String {
        names == nil ? "" : " AND m.tbl_name COLLATE NOCASE IN \(Dialect.sqlite.rows(ofParameter: 1))"
    }

    /// A query about the tables that are read.
    private func query(_ sql: String) -> SQLStatement {
        SQLStatement(sql, names.map { [.list($0.map { .text($0) })] } ?? [])
    }

    /// The tables that were found, as rows `m` with the column `c0`.
    private static let found = "\(Dialect.sqlite.rows(ofParameter: 1)) AS m"

    /// A query about the tables that were found.
    private func queryOfFound(_ sql: String) -> SQLStatement {
        SQLStatement(sql, [.list(tables.map { .text($0.name) })])
    }

    private mutating func readColumns() throws(RelataError) {
        let columns = """
            SELECT m.c0, x.name, x.type, x."notnull", x.dflt_value, x.pk, x.hidden
            FROM \(Self.found) JOIN temp.pragma_table_xinfo(m.c0) AS x ORDER BY m.c0, x.cid
            """
        var keys: [Int: [(rank: Int64, name: String)]] = [:]
        try connection.rows(queryOfFound(columns)) { row in
            guard let number = numbers[row.text(at: 0).foldedName], row.integer(at: 6) != 1 else { return }
            let name = row.text(at: 1)
            // Only in a strict table does ANY mean that values stay unchanged.
            let type = row.text(at: 2)
            let isAny = type.uppercased() == "ANY" && strictTables.contains(row.text(at: 0).foldedName)
            if row.integer(at: 5) > 0 { keys[number, default: []].append((row.integer(at: 5), name)) }
            tables[number].columns.append(
                ColumnDescription(
                    name: name, type: isAny ? "" : type, isRequired: row.integer(at: 3) != 0,
                    defaultSQL: row.isNull(at: 4) ? nil : Self.defaultSQL(row.text(at: 4)),
                    isGenerated: row.integer(at: 6) >= 2,
                    collation: connection.driver.collation(of: name, in: row.text(at: 0)) ?? "BINARY"))
        }
        for (number, key) in keys {
            tables[number].primaryKey = key.sorted { $0.rank < $1.rank }.map(\.name)
            let types = key.compactMap { tables[number].column($0.name)?.type.uppercased() }
            // Reverted below for a key with a separate index, such as one declared `DESC`.
            tables[number].isKeyAssigned = tables[number].hasRowID && types == ["INTEGER"]
        }
    }

    /// A default in a form that is valid anywhere. A bare name is a text after `DEFAULT`, and a column elsewhere.
    private static func defaultSQL(_ text: String) -> String {
        let isName = text.first?.isLetter == true && text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        let isWord = ["NULL", "TRUE", "FALSE", "CURRENT_TIMESTAMP", "CURRENT_DATE", "CURRENT_TIME"]
            .contains(text.uppercased())
        return isName && !isWord ? "'\(text)'" : text
    }

    private mutating func readForeignKeys() throws(RelataError) {
        // SQLite numbers the keys of a table from the last declared to the first.
        let keys = """
            SELECT m.c0, f.id, f."table", f."from", f."to", f.on_delete
            FROM \(Self.found) JOIN temp.pragma_foreign_key_list(m.c0) AS f ORDER BY m.c0, f.id DESC, f.seq
            """
        var last: (table: Int, id: Int64)?
        try connection.rows(queryOfFound(keys)) { row in
            guard let number = numbers[row.text(at: 0).foldedName] else { return }
            if last?.table != number || last?.id != row.integer(at: 1) {
                last = (number, row.integer(at: 1))
                tables[number].foreignKeys.append(
                    ForeignKeyDescription(
                        columns: [], target: row.text(at: 2), targetColumns: [],
                        onDelete: .init(rawValue: row.text(at: 5).uppercased()) ?? .none))
            }
            let key = tables[number].foreignKeys.count - 1
            tables[number].foreignKeys[key].columns.append(row.text(at: 3))
            if !row.isNull(at: 4) { tables[number].foreignKeys[key].targetColumns.append(row.text(at: 4)) }
        }
    }

    private mutating func readIndexes() throws(RelataError) {
        let indexes = """
            SELECT m.c0, i.name, i."unique", i.origin, i.partial, x.cid, x.name, x."desc", x.coll
            FROM \(Self.found) JOIN temp.pragma_index_list(m.c0) AS i JOIN temp.pragma_index_xinfo(i.name) AS x
            WHERE x.key ORDER BY m.c0, i.seq DESC, x.seqno
            """
        try connection.rows(queryOfFound(indexes)) { row in
            guard let number = numbers[row.text(at: 0).foldedName] else { return }
            let name = row.text(at: 1)
            let collation = tables[number].column(row.text(at: 6))?.collation ?? "BINARY"
            let comparesAsColumn = collation.isSameName(as: row.text(at: 8))
            if row.text(at: 3) == "pk" {
                tables[number].isKeyAssigned = false
                if !comparesAsColumn { tables[number].keyComparesAsColumns = false }
                return
            }
            if tables[number].indexes.last?.name != name {
                tables[number].indexes.append(
                    IndexDescription(
                        name: name, columns: [], isUnique: row.integer(at: 2) != 0, isPlain: row.integer(at: 4) == 0,
                        isDescending: row.integer(at: 7) != 0, sql: indexTexts[name]))
            }
            let index = tables[number].indexes.count - 1
            if row.integer(at: 5) < 0 { tables[number].indexes[index].isPlain = false }
            if !comparesAsColumn { tables[number].indexes[index].comparesAsColumns = false }
            tables[number].indexes[index].columns.append(row.text(at: 6))
        }
    }
}
