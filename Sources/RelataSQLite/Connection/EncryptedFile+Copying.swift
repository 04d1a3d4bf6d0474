#if SQLCipher
import CRelataSQLite
import Foundation
import RelataCSQLite
import RelataCore
import RelataEngine

extension EncryptedFile {
    /// Copies one state of a file into a new one with another key, or without one, or from a plain file.
    ///
    /// - Parameters:
    ///   - path: The file, which may be in use.
    ///   - key: Its key; `nil` for a plain file.
    ///   - copy: The file to create.
    ///   - newKey: The key of the copy; `nil` for a plain file.
    package static func copy(
        _ path: String, key: EncryptionKey?, to copy: String, key newKey: EncryptionKey?
    ) throws(RelataError) {
        try RegularFile.require(path)
        guard !FileManager.default.fileExists(atPath: copy) else {
            throw .fileAccess(path: copy, "already exists, and is left unchanged: give the copy another name")
        }
        // A read-only connection would leave its log beside the file.
        let source = try Connection(path: path, key: key)
        defer { try? source.close() }
        // The text encoding is fixed with the first table.
        var settings: [(name: String, value: Value)] = []
        for name in ["encoding", "auto_vacuum", "user_version", "application_id"] {
            if let value = try source.value(SQLStatement("PRAGMA \(name)")) { settings.append((name, value)) }
        }
        do throws(RelataError) {
            let connection = try Connection(path: copy, key: newKey)
            defer { try? connection.close() }
            for (name, value) in settings { try connection.execute("PRAGMA \(name) = \(literal(value))") }
            try fill(connection, from: path, key)
            try connection.close()
        } catch {
            for suffix in ["", "-journal", "-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: copy + suffix)
            }
            throw error
        }
    }

    private static func literal(_ value: Value) -> String {
        if case .integer(let number) = value {
            "\(number)"
        } else if case .text(let text) = value {
            "'\(text)'"
        } else {
            "0"
        }
    }

    private static func fill(
        _ connection: Connection, from path: String, _ key: EncryptionKey?
    ) throws(RelataError) {
        // The rows were accepted before. Each is copied unchanged, without side effects.
        let sqlite = try connection.sqlite
        try sqlite.check(relata_suspend_triggers(sqlite.handle), nil)
        try connection.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
        // An empty key means none; without the keyword, the copy would keep its own key.
        let file = SQLiteDriver.fileName(path)
        try connection.execute(
            SQLStatement("ATTACH ? AS source KEY ?", [.value(.text(file)), .value(.blob(Data(key?.bytes ?? [])))]))
        try connection.execute("BEGIN")
        do throws(RelataError) {
            _ = try connection.value(SQLStatement("SELECT sqlcipher_export('main', 'source')"))
        } catch {
            // SQLCipher reports that it failed, without a reason.
            let check = try? connection.value(SQLStatement("PRAGMA source.quick_check(1)"))
            throw check == .text("ok") ? error : .corruptStore("\(path) is damaged: restore it from a copy")
        }
        try keepRowIDs(connection)
        try connection.execute("COMMIT; DETACH source")
    }

    /// Restores the rowids of tables without keys: SQLCipher numbers them again.
    private static func keepRowIDs(_ connection: Connection) throws(RelataError) {
        let tables = try connection.values(
            SQLStatement(
                "SELECT name FROM temp.pragma_table_list WHERE schema = 'source' AND type = 'table' AND wr = 0 AND name NOT LIKE 'sqlite~_%' ESCAPE '~'"
            ))
        for case .text(let table)? in tables.map(\.first) {
            let columns = try connection.values(
                SQLStatement(
                    "SELECT name, hidden FROM temp.pragma_table_xinfo(?, 'source')", [.value(.text(table))]))
            var names: Set<FoldedName> = []
            var stored: [String] = []
            for column in columns {
                guard case .text(let name) = column[0] else { continue }
                names.insert(name.foldedName)
                // Computed columns can't be written.
                if column[1] == .integer(0) { stored.append(Dialect.sqlite.quote(name)) }
            }
            // The rowids of a table with columns of all three names are invisible.
            guard let rowID = ["rowid", "_rowid_", "oid"].first(where: { !names.contains($0.foldedName) }) else {
                continue
            }
            let name = Dialect.sqlite.quote(table)
            let differ = try connection.value(
                SQLStatement(
                    "SELECT EXISTS (SELECT \(rowID) FROM source.\(name) EXCEPT SELECT \(rowID) FROM main.\(name))"))
            guard differ == .integer(1) else { continue }
            let list = ([rowID] + stored).joined(separator: ", ")
            try connection.execute("DELETE FROM main.\(name)")
            try connection.execute("INSERT INTO main.\(name) (\(list)) SELECT \(list) FROM source.\(name)")
        }
    }
}
#endif
