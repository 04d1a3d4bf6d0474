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
    /// Whether tables with Relata's reserved names are left out, even those of another program.
    private let hidesReserved: Bool

    init(_ connection: Connection, names: [String]?, hidesReserved: Bool = true) {
        self.connection = connection
        self.names = names
        self.hidesReserved = hidesReserved
    }

    mutating func read() throws(RelataError) {
        var hasRowID: [FoldedName: Bool] = [:]
        let list =
            "SELECT m.name, m.wr, m.strict FROM temp.pragma_table_list AS m WHERE m.schema = 'main' AND m.type = 'table'"
            + condition
        try connection.rows(query(list)) { row in
            hasRowID[row.text(at: 0).foldedName] = row.integer(at: 1) == 0
            if row.integer(at: 2) != 0 { strictTables.insert(row.text(at: 0).foldedName) }
        }
        let texts = "SELECT m.name, m.sql FROM sqlite_master AS m WHERE m.type = 'table'\(condition) ORDER BY m.rowid"
        try connection.rows(query(texts)) { row in
            let name = row.text(at: 0)
            let isHidden = hidesReserved ? ReservedNames.isInternal(name) : ReservedNames.isOwn(name)
            guard let hasRowID = hasRowID[name.foldedName], !isHidden else { return }
            numbers[name.foldedName] = tables.count
            tables.append(
                TableDescription(name: name, columns: [], primaryKey: [], hasRowID: hasRowID, sql: row.text(at: 1)))
        }
        try readColumns()
        try readForeignKeys()
        try readIndexes()
        let triggers =
            "SELECT m.tbl_name, m.sql, m.name FROM sqlite_master AS m WHERE m.type = 'trigger'\(holderCondition) ORDER BY m.rowid"
        try connection.rows(query(triggers)) { row in
            // Those of a search index are rebuilt with it.
            if ReservedNames.isOfSearch(row.text(at: 2)) { return }
            if let number = numbers[row.text(at: 0).foldedName] { tables[number].triggers.append(row.text(at: 1)) }
        }
    }

    /// Leaves out the tables that aren't read.
    private var condition: String { condition(on: "name") }

    /// Leaves out parts of tables that aren't read.
    private var holderCondition: String { condition(on: "tbl_name") }

    private func condition(on column: String) -> String {
        names == nil ? "" : " AND m.\(column) COLLATE NOCASE IN \(Dialect.sqlite.rows(ofParameter: 1))"
    }

    /// A query about the tables that are read.
    private func query(_ sql: String) -> SQLStatement {
        SQLStatement(sql, names.map { [.list($0.map { .text($0) })] } ?? [])
    }

    private mutating func readColumns() throws(RelataError) {
        let columns = """
            SELECT m.name, x.name, x.type, x."notnull", x.dflt_value, x.pk, x.hidden
            FROM sqlite_master AS m JOIN temp.pragma_table_xinfo(m.name) AS x
            WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'\(condition) ORDER BY m.rowid, x.cid
            """
        var keys: [Int: [(rank: Int64, name: String)]] = [:]
        try connection.rows(query(columns)) { row in
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
            SELECT m.name, f.id, f."table", f."from", f."to", f.on_delete
            FROM sqlite_master AS m JOIN temp.pragma_foreign_key_list(m.name) AS f
            WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'\(condition)
            ORDER BY m.rowid, f.id DESC, f.seq
            """
        var last: (table: Int, id: Int64)?
        try connection.rows(query(keys)) { row in
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
        var texts: [String: String] = [:]
        let all =
            "SELECT m.name, m.sql FROM sqlite_master AS m WHERE m.type = 'index' AND m.sql IS NOT NULL\(holderCondition)"
        try connection.rows(query(all)) { row in texts[row.text(at: 0)] = row.text(at: 1) }
        let indexes = """
            SELECT m.name, i.name, i."unique", i.origin, i.partial, x.cid, x.name, x."desc"
            FROM sqlite_master AS m JOIN temp.pragma_index_list(m.name) AS i JOIN temp.pragma_index_xinfo(i.name) AS x
            WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%'\(condition) AND x.key
            ORDER BY m.rowid, i.seq DESC, x.seqno
            """
        try connection.rows(query(indexes)) { row in
            guard let number = numbers[row.text(at: 0).foldedName] else { return }
            let name = row.text(at: 1)
            if row.text(at: 3) == "pk" {
                tables[number].isKeyAssigned = false
                return
            }
            if tables[number].indexes.last?.name != name {
                tables[number].indexes.append(
                    IndexDescription(
                        name: name, columns: [], isUnique: row.integer(at: 2) != 0, isPlain: row.integer(at: 4) == 0,
                        isDescending: row.integer(at: 7) != 0, sql: texts[name]))
            }
            let index = tables[number].indexes.count - 1
            if row.integer(at: 5) < 0 { tables[number].indexes[index].isPlain = false }
            tables[number].indexes[index].columns.append(row.text(at: 6))
        }
    }
}
