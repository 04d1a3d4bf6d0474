#if PostgreSQL
import RelataCore
import RelataEngine

/// Rows that are read part by part.
extension PostgresDriver {
    func newCursorName() -> String {
        nextName += 1
        return "relata_cursor_\(nextName)"
    }

    /// Whether a cursor can read the rows of a statement.
    func canBeDeclared(_ sql: String) -> Bool { Self.reads(sql) && Self.firstWord(of: sql) != "EXPLAIN" }

    /// Declares a cursor for a statement's rows.
    func declare(
        _ name: String, for statement: PostgresStatement, _ parameters: ParameterBuffer
    ) throws(RelataError) {
        try tellBeginning()
        let sql = "DECLARE \(name) NO SCROLL CURSOR FOR \(statement.sql)"
        try traced(statement.sql) { (session) throws(PostgresFailure) in
            try session.declare(sql, like: statement.prepared, parameters)
        }
    }

    /// The next rows of a cursor.
    func fetch(
        _ count: Int, from cursor: String, like prepared: PreparedStatement
    ) throws(RelataError) -> ResultSet {
        try run { (session) throws(PostgresFailure) in
            try session.fetch("FETCH FORWARD \(count) FROM \(cursor)", like: prepared)
        }
    }

    /// Closes a cursor. The end of its transaction closes it, too.
    func close(cursor: String) {
        guard session.transactionStatus == .open else { return }
        _ = try? session.run("CLOSE \(cursor)")
    }
}
#endif
