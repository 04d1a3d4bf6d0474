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
        let handle = try open()
        guard PQpipelineSync(handle) == 1 else {
            let failure = failure(nil)
            abandonPipeline(handle)
            throw failure
        }
        try flush(handle)
        var results: [ResultSet] = []
        results.reserveCapacity(queued.count)
        var failed: PostgresFailure?
        for (place, statement) in queued.enumerated() {
            // Each statement's results end with a missing one.
            while let result = nextResult(handle) {
                if failed != nil {
                    PQclear(result)
                    continue
                }
                do throws(PostgresFailure) {
                    results.append(try rows(result, of: statement))
                } catch {
                    failed = error
                    failed?.statement = place
                }
            }
            if PQstatus(handle) != CONNECTION_OK { break }
        }
        if failed == nil, results.count < queued.count {
            failed = failure(nil)
            failed?.statement = results.count
        }
        if let error = readMark(handle), failed == nil { failed = error }
        abandonPipeline(handle)
        if let failed { throw failed }
        return results
    }

    /// Reads up to the mark that ``sync()`` sent. If the statements form a separate transaction, it is committed there,
    /// which may fail.
    private func readMark(_ handle: OpaquePointer) -> PostgresFailure? {
        var failed: PostgresFailure?
        while PQstatus(handle) == CONNECTION_OK, let result = nextResult(handle) {
            defer { PQclear(result) }
            if PQresultStatus(result) == PGRES_PIPELINE_SYNC { break }
            failed = failed ?? failure(result)
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
                if !ready || PQconsumeInput(handle) == 1 { continue }
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
        queued = []
        queuedSize = 0
        activity = .idle
    }
}
#endif
