import Foundation
import RelataCore
import RelataRecords
import RelataEngine

/// The server's own tables in a file.
enum ParseMetadata {
    private static let table = ClassOptionsTable.quotedName

    /// Creates the tables, if they don't exist.
    static func create(on connection: Connection) throws(RelataError) {
        if try !connection.hasTable(ClassOptionsTable.name) { try connection.execute(ClassOptionsTable.creation) }
        try KeptRequests.create(on: connection)
    }

    /// The facts about classes besides their tables, by class.
    static func options(on connection: Connection) throws(RelataError) -> [String: ClassOptions] {
        guard try connection.hasTable(ClassOptionsTable.name) else { return [:] }
        var options: [String: ClassOptions] = [:]
        try connection.rows(SQLStatement("SELECT name, options FROM \(table)")) { (row) throws(RelataError) in
            let name = row.text(at: 0)
            do {
                options[name] = try JSONDecoder().decode(ClassOptions.self, from: Data(row.text(at: 1).utf8))
            } catch {
                throw .corruptStore("the metadata of the class \(name) can't be read: \(error)")
            }
        }
        return options
    }

    /// Replaces the facts of changed classes.
    static func write(_ options: OptionsDraft, on connection: Connection) throws(RelataError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let nothing = ClassOptions()
        let dialect = connection.dialect
        for name in options.changed.sorted() {
            guard let known = options[name], known != nothing else {
                try connection.execute(
                    SQLStatement("DELETE FROM \(table) WHERE name = \(dialect.parameter(1))", [.value(.text(name))]))
                continue
            }
            guard let data = try? encoder.encode(known) else {
                throw .invalidUse("the metadata of the class \(name) can't be written as JSON")
            }
            try connection.execute(
                SQLStatement(
                    "INSERT INTO \(table) (name, options) VALUES (\(dialect.parameter(1)), \(dialect.parameter(2))) "
                        + "ON CONFLICT (name) DO UPDATE SET options = excluded.options",
                    [.value(.text(name)), .value(.text(String(decoding: data, as: UTF8.self)))]))
        }
    }
}
