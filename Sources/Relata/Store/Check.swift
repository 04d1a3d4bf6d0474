import RelataCore
import RelataEngine

extension StoreReader {
    /// Compares what is stored with what the models declare, and reads every object. Nothing is changed.
    ///
    /// ```swift
    /// for finding in try await store.check() { print(finding, "→", finding.mend) }
    /// ```
    ///
    /// It finds what `relata check` finds — dangling references, counts, positions, values that should be unique, damage
    /// of the file — and every object that can't be read as its model declares, which only the models can tell.
    ///
    /// - Returns: The findings; none where all is well.
    /// - Throws: ``RelataError`` where the database can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func check() throws -> [IntegrityFinding] { try read { try $0.findings() } }
}

extension Store {
    /// Compares what is stored with what the models declare, and reads every object: see ``StoreReader/check()``.
    ///
    /// - Throws: As the call without `async`; `CancellationError` for a cancelled task.
    public func check() async throws -> [IntegrityFinding] { try await read { try $0.findings() } }

    /// Mends what a check has found, as far as that is safe: see ``StoreWriter/repair(_:)``.
    ///
    /// - Throws: As the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func repair(_ findings: [IntegrityFinding]) async throws -> IntegrityRepairReport {
        try await write { try $0.repair(findings) }
    }
}

extension StoreWriter {
    /// Mends what a check has found, as far as it can be mended safely: those findings that have a
    /// ``IntegrityFinding/repair``. Show them first.
    ///
    /// ```swift
    /// let findings = try await store.check()
    /// for finding in findings { print(finding, "→", finding.repair?.description ?? finding.mend) }
    /// let report = try await store.repair(findings)
    /// ```
    ///
    /// References that lead nowhere are unset where that is their rule, rows of join tables that lead nowhere deleted,
    /// members of ordered lists without a place of their own placed, and damaged indexes made anew. All of it is one
    /// transaction. Another check in it tells whether the findings are gone; a mend that leaves its finding, or makes
    /// another worse, is undone.
    ///
    /// - Returns: What was mended, what was left and why, and what a check finds now.
    /// - Throws: ``RelataError/busy(_:)`` for findings that aren't there any more as they were shown.
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
        try access.requireEverything(for: "a check")
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
                mend: "write values that the models have, or let the models have what is stored; "
                    + "skippingUndecodable reads the other objects meanwhile")
        }
    }
}
