import RelataCore

/// Stores an engine's durable change log, and notifies other processes of commits.
package protocol ChangeLogStorage {
    /// The version of the format that it writes, and the newest that it reads.
    var version: Int { get }

    /// Creates the log's tables, or updates them, in a separate transaction.
    func create(on connection: Connection) throws
    /// Adds a transaction's changes, within that transaction, and returns the end of the log, if there are changes.
    func append(
        _ rows: [LogRow], by origin: ChangeOrigin?, _ announcement: CommitAnnouncement, to connection: Connection
    ) throws(RelataError) -> ChangePosition?
    /// The position of the log's end.
    func end(on connection: Connection) throws(RelataError) -> ChangePosition
    /// The changes after a position, in order, at most that many.
    func changes(
        after position: ChangePosition, limit: Int, schema: Schema, on connection: Connection
    ) throws(RelataError) -> [LoggedChange]
    /// Removes the changes up to a position, and returns their number.
    func remove(through position: ChangePosition, on connection: Connection) throws(RelataError) -> Int

    /// Makes what ``announce(_:on:)`` needs.
    func createAnnouncements(on connection: Connection) throws
    /// Records, within a transaction, which tables it wrote, for observers in other processes.
    func announce(_ announcement: CommitAnnouncement, on connection: Connection) throws(RelataError)
    /// The transactions that have ended by now; `nil` if transactions have no numbers.
    func moment(on connection: Connection) throws(RelataError) -> TransactionSnapshot?
}

extension ChangeLogStorage {
    package func moment(on connection: Connection) throws(RelataError) -> TransactionSnapshot? { nil }
    package func createAnnouncements(on connection: Connection) throws {}
    package func announce(_ announcement: CommitAnnouncement, on connection: Connection) throws(RelataError) {}
}

/// A change as the log keeps it.
package struct LogRow {
    /// The entity's name.
    package let entity: String
    /// The kind of change.
    package let kind: String
    /// The keys as JSON.
    package let ids: String
    /// The properties as JSON.
    package let properties: String
    /// The revisions as JSON, if there are some.
    package let versions: String?
}

/// A notification of a transaction for other processes.
package struct CommitAnnouncement {
    /// The store that made it, by its unique number.
    package let writer: Int64
    /// The tables that it wrote; empty if they aren't known.
    package let tables: [String]

    /// A notification of a transaction with unknown writes.
    init(ofAnythingBy writer: Int64) {
        self.writer = writer
        tables = []
    }

    /// A notification of writes; `nil` if others can see none of them.
    init?(_ writes: TableRegion, by writer: Int64) {
        let tables = writes.tables.keys.filter { !ReservedNames.isOwn($0) }
        if tables.isEmpty && !writes.isEverything { return nil }
        self.writer = writer
        self.tables = writes.isEverything ? [] : tables.sorted()
    }
}
