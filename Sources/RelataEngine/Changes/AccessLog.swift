import RelataCore

/// Records the tables and columns that a connection's statements read and write, while that is requested.
@_documentation(visibility: internal)
package final class AccessLog {
    /// The tables and columns that were read.
    package private(set) var reads = TableRegion()
    /// The tables and columns that were written.
    package private(set) var writes = TableRegion()
    /// Tables written by SQL of the program's own or by triggers, whose changed rows aren't known.
    package private(set) var unlisted: Set<String> = []
    /// Whether the program's own SQL runs now.
    var isForeign = false
    /// Statements that were analysed, by their numbers: addresses are reused.
    private var noted: Set<Int> = []
    private var last: Int?

    /// Begins.
    package init() {}

    func isNoted(_ statement: Statement) -> Bool {
        if isForeign { return false }
        if last == statement.number { return true }
        last = statement.number
        return !noted.insert(statement.number).inserted
    }

    func add(_ access: StatementAccess) {
        reads.formUnion(access.reads)
        writes.formUnion(access.writes)
        guard isForeign else { return unlisted.formUnion(access.triggered) }
        writes.formUnion(access.actions)
        unlisted.formUnion(access.writes.tables.keys)
        unlisted.formUnion(access.actions.tables.keys)
    }

    func addEverything() {
        reads = .everything
        writes = .everything
    }
}

extension Connection {
    /// Records the accesses of a statement that is about to run.
    func note(_ statement: Statement, in log: AccessLog) {
        if log.isNoted(statement) { return }
        if statement.access == nil { statement.access = driver.access(of: statement) }
        if let access = statement.access { log.add(access) }
    }

    /// Runs `body` and records the accesses of its statements.
    @_documentation(visibility: internal)
    package func logging<Result>(
        _ log: AccessLog, _ body: () throws -> Result
    ) rethrows -> Result {
        let outer = accesses
        beginLogging(log)
        defer {
            endLogging()
            accesses = outer
        }
        return try body()
    }

    /// Runs `body` without recording the accesses of its statements.
    func withoutLogging<Result>(_ body: () throws -> Result) rethrows -> Result {
        let outer = accesses
        accesses = nil
        defer { accesses = outer }
        return try body()
    }

    func beginLogging(_ log: AccessLog) {
        if driver.hasRecompiled { forgetAccesses() }
        accesses = log
    }

    /// Ends a recording of ``beginLogging(_:)``, and widens it if it may be incomplete.
    func endLogging() {
        if let accesses {
            if driver.hasRecompiled { accesses.addEverything() }
            if accesses.writes.tables[driver.catalogTable] != nil { forgetAccesses() }
        }
        accesses = nil
    }

    private func forgetAccesses() {
        driver.forgetRecompilation()
        forEachStatement { $0.access = nil }
    }

    /// Runs SQL of the program: its writes are known by table only, and it can't end a transaction.
    @_documentation(visibility: internal)
    package func runningForeignSQL<Result>(_ body: () throws -> Result) throws -> Result {
        // On other engines, a failing statement would make the whole transaction fail.
        if !driver.capabilities.survivesErrors, isInTransaction, !isRunningForeignSQL, needsTransaction {
            return try savepoint { try runForeignSQL(body) }
        }
        return try runForeignSQL(body)
    }

    /// Runs `body`, which writes by another schema than that of the open transaction: only the tables are recorded.
    package func writingByOtherSchema<Result>(_ body: () throws -> Result) rethrows -> Result {
        let known = recorder
        recorder = nil
        defer { recorder = known }
        return try runForeignSQL(body)
    }

    private func runForeignSQL<Result>(_ body: () throws -> Result) rethrows -> Result {
        isRunningForeignSQL = true
        defer { isRunningForeignSQL = false }
        guard let accesses else { return try body() }
        accesses.isForeign = true
        defer { accesses.isForeign = false }
        return try body()
    }
}

extension ConnectionPool {
    /// Runs `body` with a connection for reading, and records its reads.
    package func observing<Result: Sendable>(
        _ body: @Sendable (Connection) throws -> Result
    ) async throws -> (value: Result, region: TableRegion) {
        try await read { connection in
            let log = AccessLog()
            let value = try connection.logging(log) { try body(connection) }
            return (value, log.reads)
        }
    }
}
