import Foundation
import RelataCore

/// Mends what a check has found, within the open transaction.
///
/// Nothing is taken on trust: another check tells whether the findings are gone and nothing else has become worse. What
/// doesn't pass it is undone.
package struct RepairRun {
    private let connection: Connection
    private let check: () throws -> [IntegrityFinding]
    private var report = IntegrityRepairReport()

    /// Why a mend isn't kept.
    private struct Objection: Error { let reason: String }

    /// Mends findings, as far as they have a repair.
    ///
    /// - Parameter check: Finds what is wrong as the transaction sees it.
    /// - Throws: ``RelataError/busy(_:)`` for a finding that isn't there any more as it was shown.
    package static func run(
        _ findings: [IntegrityFinding], on connection: Connection, check: () throws -> [IntegrityFinding]
    ) throws -> IntegrityRepairReport {
        try withoutActuallyEscaping(check) { check in
            var run = RepairRun(connection: connection, check: check)
            try run.mend(findings)
            return run.report
        }
    }

    private init(connection: Connection, check: @escaping () throws -> [IntegrityFinding]) {
        self.connection = connection
        self.check = check
    }

    private mutating func mend(_ findings: [IntegrityFinding]) throws {
        report.remaining = try check()
        var wanted: [IntegrityFinding] = []
        for finding in findings where finding.repair != nil { wanted.append(try current(finding)) }
        // A check that reads by a broken index may find what isn't there, and miss what is.
        for finding in wanted where finding.kind == .damage { try mendAlone(finding) }
        let others = wanted.filter { $0.kind != .damage }
        // Where one of them is in the way, the others are mended all the same.
        if try others.count > 1 && attempt(others) == nil { return }
        for finding in others { try mendAlone(finding) }
    }

    /// The finding as it is now: its repair may have been made for other rows.
    private func current(_ finding: IntegrityFinding) throws(RelataError) -> IntegrityFinding {
        let same = report.remaining.first {
            $0.kind == finding.kind && $0.subject == finding.subject && $0.count == finding.count
                && $0.repair == finding.repair
        }
        if let same { return same }
        throw .busy("\(finding.subject) was changed since it was checked: check it again, and look at what is found")
    }

    private mutating func mendAlone(_ finding: IntegrityFinding) throws {
        if let reason = try attempt([finding]) {
            report.refused.append(IntegrityRepairReport.Refusal(finding: finding, reason: reason))
        }
    }

    /// Mends findings together.
    ///
    /// - Returns: Why that was undone; `nil` where they are mended.
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

    /// Objects where something is worse than before, or still there that should be mended.
    private static func compare(
        _ before: [IntegrityFinding], _ after: [IntegrityFinding], _ mended: [IntegrityFinding]
    ) throws {
        for finding in mended {
            let (earlier, later) = (count(before, like: finding), count(after, like: finding))
            guard later > 0, later >= earlier else { continue }
            throw Objection(reason: "it was still there afterwards, and all is left as it was")
        }
        // What a broken index has hidden isn't worse because it is seen.
        guard mended.allSatisfy({ $0.kind != .damage }) else { return }
        for finding in after where count(after, like: finding) > count(before, like: finding) {
            throw Objection(reason: "it is left as it was: mending it would make another worse (\(finding))")
        }
    }

    /// How much there is of one kind about one subject.
    private static func count(_ findings: [IntegrityFinding], like finding: IntegrityFinding) -> Int {
        findings.reduce(0) { $0 + ($1.kind == finding.kind && $1.subject == finding.subject ? $1.count : 0) }
    }
}
