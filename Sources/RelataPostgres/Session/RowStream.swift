#if PostgreSQL
import RelataCPQ
import RelataCore

/// The rows of a running statement, one after the other, so that only one of them is in memory.
///
/// The session is busy until the last row is read or the stream is closed; the deinitialiser of the object closes it.
package final class RowStream {
    /// The statement of the rows.
    package let statement: PreparedStatement
    private let session: Session
    private let wasInTransaction: Bool
    private var result: OpaquePointer?
    private var isOver = false

    fileprivate init(_ session: Session, _ statement: PreparedStatement) {
        self.session = session
        self.statement = statement
        wasInTransaction = session.transactionStatus == .open
        session.activity = .streaming
    }

    deinit { close() }

    /// The next row, valid until the next call; `nil` after the last one.
    package func next() throws(PostgresFailure) -> Cells? {
        guard !isOver else { return nil }
        guard let handle = session.handle else {
            isOver = true
            throw PostgresFailure(.closed("the connection was closed while rows were read"))
        }
        PQclear(result)
        result = session.nextResult(handle)
        guard let result else {
            end()
            throw session.failure(nil, sql: statement.sql)
        }
        if PQresultStatus(result) == PGRES_SINGLE_TUPLE {
            return Cells(
                result: result, row: 0, types: UnsafePointer(statement.columnTypes), isBinary: statement.isBinary)
        }
        defer { end() }
        self.result = nil
        _ = try session.rows(result, of: statement)
        return nil
    }

    /// Ends the statement. Within a transaction, its remaining rows are read and dropped, because cancelling it would
    /// fail the transaction.
    package func close() {
        guard !isOver, let handle = session.handle else { return }
        if !wasInTransaction { session.stopStatement(handle) }
        end()
    }

    private func end() {
        isOver = true
        PQclear(result)
        result = nil
        if let handle = session.handle { while let rest = session.nextResult(handle) { PQclear(rest) } }
        session.activity = .idle
    }
}

extension Session {
    /// Runs a prepared statement whose rows are read one by one.
    package func stream(
        _ statement: PreparedStatement, _ parameters: ParameterBuffer
    ) throws(PostgresFailure) -> RowStream {
        let handle = try ready()
        try check(statement, parameters)
        let stream = RowStream(self, statement)
        let isSent = send(statement, parameters, handle)
        guard isSent, PQsetSingleRowMode(handle) == 1 else {
            let failure = failure(nil, sql: statement.sql)
            stream.close()
            throw failure
        }
        return stream
    }
}
#endif
