import RelataCSQLite
import RelataCore

extension Connection {
    /// Prepares the one statement of a text.
    func prepare(_ sql: String) throws(RelataError) -> Statement {
        guard !isClosed else { throw .closed("the store is closed: open it again") }
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
        let statement = Statement(pointer, controlsTransaction: controlsTransaction)
        if let rest {
            let next = String(decoding: sql.utf8.dropFirst(rest), as: UTF8.self).drop { $0.isWhitespace }
            throw .invalidUse(
                "SQL is one statement, and \"\(next.prefix(100))\" follows the first: run each by itself")
        }
        return statement
    }

    /// Whether there is anything but blanks and comments. SQLite reads up to a U+0000, and leaves out what follows.
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

    /// Refuses a statement that begins or ends a transaction or a savepoint.
    func refuseTransactionControl(_ statement: Statement) throws(RelataError) {
        guard statement.controlsTransaction else { return }
        throw .invalidUse(
            "\"\(sqlite3_sql(statement.handle).map { String(cString: $0) } ?? "")\" is for the store to run: the end of a transaction's closure commits, an error that leaves it rolls back, and savepoint takes back a part"
        )
    }
}
