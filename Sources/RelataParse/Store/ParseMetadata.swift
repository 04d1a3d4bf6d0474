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

    /// Replaces them.
    static func write(_ options: [String: ClassOptions], on connection: Connection) throws(RelataError) {
        try connection.execute("DELETE FROM \(table)")
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        for (name, options) in options.sorted(by: { $0.key < $1.key }) where options != ClassOptions() {
            guard let data = try? encoder.encode(options) else {
                throw .invalidUse("what is known of the class \(name) can't be written as JSON")
            }
            try connection.execute(
                SQLStatement(
                    "INSERT INTO \(table) (name, options) VALUES (?1, ?2)",
                    [.value(.text(name)), .value(.text(String(decoding: data, as: UTF8.self)))]))
        }
        // A change of options alone changes no table, but must be seen by everybody who knows the tables by number.
        try connection.execute("PRAGMA schema_version = \(try version(of: connection) + 1)")
    }
}
