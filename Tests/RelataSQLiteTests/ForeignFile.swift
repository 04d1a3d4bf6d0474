import RelataCore
import TestSupport

@testable import RelataEngine
@testable import RelataSQLite

/// A random file as other programs make them: every kind of key, collations, affinities, foreign keys to unique columns,
/// several of them in one column, and every action.
struct ForeignFile {
    private(set) var tables: [TableText] = []
    private(set) var keys: [KeyText] = []
    private(set) var indexes: [(table: Int, column: Int)] = []

    struct ColumnText {
        let name: String
        var type: String
        var collation: String
        var isRequired = false
        var defaultValue: Value?

        var sql: String {
            var parts = [name, type]
            if collation != "BINARY" { parts.append("COLLATE \(collation)") }
            if isRequired { parts.append("NOT NULL") }
            if let defaultValue { parts.append("DEFAULT \(defaultValue.literal)") }
            return parts.filter { !$0.isEmpty }.joined(separator: " ")
        }
    }

    struct TableText {
        let name: String
        var columns: [ColumnText] = []
        var primaryKey: [Int] = []
        var isRowNumber = false
        var hasRowID = true
        var unique: [Int] = []
    }

    struct KeyText {
        let source: Int
        let columns: [Int]
        let target: Int
        let targetColumns: [Int]
        let action: String
        let isDeferred: Bool
    }

    /// A placeholder after each foreign key that is checked at once; a copy of the file replaces it to check the key at
    /// the end.
    static let immediate = "/*at once*/"

    init(_ random: inout SeededGenerator) {
        for number in 0..<Int.random(in: 2...5, using: &random) { tables.append(Self.table(number, &random)) }
        for _ in 0..<Int.random(in: 1...7, using: &random) { addKey(&random) }
        for key in keys where random.chance(25) { indexes.append((key.source, key.columns[0])) }
    }

    private static func type(_ random: inout SeededGenerator) -> String {
        ["INTEGER", "INTEGER", "TEXT", "TEXT", "REAL", "NUMERIC", "BLOB", ""].randomElement(using: &random) ?? ""
    }

    private static func collation(_ random: inout SeededGenerator) -> String {
        random.chance(60) ? "BINARY" : ["NOCASE", "RTRIM"].randomElement(using: &random) ?? "BINARY"
    }

    private static func table(_ number: Int, _ random: inout SeededGenerator) -> TableText {
        var table = TableText(name: "t\(number)")
        func column(_ name: String, _ type: String, _ random: inout SeededGenerator) -> Int {
            table.columns.append(
                ColumnText(
                    name: name, type: type, collation: type == "TEXT" || type == "" ? collation(&random) : "BINARY"))
            return table.columns.count - 1
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0, 1, 2:
            table.primaryKey = [column("id", "INTEGER", &random)]
            table.columns[0].collation = "BINARY"
            table.isRowNumber = true
        case 3, 4: table.primaryKey = [column("code", random.chance(70) ? "TEXT" : type(&random), &random)]
        case 5:
            table.primaryKey = [column("a", type(&random), &random), column("b", type(&random), &random)]
        case 6:
            table.primaryKey = [column("a", "TEXT", &random)]
            if random.chance(50) { table.primaryKey.append(column("b", type(&random), &random)) }
            table.hasRowID = false
        default: break
        }
        for part in table.primaryKey where !table.isRowNumber { table.columns[part].isRequired = true }
        if table.primaryKey.isEmpty || random.chance(40) { table.unique = [column("u", type(&random), &random)] }
        _ = column("note", "TEXT", &random)
        return table
    }

    private mutating func addKey(_ random: inout SeededGenerator) {
        let source = Int.random(in: tables.indices, using: &random)
        let target = Int.random(in: tables.indices, using: &random)
        let candidates = [tables[target].primaryKey, tables[target].unique].filter { !$0.isEmpty }
        guard let pointed = candidates.randomElement(using: &random) else { return }
        var columns: [Int] = []
        var isFree = true
        for part in pointed {
            // An existing column: one of another foreign key, the primary key or a unique one.
            let reused = random.chance(20) ? tables[source].columns.indices.randomElement(using: &random) : nil
            if let reused, !columns.contains(reused), !(source == target && pointed.contains(reused)) {
                columns.append(reused)
                if tables[source].primaryKey.contains(reused) { isFree = false }
                continue
            }
            let other = tables[target].columns[part]
            let isSame = random.chance(60)
            let type = isSame ? other.type : Self.type(&random)
            tables[source].columns.append(
                ColumnText(
                    name: "c\(tables[source].columns.count)", type: type,
                    collation: random.chance(70) ? other.collation : Self.collation(&random)))
            columns.append(tables[source].columns.count - 1)
        }
        var actions = ["CASCADE", "CASCADE", "CASCADE", "NO ACTION", "RESTRICT"]
        // An unset key has no object any more, and a required column can't be unset: only CASCADE and refusals remain.
        if isFree { actions += ["SET NULL", "SET NULL", "SET DEFAULT"] }
        let action = actions.randomElement(using: &random) ?? "CASCADE"
        if action == "SET DEFAULT", random.chance(50) {
            for column in columns { tables[source].columns[column].defaultValue = random.chance(50) ? 1 : "a" }
        }
        keys.append(
            KeyText(
                source: source, columns: columns, target: target, targetColumns: pointed, action: action,
                isDeferred: random.chance(30)))
    }

