import Foundation
import RelataCSQLite
import RelataCore
import RelataEngine

/// Changing SQLite's tables.
extension SQLiteDriver {
    /// Functions belong to the connection.
    package func makeReady(_ connection: Connection) throws(RelataError) {}

    package func isReadOnly(_ connection: Connection) throws(RelataError) -> Bool {
        guard sqlite3_db_readonly(handle, "main") == 0 else { return true }
        return try connection.value(SQLStatement("PRAGMA query_only")) == .integer(1)
    }

    /// Tables can be rebuilt only while SQLite doesn't enforce foreign keys, which can't be set in a transaction.
    package func changingTables<Result>(_ connection: Connection, _ body: () throws -> Result) throws -> Result {
        guard !connection.isInTransaction else {
            throw RelataError.invalidUse("a migration needs its own transaction: open the store outside of one")
        }
        try checkIsInPlace()
        let wasOn = try connection.value(SQLStatement("PRAGMA foreign_keys")) == .integer(1)
        try connection.execute("PRAGMA foreign_keys = OFF")
        defer {
            if wasOn { try? connection.execute("PRAGMA foreign_keys = ON") }
            connection.clearStatements()
        }
        return try body()
    }

    /// Each statement waits for those of others.
    package func makingOwnTables(_ connection: Connection, _ body: () throws -> Void) throws { try body() }

    /// One transaction writes at a time.
    package func beginChangingTables(_ connection: Connection) throws(RelataError) {}

    package func holdRows(of table: String, _ connection: Connection) throws(RelataError) {}

    /// Renaming a rebuilt table must not change references to the table that it replaces.
    package func completing(
        _ connection: Connection, _ body: () throws(RelataError) -> Void
    ) throws(RelataError) {
        try connection.execute("PRAGMA legacy_alter_table = ON")
        defer { try? connection.execute("PRAGMA legacy_alter_table = OFF") }
        try body()
    }

    /// Rows are renumbered in rebuilt tables, so numbers are compared.
    package func danglingReferences(_ connection: Connection) throws(RelataError) -> [[String]: Int] {
        var counts: [[String]: Int] = [:]
        try connection.rows(SQLStatement("SELECT \"table\", \"parent\" FROM temp.pragma_foreign_key_check")) { row in
            counts[[row.text(at: 0), row.text(at: 1)], default: 0] += 1
        }
        return counts
    }

    /// Lets SQLite compile views, and statements that fire triggers: only then does it check the names in them.
    package func brokenDependents(_ connection: Connection) throws(RelataError) -> [String: String] {
        var views: [String] = []
        var triggers: [String: [(name: String, sql: String)]] = [:]
        let all = "SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type IN ('view', 'trigger') ORDER BY rowid"
        try connection.rows(SQLStatement(all)) { row in
            let name = row.text(at: 1)
            if row.text(at: 0) == "view" {
                views.append(name)
            } else {
                triggers[row.text(at: 2), default: []].append((name, row.text(at: 3)))
            }
        }
        var broken: [String: String] = [:]
        for view in views {
            if let message = fault(of: "SELECT * FROM \(dialect.quote(view))") { broken[view] = message }
        }
        for (table, own) in triggers where broken[table] == nil {
            let rows = dialect.quote(table)
            var names: [String] = []
            try connection.rows(
                SQLStatement("SELECT name FROM temp.pragma_table_info(?1)", [.value(.text(table))])
            ) { names.append($0.text(at: 0)) }
            for trigger in own {
                guard
                    let lost = Self.watched(by: trigger.sql).first(where: { name in
                        !names.contains { $0.isSameName(as: name) }
                    })
                else { continue }
                broken[trigger.name] = "no such column: \(lost)"
            }
            let columns = names.map(dialect.quote)
            let changes = columns.map { "\($0) = \($0)" }.joined(separator: ", ")
            let list = columns.joined(separator: ", ")
            let statements = [
                "DELETE FROM \(rows)", "UPDATE \(rows) SET \(changes)",
                "INSERT INTO \(rows) (\(list)) SELECT \(list) FROM \(rows)",
            ]
            for statement in statements {
                guard let message = fault(of: statement) else { continue }
                broken[own.map(\.name).joined(separator: ", ")] = message
            }
        }
        return broken
    }

    /// The columns whose change runs a trigger: `UPDATE OF a, b ON`. SQLite doesn't report a missing one.
    private static func watched(by trigger: String) -> [String] {
        let pattern = /\bUPDATE\s+OF\s+(?<list>.+?)\s+ON\b/.ignoresCase().dotMatchesNewlines()
        guard let list = trigger.firstMatch(of: pattern)?.output.list else { return [] }
        return list.split(separator: ",").map { name in
            name.trimmingCharacters(in: CharacterSet(charactersIn: "\"`[]").union(.whitespacesAndNewlines))
        }
    }

    /// SQLite's error for a statement that it can't compile.
    private func fault(of sql: String) -> String? {
        do {
            _ = try prepare(sql)
            return nil
        } catch {
            guard case .database(_, let message, _) = error else { return nil }
            return message
        }
    }

    /// A plan for SQLite leaves none for later: other writers wait in any case.
    package func makeIndex(_ index: LaterIndex, _ connection: Connection) throws(RelataError) {
        try connection.execute(SchemaDDL.createIndex(index.index, on: index.table, dialect: dialect))
    }

    package func owner(ofName name: String, _ connection: Connection) throws(RelataError) -> String? {
        let question = DataQuestion.isModule(name: name)
        if try connection.value(SQLStatement(question.query(dialect))) != nil { return "the database has a module" }
        let query = SQLStatement(
            "SELECT type FROM sqlite_master WHERE name = ?1 COLLATE NOCASE", [.value(.text(name))])
        return try connection.value(query).map { "the file has \($0.description.withArticle)" }
    }

    /// SQLite's own number, which every change of a table raises.
    package func tableVersion(_ connection: Connection) throws(RelataError) -> Int64 {
        guard case .integer(let version)? = try connection.value(SQLStatement("PRAGMA schema_version")) else {
            return 0
        }
        return version
    }

    package var raisesTableVersion: Bool { true }

    package func raiseTableVersion(_ connection: Connection) throws(RelataError) {
        try connection.execute("PRAGMA schema_version = \(try tableVersion(connection) + 1)")
    }
}
