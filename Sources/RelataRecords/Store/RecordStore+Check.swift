import RelataCore
public import RelataEngine

extension RecordStore {
    /// Compares the stored data with the declarations of classes and tables. Nothing is changed.
    ///
    /// It finds everything that `relata check` finds: dangling references, wrong counts and positions, duplicates of
    /// unique values, unknown cases of enums, damage of the file.
    ///
    /// - Returns: The findings; none if all is well.
    /// - Throws: ``RelataError`` if the database can't be read.
    public func check() async throws -> [IntegrityFinding] { try await read { try $0.findings() } }

    /// Compares the stored data with the declarations of classes and tables, as the call with `await`.
    ///
    /// - Throws: ``RelataError`` if the database can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func check() throws -> [IntegrityFinding] { try read { try $0.findings() } }

    /// Repairs findings of a check that can be repaired safely: those with a ``IntegrityFinding/repair``. Show them
    /// first.
    ///
    /// All repairs are one transaction. A second check in it confirms that the findings are gone; a repair that leaves
    /// its finding, or makes another worse, is rolled back.
    ///
    /// - Returns: The repaired findings, the refused ones and why, and the findings of a new check.
    /// - Throws: ``RelataError/busy(_:)`` for findings that have changed since.
    @discardableResult
    public func repair(_ findings: [IntegrityFinding]) async throws -> IntegrityRepairReport {
        try await write { try $0.repair(findings) }
    }

    /// Repairs findings of a check, as the call with `await`.
    ///
    /// - Throws: The errors of the call with `await`.
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
