#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine

/// The tables that statements read and write: the server's plan names them.
extension PostgresDriver {
    package func access(of statement: Statement) -> StatementAccess? {
        guard let sql = statement.running.sql else { return nil }
        let word = Self.firstWord(of: sql)
        switch word {
        case "SELECT", "VALUES", "TABLE", "WITH", "INSERT", "UPDATE", "DELETE", "MERGE": break
        case "CREATE", "ALTER", "DROP":
            writeEffects = nil
            var access = StatementAccess()
            access.writes.add(rowsOf: catalogTable)
            return access
        case "TRUNCATE", "COPY", "CALL", "DO", "EXECUTE", "REFRESH":
            var access = StatementAccess()
            access.writes = .everything
            return access
        default: return StatementAccess()
        }
        guard session.transactionStatus != .failed, let effects = try? writeEffects(naming: []),
            let named = try? namedTables(in: sql, statement, effects),
            let known = try? writeEffects(naming: named.tables)
        else {
            var access = StatementAccess()
            (access.reads, access.writes) = (.everything, Self.isQuery(word) ? TableRegion() : .everything)
            return access
        }
        return known.access(of: named)
    }

    /// The tables that a statement names: in its text, if that is plain, or in the server's plan.
    private func namedTables(in sql: String, _ statement: Statement, _ effects: WriteEffects) throws -> NamedTables {
        if let table = Self.onlyTable(of: sql), effects.isPlain(table) {
            return NamedTables(written: [table: sql.hasPrefix("DELETE") ? [.deletion] : [.update]])
        }
        return NamedTables(plan: try plan(of: sql, statement))
    }

    /// The server's implicit effects when tables are written. They are queried once, and again when new tables appear.
    /// A trigger that another session creates while the connection is open isn't seen.
    private func writeEffects(naming tables: Set<String>) throws(RelataError) -> WriteEffects {
        if let writeEffects, tables.allSatisfy(writeEffects.knows) { return writeEffects }
        let effects = try WriteEffects(self)
        writeEffects = effects
        return effects
    }

    /// The table of a plain statement that writes one table and reads no other. The text shows it without the server,
    /// for most statements that save objects.
    static func onlyTable(of sql: String) -> String? {
        guard let table = writtenTable(of: sql), case let tail = sql[table.endIndex...].dropFirst(), tail.first == " ",
            !["SELECT", "FROM", "USING", "JOIN", "WITH", "TABLE"].contains(where: {
                tail.range(of: $0, options: .caseInsensitive) != nil
            })
        else { return nil }
        return String(table)
    }

    /// The table that a statement inserts into, updates or deletes from, if the statement names it first and in quotes.
    static func writtenTable(of sql: String) -> Substring? {
        guard let begin = ["INSERT INTO \"", "UPDATE \"", "DELETE FROM \""].first(where: { sql.hasPrefix($0) }),
            case let rest = sql.dropFirst(begin.count), let end = rest.firstIndex(of: "\"")
        else { return nil }
        return rest[..<end]
    }

    private static func isQuery(_ word: String) -> Bool { ["SELECT", "VALUES", "TABLE"].contains(word) }

    package var hasRecompiled: Bool { false }

    package func forgetRecompilation() { writeEffects = nil }

    package var catalogTable: String { "pg_class" }

    /// The plan of a statement without known values, which omits no table.
    private func plan(of sql: String, _ statement: Statement) throws -> Any {
        let count = statement.running.parameterCount
        let arguments = count == 0 ? "" : "(" + Array(repeating: "NULL", count: count).joined(separator: ", ") + ")"
        // Through a pooler, another session may find a statement that was left behind.
        let name = "relata_plan_\(UInt64.random(in: 0 ... .max))"
        let rows = try run { (session) throws(PostgresFailure) in
            try session.plan(sql, name, arguments: arguments)
        }
        return try JSONSerialization.jsonObject(with: Data(rows.utf8))
    }
}

extension Session {
    /// The server's plan of a statement as JSON text.
    fileprivate func plan(_ sql: String, _ name: String, arguments: String) throws(PostgresFailure) -> String {
        // A parameter that the text leaves out is of any type.
        let unused = Self.unusedParameters(in: sql).map { $0 == 0 ? "unknown" : "text" }
        let types = unused.isEmpty ? "" : " (\(unused.joined(separator: ", ")))"
        let isOpen = transactionStatus == .open
        var isPrepared = false
        try run(isOpen ? "SAVEPOINT relata_plan" : "BEGIN")
        do throws(PostgresFailure) {
            try run("SET LOCAL plan_cache_mode = force_generic_plan; PREPARE \(name)\(types) AS \(sql)")
            isPrepared = true
            let rows = try execute(SQLStatement("EXPLAIN (FORMAT JSON) EXECUTE \(name)\(arguments)"))
            let text: String
            do throws(RelataError) {
                text = rows.count > 0 ? try rows[0][0].text() : "[]"
            } catch {
                throw PostgresFailure(error)
            }
            try run("DEALLOCATE \(name)")
            isPrepared = false
            // The setting ends with the savepoint.
            try run(isOpen ? "ROLLBACK TO relata_plan; RELEASE relata_plan" : "COMMIT")
            return text
        } catch {
            try run(isOpen ? "ROLLBACK TO relata_plan; RELEASE relata_plan" : "ROLLBACK")
            // Through a pooler this may be another connection, which doesn't know it.
            if isPrepared { _ = try? run("DEALLOCATE \(name)") }
            throw error
        }
    }
}
#endif
