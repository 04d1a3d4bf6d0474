import RelataCore
public import RelataEngine

extension RecordStore {
    /// Compares what is stored with what the classes and tables declare. Nothing is changed.
    ///
    /// It finds what `relata check` finds: dangling references, counts, positions, values that should be unique, cases that
    /// an enum doesn't have, damage of the file.
    ///
    /// - Returns: The findings; none where all is well.
    /// - Throws: ``RelataError`` where the database can't be read.
    public func check() async throws -> [IntegrityFinding] { try await read { try $0.findings() } }

    /// Compares what is stored with what the classes and tables declare, as the call with `await`.
    ///
    /// - Throws: ``RelataError`` where the database can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func check() throws -> [IntegrityFinding] { try read { try $0.findings() } }

    /// Mends what a check has found, as far as it can be mended safely: those findings that have a
    /// ``IntegrityFinding/repair``. Show them first.
    ///
    /// All of it is one transaction. Another check in it tells whether the findings are gone; a mend that leaves its finding,
    /// or makes another worse, is undone.
    ///
    /// - Returns: What was mended, what was left and why, and what a check finds now.
    /// - Throws: ``RelataError/busy(_:)`` for findings that aren't there any more as they were shown.
    @discardableResult
    public func repair(_ findings: [IntegrityFinding]) async throws -> IntegrityRepairReport {
        try await write { try $0.repair(findings) }
    }

    /// Mends what a check has found, as the call with `await`.
    ///
    /// - Throws: As the call with `await`.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func repair(_ findings: [IntegrityFinding]) throws -> IntegrityRepairReport {
        try write { try $0.repair(findings) }
    }
}

extension RecordTransaction {
    fileprivate func findings() throws -> [IntegrityFinding] {
        try access.requireEverything(for: "a check")
        return try IntegrityCheck.run(connection, schema: schema)
    }
}

extension RecordWriteTransaction {
    fileprivate func repair(_ findings: [IntegrityFinding]) throws -> IntegrityRepairReport {
        try RepairRun.run(findings, on: connection) { try self.findings() }
    }
}