    // MARK: SQL

    var statements: [String] {
        tables.indices.map { number in
            let table = tables[number]
            func names(_ columns: [Int]) -> String { columns.map { table.columns[$0].name }.joined(separator: ", ") }
            var parts = table.columns.map(\.sql)
            if !table.primaryKey.isEmpty { parts.append("PRIMARY KEY (\(names(table.primaryKey)))") }
            if !table.unique.isEmpty { parts.append("UNIQUE (\(names(table.unique)))") }
            for key in keys where key.source == number {
                let target = tables[key.target]
                parts.append(
                    "FOREIGN KEY (\(names(key.columns))) REFERENCES \(target.name) "
                        + "(\(key.targetColumns.map { target.columns[$0].name }.joined(separator: ", "))) "
                        + "ON DELETE \(key.action) "
                        + (key.isDeferred ? "DEFERRABLE INITIALLY DEFERRED" : Self.immediate))
            }
            return "CREATE TABLE \(table.name) (\(parts.joined(separator: ", ")))"
                + (table.hasRowID ? "" : " WITHOUT ROWID")
        }
            + indexes.enumerated().map { number, index in
                let table = tables[index.table]
                return "CREATE INDEX i\(number) ON \(table.name) (\(table.columns[index.column].name))"
            }
    }

    /// Makes the tables and their rows; SQLite itself refuses dangling references.
    func write(to connection: Connection, _ random: inout SeededGenerator) throws {
        for statement in statements { try connection.execute(statement) }
        for table in tables {
            for _ in 0..<Int.random(in: 1...7, using: &random) {
                let values = table.columns.indices.map { column -> Value in
                    let isKey = table.primaryKey.contains(column) || table.unique.contains(column)
                    return isKey ? value(of: table.columns[column], &random) : column == 1 ? "note" : .null
                }
                let places = values.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
                // A row is left out if it already exists, or if its own key must refer to something.
                try? connection.execute(
                    SQLStatement("INSERT INTO \(table.name) VALUES (\(places))", values.map { .value($0) }))
            }
        }
        // References are set afterwards, one row at a time, if they have a target.
        for _ in 0..<2 {
            for key in keys.shuffled(using: &random) {
                let (source, target) = (tables[key.source], tables[key.target])
                guard !key.columns.contains(where: source.primaryKey.contains) else { continue }
                let targets = try connection.values(
                    SQLStatement(
                        "SELECT \(key.targetColumns.map { target.columns[$0].name }.joined(separator: ", ")) "
                            + "FROM \(target.name)"))
                guard !targets.isEmpty else { continue }
                let identity = source.primaryKey.isEmpty ? ["rowid"] : source.primaryKey.map { source.columns[$0].name }
                let rows = try connection.values(
                    SQLStatement("SELECT \(identity.joined(separator: ", ")) FROM \(source.name)"))
                for row in rows where random.chance(60) {
                    guard let values = targets.randomElement(using: &random) else { continue }
                    let held = zip(values, key.targetColumns).map { spelling(of: $0, in: target.columns[$1], &random) }
                    let changes = key.columns.enumerated().map { "\(source.columns[$1].name) = ?\($0 + 1)" }
                    let condition = identity.enumerated().map { "\($1) = ?\(held.count + $0 + 1)" }
                    try? connection.execute(
                        SQLStatement(
                            "UPDATE \(source.name) SET \(changes.joined(separator: ", ")) "
                                + "WHERE \(condition.joined(separator: " AND "))", (held + row).map { .value($0) }))
                }
            }
        }
    }

