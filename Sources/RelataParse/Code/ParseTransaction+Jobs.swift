import Foundation
import RelataCore
import RelataEngine

/// A run that is about to begin.
struct JobStart: Sendable {
    let name: String
    /// The lock that only one run can hold; `nil` if other runs of the job are allowed.
    let lock: String?
    /// The source of the request: `api` or `schedule`.
    let source: String
    var parameters: JSONObject = [:]
    /// The job's last known start. The run begins only if the job wasn't started since.
    var since: Date?
}

/// The locks are rows with unique names. `job:NAME` contains the job's last start, the run that holds the lock, and the
/// time when the lock expires. `run:ID` belongs to a run without a lock of its job.
extension ParseTransaction {
    /// Takes the lock of a run.
    ///
    /// - Returns: Whether the lock was free.
    func lock(_ start: JobStart, run: String, _ now: Date, lease: Double) throws -> Bool {
        let name = start.lock.map { "job:" + $0 } ?? "run:" + run
        let since = start.since.map(Self.milliseconds)
        var values: [Value] = [
            .text(name), .text(run), .integer(Self.milliseconds(now)),
            .integer(Self.milliseconds(now.addingTimeInterval(lease))),
        ]
        if let since { values.append(.integer(since)) }
        try changeAccounts(ServiceClasses.jobLock, values) { table, values in
            """
            INSERT INTO \(table) (name, run, "startedAt", "endsAt") VALUES (\(values.prefix(4).joined(separator: ", ")))
            ON CONFLICT (name) DO UPDATE SET run = excluded.run, "startedAt" = excluded."startedAt",
                "endsAt" = excluded."endsAt"
            WHERE \(table)."endsAt" <= \(values[2])\(since == nil ? "" : " AND \(table).\"startedAt\" = \(values[4])")
            """
        }
        let holder = try accountRows(ServiceClasses.jobLock, [.text(name)]) { table, values in
            "SELECT run FROM \(table) WHERE name = \(values[0])"
        }.first?[0].plainText
        return holder == run
    }

    /// The time when a job was last started; now, if it is new.
    ///
    /// A start in the future, because the clock of a server was wrong, counts as now.
    func lastStart(of job: String, _ now: Date) throws -> Date {
        let latest = now.addingTimeInterval(Self.clockTolerance)
        try changeAccounts(
            ServiceClasses.jobLock,
            [.text("job:" + job), .integer(Self.milliseconds(now)), .integer(Self.milliseconds(latest))]
        ) {
            "UPDATE \($0) SET \"startedAt\" = \($1[1]) WHERE name = \($1[0]) AND \"startedAt\" > \($1[2])"
        }
        try changeAccounts(ServiceClasses.jobLock, [.text("job:" + job), .integer(Self.milliseconds(now))]) {
            """
            INSERT INTO \($0) (name, run, "startedAt", "endsAt") VALUES (\($1[0]), '', \($1[1]), 0)
            ON CONFLICT (name) DO NOTHING
            """
        }
        let row = try accountRows(ServiceClasses.jobLock, [.text("job:" + job)]) {
            "SELECT \"startedAt\" FROM \($0) WHERE name = \($1[0])"
        }.first
        return Date(timeIntervalSince1970: Double(row?[0].wholeNumber ?? 0) / 1000)
    }

    /// The number of seconds that the clock of another server may be ahead before it counts as wrong.
    private static let clockTolerance = 3600.0

    /// Records that runs are still running.
    ///
    /// - Returns: The runs that have lost their locks: another server considered their server dead.
    func extendRuns(_ runs: [String], until end: Date) throws -> [String] {
        let held = Set(
            try accountRows(ServiceClasses.jobLock, []) { table, _ in "SELECT run FROM \(table) WHERE run <> ''" }
                .compactMap { $0[0].plainText })
        for run in runs where held.contains(run) {
            try changeAccounts(ServiceClasses.jobLock, [.text(run), .integer(Self.milliseconds(end))]) {
                "UPDATE \($0) SET \"endsAt\" = \($1[1]) WHERE run = \($1[0])"
            }
        }
        return runs.filter { !held.contains($0) }
    }

    /// Records runs as failed if their locks have expired.
    func failAbandonedRuns(_ now: Date) throws {
        let runs = try accountRows(ServiceClasses.jobLock, [.integer(Self.milliseconds(now))]) {
            "SELECT run FROM \($0) WHERE run <> '' AND \"endsAt\" <= \($1[0])"
        }
        for run in runs.compactMap({ $0[0].plainText }) {
            try endRun(run, ["status": "failed", "message": .string(ServiceClasses.stopped)])
        }
    }

    /// Records the end of a run, unless it was recorded before, and frees its lock.
    func endRun(_ run: String, _ end: JSONObject) throws {
        try changeAccounts(ServiceClasses.jobLock, [.text(run)]) {
            "DELETE FROM \($0) WHERE run = \($1[0]) AND name LIKE 'run:%'"
        }
        try changeAccounts(ServiceClasses.jobLock, [.text(run)]) {
            "UPDATE \($0) SET run = '', \"endsAt\" = 0 WHERE run = \($1[0])"
        }
        var end = end
        end["finishedAt"] = ["__type": "Date", "iso": .string(DateText.parseText(now))]
        try changeStatus(of: run, end)
    }

    // MARK: Statuses

    func addStatus(_ id: String, _ start: JobStart) throws {
        let body = try ObjectBody([
            "jobName": .string(start.name), "source": .string(start.source), "status": "running",
            "params": .object(start.parameters),
        ])
        let statuses = try statuses()
        var writer = ObjectWriter(self, statuses)
        _ = try writer.create(body, of: body.fields.names.map { statuses[$0] }, key: KeyValue(.text(id)))
    }

    /// Changes the status of a run that hasn't ended.
    func changeStatus(of id: String, _ changes: JSONObject) throws {
        let statuses = try statuses()
        guard let row = try connection.row(KeyValue(.text(id)), of: statuses.table, unlimitedCompiler),
            let column = statuses.table.columnIndexes(of: "status").first, row[column].plainText == "running"
        else { return }
        let body = try ObjectBody(changes)
        var writer = ObjectWriter(self, statuses)
        try writer.update(KeyValue(.text(id)), body, of: body.fields.names.map { statuses[$0] })
    }

    private func statuses() throws(ParseError) -> ParseClass {
        guard AccountClasses.isThere(ServiceClasses.jobStatus, in: storedClasses.schema),
            let statuses = storedClasses[ServiceClasses.jobStatus]
        else { throw ParseError.tableIsForeign(ServiceClasses.jobStatus) }
        return statuses
    }
}
