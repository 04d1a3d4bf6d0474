/// A search index of one table, and the SQL that creates and updates it.
///
/// On SQLite, it is an FTS5 table beside the table. Triggers in plain SQL, which work in any program, record the keys
/// of changed rows; Relata updates the words of these rows before each commit. If the key isn't a rowid, a table gives
/// each key a number. On PostgreSQL, it is a generated column with an index.
package struct SearchIndex: Hashable, Sendable {
    /// The name of the searched table.
    package let table: String
    /// The searched columns.
    package let columns: [String]
    /// The columns of the key.
    package let key: [String]
    /// Whether the key is FTS5's number of a row.
    package let isKeyNumber: Bool

    /// The column of a table on PostgreSQL that holds its words.
    package static let column = "relata_search"
    /// The prefix of the tables and triggers that belong to an index on SQLite.
    package static let prefix = "relata_search_"
    private static let wordsSuffix = "_index"

    /// The index of a table that declares one.
    package init?(_ table: Table) {
        guard let names = table.entity.search, !names.isEmpty else { return nil }
        self.table = table.sqlName
        columns = names.compactMap { name in table.columns.first { $0.property == name }?.name }
        key = table.keyColumnNames
        isKeyNumber = table.hasNumberKey
    }

    /// The index of a file by the names of its own tables' columns.
    ///
    /// - Parameters:
    ///   - name: The name of the table of words.
    ///   - columns: The columns of the table of words.
    ///   - changes: The columns of the table of changes.
    ///   - hasNumbers: Whether the index gives rows numbers.
    package init?(words name: String, columns: [String], changes: [String], hasNumbers: Bool) {
        guard let table = Self.table(ofWords: name), !changes.isEmpty else { return nil }
        self.table = table
        self.columns = columns.filter { $0.hasPrefix("c_") }.map { String($0.dropFirst(2)) }
        key = changes.filter { $0.hasPrefix("k_") }.map { String($0.dropFirst(2)) }
        isKeyNumber = !hasNumbers
    }

    /// The name of the table that a table of words belongs to; `nil` for another name.
    package static func table(ofWords name: String) -> String? {
        guard name.hasPrefix(prefix), name.hasSuffix(wordsSuffix), name.count > prefix.count + wordsSuffix.count else {
            return nil
        }
        return String(name.dropFirst(prefix.count).dropLast(wordsSuffix.count))
    }

    // MARK: Names

    /// The table of FTS5.
    package var words: String { Self.prefix + table + Self.wordsSuffix }
    /// The keys of rows that changed.
    package var changes: String { Self.changes(of: table) }
    /// The numbers of keys that aren't any.
    package var numbers: String { Self.numbers(of: table) }

    /// The name of the table of changes that belongs to a table.
    package static func changes(of table: String) -> String { prefix + table + "_changes" }
    /// The name of the table of numbers that belongs to a table.
    package static func numbers(of table: String) -> String { prefix + table + "_numbers" }

    private var dialect: Dialect { .sqlite }
    private func quote(_ name: String) -> String { dialect.quote(name) }
    private func literal(_ text: String) -> String { SchemaDDL.literal(.text(text)) }
    private var wordColumns: [String] { columns.map { "c_" + $0 } }
    private var keyColumns: [String] { key.map { "k_" + $0 } }
    private var keyList: String { dialect.list(keyColumns) }

    /// The names of the triggers.
    private var triggers: [String] { ["inserted", "updated", "deleted"].map { "\(Self.prefix)\(table)_\($0)" } }

    /// FTS5's name of a column in a search.
    static func wordColumn(_ name: String) -> String { "c_" + name }

    // MARK: Making

    /// The statements that make the index, without words.
    package func creation(_ dialect: Dialect) -> [String] {
        guard dialect == .sqlite else {
            let arguments = dialect.list(columns)
            let table = dialect.quote(table)
            return [
                "ALTER TABLE \(table) ADD COLUMN \(Self.column) tsvector "
                    + "GENERATED ALWAYS AS (relata.search_vector(ARRAY[\(arguments)]::text[])) STORED",
                "CREATE INDEX \(dialect.quote(indexName)) ON \(table) USING gin (\(Self.column))",
                "COMMENT ON COLUMN \(table).\(Self.column) IS \(literal(comment))",
            ]
        }
        let keys = keyColumns.map { quote($0) + " NOT NULL" } + ["UNIQUE (\(keyList))"]
        let numbers =
            isKeyNumber
            ? []
            : ["CREATE TABLE \(quote(numbers)) (number INTEGER PRIMARY KEY, \(keys.joined(separator: ", ")))"]
        return [
            "CREATE VIRTUAL TABLE \(quote(words)) USING fts5(\(dialect.list(wordColumns)), tokenize = 'ascii')",
            "CREATE TABLE \(quote(changes)) (\(keyList))",
        ] + numbers + makingTriggers
    }

    private var makingTriggers: [String] {
        let values = { (row: String) in "(\(dialect.list(key, of: row)))" }
        let note = "INSERT INTO \(quote(changes)) VALUES "
        let watched = key + columns
        let isChanged = watched.map { "OLD.\(quote($0)) IS NOT NEW.\(quote($0))" }.joined(separator: " OR ")
        let events = [
            ("INSERT", "", values("NEW")),
            ("UPDATE OF \(dialect.list(watched))", " WHEN \(isChanged)", values("OLD") + ", " + values("NEW")),
            ("DELETE", "", values("OLD")),
        ]
        return zip(triggers, events).map { name, event in
            "CREATE TRIGGER \(quote(name)) AFTER \(event.0) ON \(quote(table))\(event.1) BEGIN \(note)\(event.2); END"
        }
    }

    /// The identity of PostgreSQL's column, which differs for another declaration, or another version of the function.
    private var comment: String {
        "words of \(columns.joined(separator: ", ")), version \(PostgresFunctions.searchVersion)"
    }

    /// Whether the database has just this index: a query that has a row then.
    package func isThere(_ dialect: Dialect) -> String {
        guard dialect == .sqlite else {
            return """
                SELECT 1 FROM pg_attribute AS a WHERE a.attrelid = to_regclass(\(literal(dialect.quote(table)))) \
                AND a.attname = '\(Self.column)' AND NOT a.attisdropped \
                AND col_description(a.attrelid, a.attnum) = \(literal(comment))
                """
        }
        let statements = creation(dialect)
        let list = statements.map(literal).joined(separator: ", ")
        return "SELECT 1 WHERE (SELECT count(*) FROM sqlite_master WHERE sql IN (\(list))) = \(statements.count)"
    }

    /// The name of PostgreSQL's index.
    private var indexName: String {
        IndexNames.name(table: table, columns: [Self.column], isUnique: false)
    }

    /// The statements that drop an index, as far as it exists.
    package func removal(_ dialect: Dialect) -> [String] {
        guard dialect == .sqlite else {
            return ["ALTER TABLE IF EXISTS \(dialect.quote(table)) DROP COLUMN IF EXISTS \(Self.column)"]
        }
        return triggers.map { "DROP TRIGGER IF EXISTS \(quote($0))" }
            + [words, changes, numbers].map { "DROP TABLE IF EXISTS \(quote($0))" }
    }

    /// The statements that fill a new index with the words of all rows. PostgreSQL does so automatically.
    package func filling(_ dialect: Dialect) -> [String] {
        guard dialect == .sqlite else { return [] }
        if isKeyNumber {
            return [insertion(of: "t.\(quote(key[0]))", from: "\(quote(table)) AS t")]
        }
        let all = "INSERT INTO \(quote(numbers)) (\(keyList)) SELECT \(dialect.list(key)) FROM \(quote(table))"
        return [
            all, insertion(of: "n.number", from: "\(quote(table)) AS t CROSS JOIN \(quote(numbers)) AS n ON \(isSame)"),
        ]
    }

    // MARK: Keeping current

    /// Returns a row if the index needs an update.
    package var question: String { "SELECT 1 FROM \(quote(changes)) LIMIT 1" }

    /// The statements that update the words of changed rows.
    package var update: [String] {
        let changed = "(SELECT \(keyList) FROM \(quote(changes)))"
        let forget = "DELETE FROM \(quote(changes))"
        if isKeyNumber {
            let row = "t.\(quote(key[0]))"
            return [
                "DELETE FROM \(quote(words)) WHERE rowid IN \(changed)",
                insertion(of: row, from: "\(quote(table)) AS t WHERE \(row) IN \(changed)"), forget,
            ]
        }
        let own = dialect.tuple(keyColumns, of: "n")
        let rows = "SELECT 1 FROM \(quote(table)) AS t WHERE \(isSame)"
        return [
            "INSERT OR IGNORE INTO \(quote(numbers)) (\(keyList)) SELECT \(keyList) FROM \(quote(changes))",
            "DELETE FROM \(quote(words)) WHERE rowid IN "
                + "(SELECT n.number FROM \(quote(numbers)) AS n WHERE \(own) IN \(changed))",
            insertion(
                of: "n.number",
                from: "\(quote(numbers)) AS n CROSS JOIN \(quote(table)) AS t ON \(isSame) WHERE \(own) IN \(changed)"),
            "DELETE FROM \(quote(numbers)) AS n WHERE \(own) IN \(changed) AND NOT EXISTS (\(rows))",
            forget,
        ]
    }

    /// Whether a number belongs to a row of the table. The table's own column determines the comparison of keys.
    private var isSame: String {
        zip(key, keyColumns).map { "t.\(quote($0)) = n.\(quote($1))" }.joined(separator: " AND ")
    }

    private func insertion(of number: String, from rows: String) -> String {
        let values = columns.map { "relata_search_words(t.\(quote($0)))" }.joined(separator: ", ")
        return "INSERT OR REPLACE INTO \(quote(words)) (rowid, \(dialect.list(wordColumns))) "
            + "SELECT \(number), \(values) FROM \(rows)"
    }

    // MARK: Finding

    /// The rows that FTS5 finds, for `FROM`: each with its number, its relevance and its key.
    ///
    /// - Parameters:
    ///   - search: The parameter with the search.
    ///   - limit: The parameter with the number of wanted best matches; `nil` for all.
    ///   - text: The parameter with the searched text, which each row returns; `nil` if it isn't needed.
    func found(_ search: String, best limit: String? = nil, telling text: String? = nil) -> String {
        let words = quote(words)
        let order = limit.map { " ORDER BY w.rank, w.rowid LIMIT \($0)" } ?? ""
        let told = text.map { ", \($0) AS search" } ?? ""
        let rows = { (key: String) in
            "(SELECT w.rowid AS number, -w.rank AS relevance\(told)\(key) FROM \(words) AS w "
                + "WHERE w.\(words) MATCH \(search)\(order))"
        }
        if isKeyNumber { return rows(", w.rowid AS k0") }
        let keys = keyColumns.enumerated().map { "n.\(quote($1)) AS k\($0)" }.joined(separator: ", ")
        return "(SELECT f.*, \(keys) FROM \(rows("")) AS f "
            + "CROSS JOIN \(quote(numbers)) AS n ON n.number = f.number)"
    }

    /// The keys of the rows that FTS5 finds.
    func foundKeys(_ search: String) -> String {
        "(SELECT \(key.indices.map { "k\($0)" }.joined(separator: ", ")) FROM \(found(search)))"
    }

    // MARK: Checking

    /// The rows of the table with missing or wrong words in the index: their keys.
    package var missing: String {
        let isWrong = zip(columns, wordColumns).map {
            "w.\(quote($1)) IS NOT relata_search_words(t.\(quote($0)))"
        }.joined(separator: " OR ")
        let keys = dialect.list(key, of: "t")
        if isKeyNumber {
            return "SELECT \(keys) FROM \(quote(table)) AS t LEFT JOIN \(quote(words)) AS w "
                + "ON w.rowid = t.\(quote(key[0])) WHERE w.rowid IS NULL OR \(isWrong)"
        }
        return "SELECT \(keys) FROM \(quote(table)) AS t LEFT JOIN \(quote(numbers)) AS n ON \(isSame) "
            + "LEFT JOIN \(quote(words)) AS w ON w.rowid = n.number WHERE w.rowid IS NULL OR \(isWrong)"
    }

    /// The number of rows that are in the index but not in the table.
    package var excess: String {
        if isKeyNumber {
            return "SELECT count(*) FROM \(quote(words)) AS w WHERE NOT EXISTS "
                + "(SELECT 1 FROM \(quote(table)) AS t WHERE t.\(quote(key[0])) = w.rowid)"
        }
        return "SELECT count(*) FROM \(quote(words)) AS w WHERE NOT EXISTS "
            + "(SELECT 1 FROM \(quote(numbers)) AS n CROSS JOIN \(quote(table)) AS t ON \(isSame) "
            + "WHERE n.number = w.rowid)"
    }
}

extension Table {
    /// Whether its key is one whole number.
    var hasNumberKey: Bool { keyColumns.count == 1 && columns[keyColumns[0]].type.storage == .integer }
}
