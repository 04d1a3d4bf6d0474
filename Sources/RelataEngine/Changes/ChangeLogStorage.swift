import RelataCore

/// How an engine keeps the durable change log, and tells other processes what was committed.
package protocol ChangeLogStorage {
    /// The version of the format that it writes, and the newest that it reads.
    var version: Int { get }

    /// Makes the log's tables, or brings them up to date, in a transaction of its own.
    func create(on connection: Connection) throws
    /// Adds what a transaction did, within that, and returns where the log then stands, if there is something to add.
    func append(
        _ rows: [LogRow], by origin: ChangeOrigin?, _ announcement: CommitAnnouncement, to connection: Connection
    ) throws(RelataError) -> ChangePosition?
    /// Where the log stands.
    func end(on connection: Connection) throws(RelataError) -> ChangePosition
    /// The changes after a position, in order, no more than so many.
    func changes(
        after position: ChangePosition, limit: Int, schema: Schema, on connection: Connection
    ) throws(RelataError) -> [LoggedChange]
    /// Removes the changes up to a position, and returns how many.
    func remove(through position: ChangePosition, on connection: Connection) throws(RelataError) -> Int

    /// Makes what ``announce(_:on:)`` needs.
    func createAnnouncements(on connection: Connection) throws
    /// Writes down, within a transaction, which tables it wrote, for those who observe the database in other processes.
    func announce(_ announcement: CommitAnnouncement, on connection: Connection) throws(RelataError)
    /// Which transactions have ended by now; `nil` where transactions have no numbers.
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
    /// What was done.
    package let kind: String
    /// The keys as JSON.
    package let ids: String
    /// The properties as JSON.
    package let properties: String
    /// The revisions as JSON, if there are some.
    package let versions: String?
}

/// What other processes are told of a transaction.
package struct CommitAnnouncement {
    /// The store that made it, by a number of its own.
    package let writer: Int64
    /// The tables that it wrote; empty where nobody knows which.
    package let tables: [String]

    /// Tells of a transaction of which nobody knows what it wrote.
    init(ofAnythingBy writer: Int64) {
        self.writer = writer
        tables = []
    }

    /// Tells what was written; `nil` where there is nothing that others could see.
    init?(_ writes: TableRegion, by writer: Int64) {
        let tables = writes.tables.keys.filter { !ReservedNames.isOwn($0) }
        if tables.isEmpty && !writes.isEverything { return nil }
        self.writer = writer
        self.tables = writes.isEverything ? [] : tables.sorted()
    }
}
