import RelataCSQLite
import RelataCore
import RelataEngine

extension SQLiteDriver {
    /// Prepares the one statement of a text.
    package func prepare(_ sql: String) throws(RelataError) -> Statement {
        var pointer: OpaquePointer?
        var controlsTransaction = false
        var rest: Int?
        let code = authorizer.preparing {
            sql.withCString { text in
                var end: UnsafePointer<CChar>?
                let code = sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, &end)
                controlsTransaction = authorizer.controlsTransaction
                if let end, code == SQLITE_OK, hasStatement(from: end, to: text + sql.utf8.count) { rest = end - text }
                return code
            }
        }
        guard code == SQLITE_OK else { throw error(code, sql: sql) }
        guard let pointer else { throw .invalidUse("there is no statement in the SQL \"\(sql.prefix(100))\"") }
        let statement = Statement(
            RunningStatement(pointer), controlsTransaction: controlsTransaction,
            size: Int(sqlite3_stmt_status(pointer, SQLITE_STMTSTATUS_MEMUSED, 0)), onEnd: { sqlite3_finalize(pointer) })
        if let rest {
            let next = String(decoding: sql.utf8.dropFirst(rest), as: UTF8.self).drop { $0.isWhitespace }
            throw .invalidUse(
                "SQL must be one statement, and \"\(next.prefix(100))\" follows the first: run each separately")
        }
        return statement
    }

    /// Whether there is more than blanks and comments. SQLite reads up to a U+0000, and ignores the rest.
    private func hasStatement(from text: UnsafePointer<CChar>, to last: UnsafePointer<CChar>) -> Bool {
        var text = text
        while text < last {
            if text.pointee == 0 { return true }
            var statement: OpaquePointer?
            var end: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v3(handle, text, -1, 0, &statement, &end)
            sqlite3_finalize(statement)
            if code != SQLITE_OK || statement != nil { return true }
            guard let end, end > text else { return false }
            text = end
        }
        return false
    }
}
