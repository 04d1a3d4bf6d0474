#if PostgreSQL
import RelataCPQ
import RelataCore

/// Statements whose failure leaves the transaction usable, as if they had never run. Outside of a transaction they are
/// ordinary statements.
extension Session {
    private static let savepoint = "relata_rows"

    /// Parameters in libpq's form.
    struct Parameters {
        let count: Int32
        let values: UnsafePointer<UnsafePointer<CChar>?>
        let lengths: UnsafePointer<Int32>
        let formats: UnsafePointer<Int32>
    }

    /// Runs a prepared statement, in one round trip.
    ///
    /// - Parameter beginning: The statements that begin its transaction, if it is the first one; empty within a
    ///   transaction.
    func executeKeepingTransaction(
        _ statement: PreparedStatement, _ parameters: Parameters, after beginning: [String] = []
    ) throws(PostgresFailure) -> ResultSet {
        guard transactionStatus == .open || !beginning.isEmpty else {
            return try execute(statement, parameters, between: [], [])
        }
        do throws(PostgresFailure) {
            return try execute(
                statement, parameters, between: beginning + ["SAVEPOINT \(Self.savepoint)"],
                ["RELEASE \(Self.savepoint)"])
        } catch {
            // If that fails too, the transaction stays failed.
            try? undo()
            throw error
        }
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
    /// - Returns: The number of inserted rows.
    func finishKeepingTransaction(_ copy: CopyWriter) throws(PostgresFailure) -> Int {
        do throws(PostgresFailure) {
            return try copy.finish()
        } catch {
            try? undo()
            throw error
        }
    }

    /// Rolls back the effects of a failed statement of this kind.
    func undo() throws(PostgresFailure) {
        guard transactionStatus == .failed else { return }
        // The cancellation of the statement doesn't stop it.
        let handle = try idle()
        let sql = "ROLLBACK TO \(Self.savepoint); RELEASE \(Self.savepoint)"
        let result = try query(sql, handle)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure(result, sql: sql) }
    }
}
#endif
