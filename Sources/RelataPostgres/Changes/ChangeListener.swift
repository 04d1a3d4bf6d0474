#if PostgreSQL
import RelataCore
import RelataEngine

/// What a store has heard of others' commits, and what it tells its observers and feeds. One thread uses it, that of a
/// ``ChangeWorker``.
final class ChangeListener {
    private weak var hub: ChangeHub?
    /// What is known; `nil` where nobody knows, so that everything counts as changed.
    private var known: TransactionSnapshot?
    /// Where feeds stand in the log; `nil` while they don't follow it.
    private var position: ChangePosition?
    /// How often it began to hear of commits, and to follow the log.
    private var beginnings = 0
    private var logBeginnings = 0
    private var identity: DatabaseIdentity?
    /// The transactions of which a standby has told beyond those that are known to have ended.
    private var told: Set<Int64> = []

    init(_ hub: ChangeHub?) { self.hub = hub }

    /// A connection was made: what was heard before means nothing where that leads to another database.
    func connected(_ identity: DatabaseIdentity) {
        // The log's table may have been made since.
        if let earlier = self.identity, earlier.place != identity.place {
            known = nil
            position = nil
        }
        self.identity = identity
    }

    /// Reads what others have committed, and tells of it.
    ///
    /// - Parameters:
    ///   - commits: Since when commits are news.
    ///   - log: Since when transactions in the log are news; `nil` where nobody follows it.
    /// - Returns: The oldest transaction that runs, where the log holds something that it doesn't show before that has
    ///   ended.
    func read(_ connection: ChangeConnection, commits: ChangeBeginning, log: ChangeBeginning?) throws -> Int64? {
        guard let hub else { return nil }
        if beginnings != commits.count {
            beginnings = commits.count
            known = commits.moment
            told = []
        }
        // One state of the database for all that is read.
        try connection.connection.begin()
        defer { connection.connection.endReading() }
        let moment = try CommitTable.moment(on: connection.driver)
        // Who reads a replica because of what it is told of finds it there.
        if !moment.isStandby { connection.driver.didCommit() }
        try tellCommits(connection.driver, moment, hub)
        var obstacle: Int64?
        if let log {
            if logBeginnings != log.count {
                logBeginnings = log.count
                position = try firstPosition(connection, log.moment ?? moment.snapshot)
                // What others did until now isn't known.
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

    /// Whether all that is news is still there. Transactions with lower numbers than before are those of an earlier copy of
    /// the files that was put back.
    private func knowsEnough(
        _ known: TransactionSnapshot, _ moment: CommitTable.Moment, _ driver: PostgresDriver
    ) throws(RelataError) -> Bool {
        if !moment.isStandby, known.next > moment.snapshot.next { return false }
        return try CommitTable.lastRemoved(on: driver) < known.oldest
    }

    /// Where the log stood at a moment: what wasn't known then has no lower number than the oldest transaction that ran.
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
            // Somebody has removed what wasn't read yet.
            hub.publishUnknown()
        } catch RelataError.corruptStore {
            // A row that can't be read hides none of those behind it.
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

    /// Tells feeds of a transaction.
    private func tell(_ batch: [(transaction: Int64, change: LoggedChange)], _ hub: ChangeHub) {
        guard let first = batch.first, let last = batch.last else { return }
        let changes = batch.map(\.change.change).merged()
        hub.publish(
            logged: ChangeSet(changes, position: last.change.position, origin: first.change.origin),
            of: first.transaction)
    }
}

extension [Change] {
    /// The changes of a transaction with those of its statements put together that say the same of an entity, one after the
    /// other.
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
