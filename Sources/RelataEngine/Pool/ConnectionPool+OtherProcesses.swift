import RelataCore

/// Changes of the database by other processes.
extension ConnectionPool {
    /// A number that changes when another connection to the file, of this process or another, commits.
    func dataVersion() async throws -> Int64 {
        let connection = try await writer.acquire()
        defer { writer.release(connection) }
        return try engine.dataVersion(connection)
    }

    /// As ``dataVersion()``; `nil` while the writer is in use.
    func dataVersionIfIdle() -> Int64? {
        guard let connection = writer.acquireIfIdle() else { return nil }
        defer { writer.release(connection) }
        return try? engine.dataVersion(connection)
    }

    /// The transactions that have ended by now; `nil` if that can't be determined. Never waits for writers.
    func moment() async -> TransactionSnapshot? {
        guard let leased = try? await writer.borrow() else { return nil }
        defer { writer.giveBack(leased.connection) }
        guard let executor = leased.connection.driver.executor else { return nil }
        return await withTaskExecutorPreference(executor) {
            try? self.engine.prepareForUse(leased.connection)
            return try? leased.connection.driver.changeLog.moment(on: leased.connection)
        }
    }

    /// A version of ``moment()`` for synchronous code: one query on an open, free connection; `nil` if there is none.
    func momentIfIdle() -> TransactionSnapshot? {
        guard let connection = writer.acquireIfIdle() else { return nil }
        defer { writer.release(connection) }
        return try? connection.driver.changeLog.moment(on: connection)
    }
}