    private func value(of column: ColumnText, _ random: inout SeededGenerator) -> Value {
        let number = Int64.random(in: 1...6, using: &random)
        switch column.type {
        case "INTEGER", "REAL", "NUMERIC": return random.chance(95) || column.name == "id" ? .integer(number) : "x"
        case "TEXT":
            return .text(random.chance(50) ? "\(number)" : ["a", "B", "c ", "Dd"].randomElement(using: &random) ?? "a")
        default:
            return random.chance(70) ? .integer(number) : .text(["a", "B", "2"].randomElement(using: &random) ?? "a")
        }
    }

    /// Another way to write a value that a column may take for the same.
    private func spelling(of value: Value, in column: ColumnText, _ random: inout SeededGenerator) -> Value {
        switch value {
        case .text(let text) where column.collation == "NOCASE" && random.chance(60):
            return .text(random.chance(50) ? text.uppercased() : text.lowercased())
        case .text(let text) where column.collation == "RTRIM" && random.chance(60): return .text(text + "  ")
        case .text(let text) where random.chance(20): return Int64(text).map { .integer($0) } ?? value
        case .integer(let number) where random.chance(40):
            return random.chance(90) ? .text("\(number)") : .text("0\(number)")
        default: return value
        }
    }

    // MARK: Keys

    /// Whether a table has foreign keys that share a column, and one of them changes it.
    func sharesColumns(_ table: String) -> Bool {
        keys.indices.contains { index in
            let key = keys[index]
            return tables[key.source].name == table && key.action.hasPrefix("SET")
                && keys.indices.contains { other in
                    other != index && keys[other].source == key.source
                        && keys[other].columns.contains(where: key.columns.contains)
                }
        }
    }

    /// Whether a foreign key of a table sets defaults, which isn't a delete rule.
    func setsDefaults(_ table: String) -> Bool {
        keys.contains { tables[$0.source].name == table && $0.action == "SET DEFAULT" }
    }

    /// Whether something refers to a column of a table that a foreign key unsets.
    func unsetsTargets(_ table: String) -> Bool {
        keys.contains { key in
            tables[key.source].name == table
                && keys.contains { other in
                    other.source == key.target && other.action.hasPrefix("SET")
                        && other.columns.contains(where: key.targetColumns.contains)
                }
        }
    }

    /// Whether a table refers to a column that SQLite converts on account of another foreign key.
    func refersToConverted(_ table: String) -> Bool {
        keys.indices.contains { index in
            tables[keys[index].source].name == table
                && keys.indices.contains { other in
                    other != index && keys[other].target == keys[index].target
                        && !converted(by: keys[other]).isDisjoint(with: keys[index].targetColumns)
                }
        }
    }

    /// The target's columns that SQLite converts to the affinity of an index on the source's columns.
    private func converted(by key: KeyText) -> Set<Int> {
        let (source, target) = (tables[key.source], tables[key.target])
        let numbers = ["INTEGER", "REAL", "NUMERIC"]
        return Set(
            zip(key.columns, key.targetColumns).filter { column, pointed in
                let (own, other) = (source.columns[column].type, target.columns[pointed].type)
                let isIndexed =
                    source.primaryKey.first == column || source.unique.first == column
                    || indexes.contains { $0.table == key.source && $0.column == column }
                return isIndexed
                    && (numbers.contains(own) ? !numbers.contains(other) : own == "TEXT" && other != "TEXT")
            }.map(\.1))
    }

    /// Whether rows of a table are such that SQLite reads one of its foreign keys in two ways.
    func hasExceptions(_ table: String, in connection: Connection) throws -> Bool {
        for key in keys where tables[key.source].name == table {
            let (source, target) = (tables[key.source], tables[key.target])
            func all(_ left: (Int) -> String, _ right: String) -> String {
                zip(key.columns, key.targetColumns).map { column, pointed in
                    "\(left(pointed))t.\(target.columns[pointed].name) = \(right)s.\(source.columns[column].name)"
                }.joined(separator: " AND ")
            }
            let isReferring = all({ _ in "" }, "+")
            let isCounted = all({ _ in "" }, "")
            let isFound = all({ target.isRowNumber && target.primaryKey == [$0] ? "" : "+" }, "")
            let pairs = try connection.value(
                SQLStatement(
                    "SELECT count(*) FROM \(source.name) AS s NOT INDEXED CROSS JOIN \(target.name) AS t NOT INDEXED "
                        + "WHERE ((\(isReferring)) IS TRUE) + ((\(isCounted)) IS TRUE) + ((\(isFound)) IS TRUE) IN (1, 2)"
                ))
            if pairs != 0 { return true }
        }
        return false
    }
}

extension Value {
    /// The value in SQL.
    fileprivate var literal: String {
        switch self {
        case .text(let text): "'\(text)'"
        default: description
        }
    }
}
