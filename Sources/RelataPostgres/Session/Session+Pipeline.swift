#if PostgreSQL
import RelataCPQ
import RelataCore

/// Many statements in one round trip.
///
/// Outside of a transaction, all statements queued up to ``sync()`` form their own transaction: it is rolled back if a
/// statement fails.
extension Session {
    /// The number of queued bytes of parameters after which they are always sent.
    private static let flushSize = 1 << 18

    /// Sends a statement without waiting for its result. The parameters may be used again at once.
    package func queue(
        _ statement: PreparedStatement, _ parameters: ParameterBuffer
    ) throws(PostgresFailure) {
        let handle = activity == .pipeline ? try open() : try ready()
        try check(statement, parameters)
        if activity != .pipeline {
            // Both sides could wait for each other to read if each write waited until all of it is sent.
            guard PQenterPipelineMode(handle) == 1, PQsetnonblocking(handle, 1) == 0 else {
                throw failure(nil, sql: statement.sql)
            }
            activity = .pipeline
        }
        let isSent = send(statement, parameters, handle)
        guard isSent else {
            let failure = failure(nil, sql: statement.sql)
            abandonPipeline(handle)
            throw failure
        }
        queued.append(statement)
        queuedSize += parameters.size + 64
        if queuedSize >= Self.flushSize {
            queuedSize = 0
            try flush(handle)
        }
    }

    /// Waits for the results of all queued statements, in their order.
    ///
    /// - Throws: The failure of the first failed statement; ``PostgresFailure/statement`` is its position. The
    ///   statements after it didn't run.
    package func sync() throws(PostgresFailure) -> [ResultSet] {
        guard activity == .pipeline else {
            _ = try idle()
            return []
        }
        try sendQueued()
        var results: [ResultSet] = []
        results.reserveCapacity(queued.count)
        do throws(PostgresFailure) {
            for statement in queued { results.append(try takeQueued(statement)) }
        } catch {
            var failed = error
            failed.statement = results.count
            endQueue()
            throw failed
        }
        if let failed = endQueue() { throw failed }
        return results
    }

    /// Sends all queued statements. ``takeQueued(_:)`` then waits for each, and ``endQueue()`` ends the pipeline.
    func sendQueued() throws(PostgresFailure) {
        let handle = try open()
        guard PQpipelineSync(handle) == 1 else {
            let failure = failure(nil)
            abandonPipeline(handle)
            throw failure
        }
        try flush(handle)
    }

    /// Waits for the result of a queued statement: of the first one whose result wasn't taken.
    func takeQueued(_ statement: PreparedStatement) throws(PostgresFailure) -> ResultSet {
        let handle = try open()
        guard answeredCount < queued.count, queued[answeredCount] === statement else {
            throw PostgresFailure(.invalidUse("results are taken in the order of the statements"))
        }
        var outcome: Result<ResultSet, PostgresFailure>?
        // Each statement's results end with a missing one.
        while let result = nextResult(handle) {
            if outcome == nil {
                outcome = Result { () throws(PostgresFailure) in try rows(result, of: statement) }
            } else {
                PQclear(result)
            }
        }
        answeredCount += 1
        guard let outcome else { throw failure(nil, sql: statement.sql) }
        return try outcome.get()
    }

    /// Ends the pipeline, and drops the results that weren't taken.
    ///
    /// - Returns: Why the statements weren't committed, if they form a separate transaction.
    @discardableResult
    func endQueue() -> PostgresFailure? {
        guard activity == .pipeline, let handle else { return nil }
        let failed = readMark(handle)
        abandonPipeline(handle)
        return failed
    }

    /// Reads up to the mark that ``sendQueued()`` sent. If the statements form a separate transaction, it is committed
    /// there, which may fail.
    private func readMark(_ handle: OpaquePointer) -> PostgresFailure? {
        var failed: PostgresFailure?
        while PQstatus(handle) == CONNECTION_OK {
            guard let result = nextResult(handle) else {
                guard answeredCount < queued.count else { break }
                answeredCount += 1
                continue
            }
            defer { PQclear(result) }
            if PQresultStatus(result) == PGRES_PIPELINE_SYNC { break }
            if answeredCount == queued.count { failed = failed ?? failure(result) }
        }
        return failed
    }

    /// Sends waiting data, and reads the server's answers in the meantime.
    private func flush(_ handle: OpaquePointer) throws(PostgresFailure) {
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1:
                let ready = wait(for: handle, writing: true)
                if !ready { continue }
                if PQconsumeInput(handle) == 1 {
                    // Moves rows to their result, so that they don't fill the buffer until everything is sent.
                    _ = PQisBusy(handle)
                    continue
                }
            default: break
            }
            let failure = failure(nil)
            abandonPipeline(handle)
            throw failure
        }
    }

    private func abandonPipeline(_ handle: OpaquePointer) {
        leavePipelineMode(handle)
        _ = PQsetnonblocking(handle, 0)
        (queued, answeredCount, queuedSize) = ([], 0, 0)
        activity = .idle
    }
}
#endif
