import RelataCore
import RelataEngine

extension StoreReader {
    /// Compares the stored data with the models' declarations, and reads every object. Nothing is changed.
    ///
    /// ```swift
    /// for finding in try await store.check() { print(finding, "→", finding.fix) }
    /// ```
    ///
    /// It finds everything that `relata check` finds — dangling references, wrong counts and positions, duplicates of
    /// unique values, damage of the file — and every object that can't be read as its model declares, which only the
    /// models can show.
    ///
    /// - Returns: The findings; none if all is well.
    /// - Throws: ``RelataError`` if the database can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func check() throws -> [IntegrityFinding] { try read { try $0.findings() } }
}

extension Store {
    /// Compares the stored data with the models' declarations, and reads every object: see ``StoreReader/check()``.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func check() async throws -> [IntegrityFinding] { try await read { try $0.findings() } }

    /// Repairs findings of a check that can be repaired safely: see ``StoreWriter/repair(_:)``.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func repair(_ findings: [IntegrityFinding]) async throws -> IntegrityRepairReport {
        try await write { try $0.repair(findings) }
    }
}

extension StoreWriter {
    /// Repairs findings of a check that can be repaired safely: those with a ``IntegrityFinding/repair``. Show them
    /// first.
    ///
    /// ```swift
    /// let findings = try await store.check()
    /// for finding in findings { print(finding, "→", finding.repair?.description ?? finding.fix) }
    /// let report = try await store.repair(findings)
    /// ```
    ///
    /// Dangling references are unset if that is their rule, dangling rows of join tables deleted, members of ordered
    /// lists without a position placed, and damaged indexes rebuilt. All repairs are one transaction. A second check in
    /// it confirms that the findings are gone; a repair that leaves its finding, or makes another worse, is rolled
    /// back.
    ///
    /// - Returns: The repaired findings, the refused ones and why, and the findings of a new check.
    /// - Throws: ``RelataError/busy(_:)`` for findings that have changed since.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func repair(_ findings: [IntegrityFinding]) throws -> IntegrityRepairReport {
        try write { transaction in
            try RepairRun.run(findings, on: transaction.connection) { try transaction.findings() }
        }
    }
}

extension ReadTransaction {
    fileprivate func findings() throws -> [IntegrityFinding] {
        try requireEverything(for: "a check")
        var findings = try IntegrityCheck.run(connection, schema: catalog.schema, readsValues: false)
        if findings.contains(where: { $0.kind == .damage }) { return findings }
        for type in catalog.types { findings += try undecodable(type) }
        return findings
    }

    private func undecodable<M: Model>(_ model: M.Type) throws -> [IntegrityFinding] {
        var found: [String: [UndecodableObject]] = [:]
        var counts: [String: Int] = [:]
        let report = UndecodableReport { object in
            let subject = M.entityName + (object.property.map { ".\($0)" } ?? "")
            counts[subject, default: 0] += 1
            if found[subject, default: []].count < 3 { found[subject, default: []].append(object) }
        }
        let statement = try compiler.select(try plan(Query<M>())).statement
        try reporting(report) { try connection.forEachRow(statement) { _ = try object(model, at: $0) } }
        return counts.sorted { $0.key < $1.key }.map { subject, count in
            let objects = found[subject] ?? []
            let samples = objects.map { "\($0.object): \($0.message)" }.joined(separator: "; ")
            return IntegrityFinding(
                kind: .undecodable, subject: subject, count: count,
                message: "\(count) \(count == 1 ? "object" : "objects") can't be read (\(samples)"
                    + (count > objects.count ? "; …)" : ")"),
                fix: "change the stored values, or declare models that accept them; "
                    + "until then, skippingUndecodable reads the other objects")
        }
    }
}
