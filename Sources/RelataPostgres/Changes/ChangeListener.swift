#if PostgreSQL
import RelataCore
import RelataEngine

/// Receives the commits of others, and reports them to the store's observers and feeds. It is used by the thread of a
/// ``ChangeWorker`` only.
final class ChangeListener {
    private weak var hub: ChangeHub?
    /// The state up to which commits are known; `nil` if it is unknown, so that everything counts as changed.
    private var known: TransactionSnapshot?
    /// The position of the feeds in the log; `nil` while they don't follow it.
    private var position: ChangePosition?
    /// The number of times it started to receive commits, and to follow the log.
    private var beginnings = 0
    private var logBeginnings = 0
    private var identity: DatabaseIdentity?
    /// The transactions that a standby has reported beyond those that are known to have ended.
    private var told: Set<Int64> = []

    init(_ hub: ChangeHub?) { self.hub = hub }

    /// Records a new connection. If it leads to another database, the known state is dropped.
    func connected(_ identity: DatabaseIdentity) {
        // The log's table may have been created since.
        if let earlier = self.identity, earlier.place != identity.place {
            known = nil
            position = nil
        }
        self.identity = identity
    }

    /// Reads the commits of others, and reports them.
    ///
    /// - Parameters:
    ///   - commits: The moment from which commits are new.
    ///   - log: The moment from which transactions in the log are new; `nil` if no feed follows it.
    /// - Returns: The oldest running transaction, if the log has changes that it doesn't show before that transaction
    ///   has ended.
    func read(_ connection: ChangeConnection, commits: ChangeBeginning, log: ChangeBeginning?) throws -> Int64? {
        guard let hub else { return nil }
        if beginnings != commits.count {
            beginnings = commits.count
            known = commits.moment
            told = []
        }
        // All reads see the same state of the database.
        try connection.connection.begin()
        defer { connection.connection.endReading() }
        let moment = try CommitTable.moment(on: connection.driver)
        // An observer that reads a replica after a report must find the reported changes there.
        if !moment.isStandby { connection.driver.didCommit() }
        try tellCommits(connection.driver, moment, hub)
        var obstacle: Int64?
        if let log {
            if logBeginnings != log.count {
                logBeginnings = log.count
                position = try firstPosition(connection, log.moment ?? moment.snapshot)
                // The earlier changes of others are unknown.
                if log.moment == nil { hub.publishUnknown() }
            }
            try tellLog(connection, moment.snapshot, hub)
            if moment.snapshot.oldest < moment.snapshot.next,
                try PostgresChangeLog(driver: connection.driver).isWithheld(from: moment.snapshot.oldest)
            {
                obstacle = moment.snapshot.oldest
            }
        } else {
            position = nil
        }
        known = moment.snapshot
        return obstacle
    }

    private func tellCommits(
        _ driver: PostgresDriver, _ moment: CommitTable.Moment, _ hub: ChangeHub
    ) throws(RelataError) {
        guard moment.hasTable else { return }
        guard let known, try knowsEnough(known, moment, driver) else {
            self.known = nil
            position = nil
            return hub.publishUnknown()
        }
        var commits = try CommitTable.commits(since: known, except: hub.writer, on: driver)
        if moment.isStandby {
            commits.removeAll { told.contains($0.transaction) }
            told.formUnion(commits.map(\.transaction))
            told = told.filter { $0 >= moment.snapshot.oldest }
        }
        hub.publish(commits)
    }

    /// Whether all new rows are still stored. If the transactions have lower numbers than before, an earlier copy of
    /// the files was restored.
    private func knowsEnough(
        _ known: TransactionSnapshot, _ moment: CommitTable.Moment, _ driver: PostgresDriver
    ) throws(RelataError) -> Bool {
        if !moment.isStandby, known.next > moment.snapshot.next { return false }
        return try CommitTable.lastRemoved(on: driver) < known.oldest
    }

    /// The position of the log at a moment: later changes have no lower number than the oldest transaction that ran.
    private func firstPosition(
        _ connection: ChangeConnection, _ moment: TransactionSnapshot
    ) throws(RelataError) -> ChangePosition {
        let end = try PostgresChangeLog(driver: connection.driver).end(on: connection.connection)
        return ChangePosition(log: end.log, transaction: moment.oldest, number: 0)
    }

    private func tellLog(_ connection: ChangeConnection, _ moment: TransactionSnapshot, _ hub: ChangeHub) throws {
        let log = PostgresChangeLog(driver: connection.driver)
        let end = try log.end(on: connection.connection)
        do {
            let first = ChangePosition(log: end.log, transaction: moment.oldest, number: 0)
            try tellRows(after: position ?? first, in: log, connection.connection, hub)
        } catch RelataError.invalidUse {
            // Another process has removed rows that weren't read yet.
            hub.publishUnknown()
        } catch RelataError.corruptStore {
            // A row that can't be read doesn't hide the rows after it.
            hub.publishUnknown()
        }
        position = end
    }

    private func tellRows(
        after first: ChangePosition, in log: PostgresChangeLog, _ connection: Connection, _ hub: ChangeHub
    ) throws {
        let pageSize = 1000
        let schema = try hub.entities(for: connection).schema
        var batch: [(transaction: Int64, change: LoggedChange)] = []
        var position = first
        while true {
            let page = try log.rows(after: position, limit: pageSize, schema: schema, on: connection)
            for row in page {
                if let first = batch.first, first.change.batch != row.change.batch {
                    tell(batch, hub)
                    batch = []
                }
                batch.append(row)
            }
            guard page.count == pageSize, let last = page.last else { break }
            position = last.change.position
        }
        tell(batch, hub)
    }

    /// Notifies feeds of a transaction.
    private func tell(_ batch: [(transaction: Int64, change: LoggedChange)], _ hub: ChangeHub) {
        guard let first = batch.first, let last = batch.last else { return }
        let changes = batch.map(\.change.change).merged()
        hub.publish(
            logged: ChangeSet(changes, position: last.change.position, origin: first.change.origin),
            of: first.transaction)
    }
}

extension [Change] {
    /// The changes of a transaction. Successive changes of one kind to an entity are merged.
    fileprivate func merged() -> [Change] {
        var result: [Change] = []
        var last: [String: Int] = [:]
        for change in self {
            if let place = last[change.entity], result[place].kind == change.kind,
                result[place].properties == change.properties, result[place].keys.width == change.keys.width
            {
                var keys = result[place].keys
                for (index, key) in change.keys.enumerated() where index > 0 || key != keys.last { keys.append(key) }
                result[place] = Change(
                    entity: change.entity, kind: change.kind, keys: keys, properties: change.properties)
            } else {
                last[change.entity] = result.count
                result.append(change)
            }
        }
        return result
    }
}
#endif
