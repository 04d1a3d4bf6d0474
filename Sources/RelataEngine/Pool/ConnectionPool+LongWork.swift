import RelataCore

/// Work whose duration grows with the size of the database.
extension ConnectionPool {
    /// Runs `body` on a separate thread, so that none of Swift's threads, one per processor core, is blocked.
    /// Connections whose statements block have such a thread already.
    package func onOwnThread<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        guard !engine.hasExecutors else { return try await body() }
        return try await withTaskExecutorPreference(ConnectionThread()) { try await body() }
    }

    /// Makes a backup.
    ///
    /// - Parameter access: The caller's access, which must include every row.
    package func backup(
        _ plan: BackupPlan, by access: Access, _ progress: @Sendable (BackupProgress) -> Void
    ) async throws {
        try access.requireEverything(for: "a backup")
        try await onOwnThread {
            try await self.read { connection in try self.engine.backup(connection, plan, progress) }
        }
    }

    /// Makes a backup on the calling thread.
    package func backup(_ plan: BackupPlan, by access: Access, _ progress: (BackupProgress) -> Void) throws {
        try access.requireEverything(for: "a backup")
        try read { connection in try engine.backup(connection, plan, progress) }
    }
}
