#if PostgreSQL
import RelataCPQ
import RelataCore

/// Statements after whose failure the transaction goes on as if they had never run. Outside of one they are what others
/// are.
extension Session {
    private static let savepoint = "relata_rows"

    /// Runs a prepared statement with parameters in the form in which libpq takes them, in one round trip.
    func executeKeepingTransaction(
        _ statement: PreparedStatement, count: Int, values: UnsafePointer<UnsafePointer<CChar>?>,
        lengths: UnsafePointer<Int32>, formats: UnsafePointer<Int32>
    ) throws(PostgresFailure) -> ResultSet {
        let handle = try ready()
        try check(statement)
        let isKept = transactionStatus == .open
        guard PQenterPipelineMode(handle) == 1 else { throw failure(nil, sql: statement.sql) }
        let isSent =
            (!isKept || send("SAVEPOINT \(Self.savepoint)", handle))
            && PQsendQueryPrepared(
                handle, statement.nameBytes, Int32(count), values, lengths, formats, statement.isBinary ? 1 : 0) == 1
            && (!isKept || send("RELEASE \(Self.savepoint)", handle)) && PQpipelineSync(handle) == 1
        guard isSent else {
            let failure = failure(nil, sql: statement.sql)
            leavePipelineMode(handle)
            throw failure
        }
        let place = isKept ? 1 : 0
        var rows: OpaquePointer?
        var failed: PostgresFailure?
        var ended = 0
        results: while true {
            guard let result = nextResult(handle) else {
                ended += 1
                if PQstatus(handle) == CONNECTION_OK { continue }
                failed = failed ?? failure(nil, sql: statement.sql)
                break
            }
            switch PQresultStatus(result) {
            case PGRES_PIPELINE_SYNC:
                PQclear(result)
                break results
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                if ended == place, rows == nil { rows = result } else { PQclear(result) }
            case PGRES_PIPELINE_ABORTED: PQclear(result)
            case let status:
                failed = failed ?? unusable(result, status, sql: statement.sql)
                PQclear(result)
            }
        }
        leavePipelineMode(handle)
        if let failed {
            PQclear(rows)
            // Where that fails too, the transaction stays failed.
            if isKept { try? undo() }
            throw failed
        }
        guard let rows else { throw failure(nil, sql: statement.sql) }
        return try self.rows(rows, of: statement)
    }

    private func send(_ sql: String, _ handle: OpaquePointer) -> Bool {
        PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 0) == 1
    }

    /// Begins to copy rows; ``finishKeepingTransaction(_:)`` ends it, or ``CopyWriter/cancel()`` and ``undo()``.
    func copyKeepingTransaction(_ sql: String, columns: [TypeCode]) throws(PostgresFailure) -> CopyWriter {
        do throws(PostgresFailure) {
            return try copy(
                "SAVEPOINT \(Self.savepoint); \(sql); RELEASE \(Self.savepoint)", columns: columns)
        } catch {
            try? undo()
            throw error
        }
    }

    /// Ends the copy.
    ///
    /// - Returns: How many rows were inserted.
    func finishKeepingTransaction(_ copy: CopyWriter) throws(PostgresFailure) -> Int {
        do throws(PostgresFailure) {
            return try copy.finish()
        } catch {
            try? undo()
            throw error
        }
    }

    /// Takes back what such a statement did that failed.
    func undo() throws(PostgresFailure) {
        guard transactionStatus == .failed else { return }
        // Not stopped by whoever has stopped the statement.
        let handle = try idle()
        let sql = "ROLLBACK TO \(Self.savepoint); RELEASE \(Self.savepoint)"
        let result = try query(sql, handle)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure(result, sql: sql) }
    }
}
#endif
