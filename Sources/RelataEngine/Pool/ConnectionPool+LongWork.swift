/// Work that takes as long as the database is large.
extension ConnectionPool {
    /// Runs `body` on a thread of its own, so that none of Swift's own threads, which are as few as the processor's cores, is
    /// taken until the end. Connections whose statements block have such a thread already.
    package func onOwnThread<Result: Sendable>(
        _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        guard !engine.hasExecutors else { return try await body() }
        return try await withTaskExecutorPreference(ConnectionThread()) { try await body() }
    }
}
