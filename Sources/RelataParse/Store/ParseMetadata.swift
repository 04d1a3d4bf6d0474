import Foundation
import RelataCore
import RelataSQLite

/// What the server keeps in a file besides the classes' own tables.
enum ParseMetadata {
    private static let table = "\"relata_parse_classes\""

    /// Makes the tables, if they aren't there.
    static func create(on connection: Connection) throws(RelataError) {
        try connection.execute("CREATE TABLE IF NOT EXISTS \(table) (name TEXT PRIMARY KEY, options TEXT NOT NULL)")
        try RequestLog.create(on: connection)
    }

    /// The number that SQLite raises whenever a table is changed.
    static func version(of connection: Connection) throws(RelataError) -> Int64 {
        guard case .integer(let version)? = try connection.value(SQLStatement("PRAGMA schema_version")) else {
            return 0
        }
        return version
    }

    /// What clients know besides the tables, by class.
    static func options(on connection: Connection) throws(RelataError) -> [String: ClassOptions] {
        let exists = SQLStatement("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'relata_parse_classes'")
        guard try connection.value(exists) != nil else { return [:] }
        var options: [String: ClassOptions] = [:]
        try connection.rows(SQLStatement("SELECT name, options FROM \(table)")) { (row) throws(RelataError) in
            let name = row.text(at: 0)
            do {
                options[name] = try JSONDecoder().decode(ClassOptions.self, from: Data(row.text(at: 1).utf8))
            } catch {
                throw .corruptStore("what is known of the class \(name) can't be read: \(error)")
            }
        }
        return options
    }

    /// Replaces what is known of classes where it differs.
    static func write(
        _ options: [String: ClassOptions], since old: [String: ClassOptions], on connection: Connection
    ) throws(RelataError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let nothing = ClassOptions()
        let names = Set(options.filter { old[$0.key] != $0.value }.keys).union(old.keys.filter { options[$0] == nil })
        for name in names.sorted() {
            guard let known = options[name], known != nothing else {
                try connection.execute(
                    SQLStatement("DELETE FROM \(table) WHERE name = ?1", [.value(.text(name))]))
                continue
            }
            guard let data = try? encoder.encode(known) else {
                throw .invalidUse("what is known of the class \(name) can't be written as JSON")
            }
            try connection.execute(
                SQLStatement(
                    "REPLACE INTO \(table) (name, options) VALUES (?1, ?2)",
                    [.value(.text(name)), .value(.text(String(decoding: data, as: UTF8.self)))]))
        }
    }

    /// Gives the tables another number: a change of options alone changes no table, but must be seen by everybody who
    /// knows the tables by number.
    ///
    /// - Returns: The number.
    static func renew(_ old: Int64, on connection: Connection) throws(RelataError) -> Int64 {
        let version = try version(of: connection)
        if version != old { return version }
        try connection.execute("PRAGMA schema_version = \(version + 1)")
        return version + 1
    }
}
