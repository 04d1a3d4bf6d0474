import Foundation
import RelataCore

/// Repairs findings of a check, within the open transaction.
///
/// A second check confirms that the findings are gone and no other has become worse. A repair that fails it is rolled
/// back.
package struct RepairRun {
    private let connection: Connection
    private let check: () throws -> [IntegrityFinding]
    private var report = IntegrityRepairReport()

    /// The reason why a repair is rolled back.
    private struct Objection: Error { let reason: String }

    /// Repairs findings that have a repair.
    ///
    /// - Parameter check: Finds contradictions as the transaction sees them.
    /// - Throws: ``RelataError/busy(_:)`` for a finding that has changed since.
    package static func run(
        _ findings: [IntegrityFinding], on connection: Connection, check: () throws -> [IntegrityFinding]
    ) throws -> IntegrityRepairReport {
        try withoutActuallyEscaping(check) { check in
            var run = RepairRun(connection: connection, check: check)
            try run.fix(findings)
            return run.report
        }
    }

    private init(connection: Connection, check: @escaping () throws -> [IntegrityFinding]) {
        self.connection = connection
        self.check = check
    }

    private mutating func fix(_ findings: [IntegrityFinding]) throws {
        report.remaining = try check()
        var wanted: [IntegrityFinding] = []
        for finding in findings where finding.repair != nil { wanted.append(try current(finding)) }
        // A check that uses a broken index may find false contradictions, and miss real ones.
        for finding in wanted where finding.kind == .damage { try fixAlone(finding) }
        let others = wanted.filter { $0.kind != .damage }
        // If one of them fails, the others are still repaired.
        if try others.count > 1 && attempt(others) == nil { return }
        for finding in others { try fixAlone(finding) }
    }

    /// The current finding: its repair may have been made for other rows.
    private func current(_ finding: IntegrityFinding) throws(RelataError) -> IntegrityFinding {
        let same = report.remaining.first {
            $0.kind == finding.kind && $0.subject == finding.subject && $0.count == finding.count
                && $0.repair == finding.repair
        }
        if let same { return same }
        throw .busy("\(finding.subject) was changed since it was checked: check it again")
    }

    private mutating func fixAlone(_ finding: IntegrityFinding) throws {
        if let reason = try attempt([finding]) {
            report.refused.append(IntegrityRepairReport.Refusal(finding: finding, reason: reason))
        }
    }

    /// Repairs findings together.
    ///
    /// - Returns: The reason why the repair was rolled back; `nil` if it succeeded.
    private mutating func attempt(_ findings: [IntegrityFinding]) throws -> String? {
        do {
            report.remaining = try connection.savepoint {
                for repair in findings.compactMap(\.repair) { try apply(repair) }
                let after = try check()
                try Self.compare(report.remaining, after, findings)
                return after
            }
            report.repaired += findings
            return nil
        } catch let objection as Objection {
            return objection.reason
        } catch let error as RelataError where connection.isInTransaction && !Task.isCancelled {
            return error.description
        }
    }

    private func apply(_ repair: IntegrityRepair) throws {
        for step in repair.steps {
            let now = try step.stamp.map { Parameter.value(try DateCoding($0).encode(Date())) }
            try connection.run(SQLStatement(step.sql, [now].compactMap(\.self)))
        }
    }

    /// Subjects with more contradictions than before, or with ones that should be repaired.
    private static func compare(
        _ before: [IntegrityFinding], _ after: [IntegrityFinding], _ fixed: [IntegrityFinding]
    ) throws {
        for finding in fixed {
            let (earlier, later) = (count(before, like: finding), count(after, like: finding))
            guard later > 0, later >= earlier else { continue }
            throw Objection(reason: "the finding was still there after the repair, which was rolled back")
        }
        // Contradictions that a broken index had hidden don't count as worse.
        guard fixed.allSatisfy({ $0.kind != .damage }) else { return }
        for finding in after where count(after, like: finding) > count(before, like: finding) {
            throw Objection(reason: "the repair was rolled back, because it made another finding worse (\(finding))")
        }
    }

    /// The number of contradictions of one kind in one subject.
    private static func count(_ findings: [IntegrityFinding], like finding: IntegrityFinding) -> Int {
        findings.reduce(0) { $0 + ($1.kind == finding.kind && $1.subject == finding.subject ? $1.count : 0) }
    }
}
