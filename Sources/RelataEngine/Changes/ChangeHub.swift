import RelataCore
import Synchronization

/// An observer of changes in a part of the database.
@_documentation(visibility: internal)
package protocol ChangeObserver: AnyObject, Sendable {
    /// A transaction was committed that wrote something the observer depends on. The writer waits: return at once.
    func databaseChanged()
    /// The store is closed: nothing more will come.
    func storeClosed()
    /// Commits of others can't be received any more: no further notification follows.
    func failed(_ error: any Error)
}

/// Distributes committed transactions: to observers of parts of the database, and to feeds of all changes.
///
/// Observers are found by the tables that a transaction wrote, so those of other tables cost it nothing.
package final class ChangeHub: Sendable {
    /// The part of its changes that a transaction has to record.
    private enum Level: Int {
        case nothing, tables, rows
    }

    /// The latest known entities. A store whose classes change while it is open sets them with each transaction.
    private let entities: Mutex<ChangeEntities>
    /// Whether the durable change log is kept.
    package let keepsLog: Bool
    private let state = Mutex(State())
    private let level = Atomic(Level.nothing.rawValue)
    private let watch: ExternalChanges
    /// The longest time, in seconds, until a commit of another process is noticed; `nil` for never.
    package let interval: Double?
    /// The unique number of this store, by which it recognises its own transactions.
    package let writer = Int64.random(in: 1 ... .max)
    /// The channel to other processes, if the engine has one.
    private let channel = Mutex<(any ChangeChannel)?>(nil)
    /// The connections of the store.
    private let attached = Mutex(WeakPool())

    private struct WeakPool {
        weak var pool: ConnectionPool?
    }

    private var pool: ConnectionPool? { attached.withLock { $0.pool } }

    /// Reads the entities as a transaction sees them; `nil` if they never change.
    private let reader = Mutex<Reader?>(nil)

    /// A separate type: a closure directly in a mutex would be wrapped again at each read, and each call would go
    /// through all of the wrappers.
    private struct Reader: Sendable {
        let entities: @Sendable (Connection) throws -> ChangeEntities
    }

    /// Creates a hub.
    ///
    /// - Parameters:
    ///   - entities: The entities to report changes for, until others are set.
    ///   - keepsLog: Whether each transaction is written to the durable change log.
    ///   - interval: The longest time, in seconds, until a commit of another process is noticed; `nil` for never.
    package init(_ entities: ChangeEntities, keepsLog: Bool, interval: Double?) {
        self.entities = Mutex(entities)
        self.keepsLog = keepsLog
        self.interval = interval
        watch = ExternalChanges(interval: interval)
    }

    /// - Throws: ``RelataError/invalidUse(_:)`` without the durable change log.
    package func requireLog() throws(RelataError) {
        if keepsLog { return }
        throw .invalidUse("the store keeps no change log: open it with Options.changeLog = true")
    }

    /// From now on, changes are reported for these entities, unless a transaction sets others.
    package func follow(_ entities: ChangeEntities) { self.entities.withLock { $0 = entities } }

    /// Reads the entities again for each reported transaction of others, because they may have changed.
    package func readEntities(with reader: @escaping @Sendable (Connection) throws -> ChangeEntities) {
        self.reader.withLock { $0 = Reader(entities: reader) }
    }

    /// The entities as a transaction of the connection sees them.
    package func entities(for connection: Connection) throws -> ChangeEntities {
        guard let reader = reader.withLock({ $0 }) else { return lastEntities }
        return try reader.entities(connection)
    }

    private var lastEntities: ChangeEntities { entities.withLock { $0 } }

    /// Creates the database objects for notifications and for the change log.
    package func prepare(_ connection: Connection) throws {
        if keepsLog { try ChangeLog.create(on: connection) }
        if currentChannel != nil { try connection.driver.changeLog.createAnnouncements(on: connection) }
    }

    func attach(_ pool: ConnectionPool) throws(RelataError) {
        if let channel = try pool.engine.changeChannel(for: self) {
            self.channel.withLock { $0 = channel }
            attached.withLock { $0 = WeakPool(pool: pool) }
        } else {
            watch.attach(pool)
        }
    }

    private var currentChannel: (any ChangeChannel)? { channel.withLock { $0 } }

    /// Whether feeds get all transactions from the log, including this store's own: all stores' in one order.
    private var feedsFollowLog: Bool { keepsLog && interval != nil && currentChannel != nil }

    /// Determines which changes transactions must record from now on.
    private func updateLevel(_ state: State) {
        let needed: Level =
            if !state.feeds.isEmpty || state.keyed > 0 { .rows } else if state.entries.isEmpty { .nothing } else {
                .tables
            }
        level.store(needed.rawValue, ordering: .sequentiallyConsistent)
    }

    /// Checks for commits of others while something is observed. Called without the lock, because it runs a statement,
    /// which calls the program's trace.
    private func updateWatch(from moment: TransactionSnapshot? = nil) {
        if let channel = currentChannel {
            guard interval != nil else { return }
            channel.update(from: moment) {
                self.state.withLock { state in
                    ChangeInterest(
                        isListening: state.isListening, followsLog: self.keepsLog && !state.feeds.isEmpty)
                }
            }
            return
        }
        watch.update(
            isNeeded: { self.level.load(ordering: .sequentiallyConsistent) != Level.nothing.rawValue },
            notify: { [weak self] in self?.publishUnknown() })
    }

    // MARK: Observers

    /// Adds an observer, which is notified of every transaction until it has read something. Does nothing if it was
    /// added already, or the store is closed.
    package func add(_ observer: any ChangeObserver) {
        state.withLock { state in
            let identity = ObjectIdentifier(observer)
            guard !state.isClosed, state.entries[identity] == nil else { return }
            state.entries[identity] = Entry(observer: observer)
            state.anywhere.insert(identity)
            updateLevel(state)
        }
        // Otherwise, commits of others are received from the first reading on.
        if currentChannel == nil { updateWatch() }
    }

    /// Begins to receive commits of others, unless it does already. Observers call it before they read, so that later
    /// commits are reported.
    func beginListening() async {
        guard interval != nil, currentChannel != nil, !state.withLock({ $0.isClosed || $0.isListening }) else { return }
        let moment = await pool?.moment()
        state.withLock { $0.isListening = $0.isObserved }
        updateWatch(from: moment)
    }

    /// Removes an observer.
    package func remove(_ observer: any ChangeObserver) {
        state.withLock { state in
            let identity = ObjectIdentifier(observer)
            state.withdraw(identity)
            state.running.remove(identity)
            if state.entries.removeValue(forKey: identity) != nil { updateLevel(state) }
            if !state.isObserved { state.isListening = false }
        }
        updateWatch()
    }

    /// The observer begins to read: later commits may be missing in its result.
    package func beginReading(_ observer: any ChangeObserver) {
        state.withLock { state in
            let identity = ObjectIdentifier(observer)
            guard state.entries[identity] != nil else { return }
            state.entries[identity]?.missed = TableRegion()
            state.running.insert(identity)
        }
    }

    /// The observer has read its value.
    ///
    /// - Parameters:
    ///   - region: The part of the database that the value depends on.
    ///   - object: The one object that the value is, if it is one.
    /// - Returns: Whether it must read again, because its dependencies were written in the meantime.
    package func endReading(
        _ observer: any ChangeObserver, region: TableRegion, object: (table: String, key: KeyValue)? = nil
    ) -> Bool {
        state.withLock { state in
            let identity = ObjectIdentifier(observer)
            state.running.remove(identity)
            guard var entry = state.entries[identity] else { return false }
            let missed = entry.missed ?? TableRegion()
            entry.missed = nil
            if entry.region != region || entry.object?.key != object?.key {
                state.withdraw(identity)
                entry.region = region
                entry.object = object
                state.entries[identity] = entry
                state.enter(identity)
                updateLevel(state)
            } else {
                state.entries[identity] = entry
            }
            return region.isAffected(by: missed)
        }
    }

    // MARK: Feeds

    func add(_ feed: ChangeBuffer) {
        let identity = ObjectIdentifier(feed)
        let hears = interval != nil && currentChannel != nil
        let isClosed = state.withLock { state in
            if state.isClosed { return true }
            state.feeds[identity] = Feed(buffer: feed, start: nil, early: hears ? [] : nil)
            updateLevel(state)
            return false
        }
        // A feed begins when it is made, so this can't be requested later.
        let moment = hears && !isClosed ? pool?.momentIfIdle() : nil
        state.withLock { state in
            state.isListening = state.isObserved
            let early = state.feeds[identity]?.early ?? []
            state.feeds[identity]?.start = moment
            state.feeds[identity]?.early = nil
            // The feed has no reader yet.
            for (transaction, changes) in early where moment.map({ !$0.sees(transaction) }) ?? true {
                feed.append(changes)
            }
        }
        updateWatch(from: moment)
        if isClosed { feed.finish() }
    }

    func remove(_ feed: ChangeBuffer) {
        state.withLock { state in
            state.feeds[ObjectIdentifier(feed)] = nil
            updateLevel(state)
            if !state.isObserved { state.isListening = false }
        }
        updateWatch()
    }

    // MARK: Transactions

    /// A transaction begins.
    func begin(_ connection: Connection) {
        let level = Level(rawValue: level.load(ordering: .sequentiallyConsistent)) ?? .rows
        guard keepsLog || level != .nothing || currentChannel != nil else { return }
        let recorder = ChangeRecorder(lastEntities, listsRows: keepsLog || level == .rows)
        connection.recorder = recorder
        connection.beginLogging(recorder.accesses)
    }

    /// A transaction is about to be committed.
    func willCommit(_ connection: Connection) throws {
        guard let recorder = connection.recorder, keepsLog || currentChannel != nil else { return }
        let announcement = CommitAnnouncement(recorder.accesses.writes, by: writer)
        // Writes from here on don't belong to the transaction's changes.
        try connection.withoutLogging {
            if keepsLog {
                recorder.position = try ChangeLog.append(
                    recorder.statements, by: recorder.origin, schema: recorder.schema,
                    announcement: announcement ?? CommitAnnouncement(ofAnythingBy: writer), to: connection)
            } else if let announcement {
                try connection.driver.changeLog.announce(announcement, on: connection)
            }
        }
        recorder.isAnnounced = announcement != nil
    }

    /// Does ``willCommit(_:)`` before the last statement of a transaction; `nil` if the statement's changes must be known.
    func earlyCommit(of connection: Connection) -> (() throws -> Void)? {
        guard !keepsLog, connection.recorder?.listsRows != true else { return nil }
        return { try self.willCommit(connection) }
    }

    /// A transaction was committed, and the writer is still held, so that transactions are reported in order.
    func didCommit(_ connection: Connection) {
        guard let recorder = connection.recorder else {
            // The hub had no observer when the transaction began.
            if level.load(ordering: .sequentiallyConsistent) != Level.nothing.rawValue { publishUnknown() }
            return
        }
        end(connection)
        let writes = recorder.accesses.writes
        if !writes.isEmpty { publish(writes, recorder) }
        if recorder.isAnnounced { currentChannel?.didCommit() }
    }

    /// A transaction ended.
    func end(_ connection: Connection) {
        guard connection.recorder != nil else { return }
        connection.endLogging()
        connection.recorder = nil
    }

    private func publish(_ writes: TableRegion, _ recorder: ChangeRecorder?) {
        let (buffers, hasKeyed) = state.withLock { ($0.feeds.values.map(\.buffer), $0.keyed > 0) }
        let feeds = recorder != nil && feedsFollowLog ? [] : buffers
        let changes: ChangeSet? = if !feeds.isEmpty || hasKeyed { changeSet(recorder) } else { nil }
        let entities = recorder?.entities ?? lastEntities
        let observers = state.withLock {
            $0.affected(by: writes, recorder?.listsRows == true ? changes : nil, entities)
        }
        for observer in observers { observer.databaseChanged() }
        if let changes, !changes.changes.isEmpty {
            for feed in feeds { feed.append(changes) }
        }
    }

    // MARK: Other processes

    /// Others committed transactions, in any order.
    package func publish(_ commits: [ExternalCommit]) {
        guard !commits.isEmpty else { return }
        var writes = TableRegion()
        for commit in commits { writes.formUnion(commit.writes) }
        let entities = lastEntities
        let observers = state.withLock { $0.affected(by: writes, nil, entities) }
        for observer in observers { observer.databaseChanged() }
        let followsLog = feedsFollowLog
        for commit in commits where !(followsLog && commit.isLogged) {
            let changes = entities.unknownChanges(of: commit.writes)
            if !changes.isEmpty { tellFeeds(ChangeSet(changes), of: commit.transaction) }
        }
    }

    /// A transaction is in the change log, and all earlier ones were reported.
    package func publish(logged changes: ChangeSet, of transaction: Int64) { tellFeeds(changes, of: transaction) }

    private func tellFeeds(_ changes: ChangeSet, of transaction: Int64) {
        let buffers = state.withLock { state in
            state.feeds.keys.compactMap { identity in
                state.feeds[identity]?.takes(changes, of: transaction) == true ? state.feeds[identity]?.buffer : nil
            }
        }
        for buffer in buffers { buffer.append(changes) }
    }

    private func changeSet(_ recorder: ChangeRecorder?) -> ChangeSet {
        recorder?.changeSet() ?? ChangeSet(lastEntities.schema.tables.map { Change(entity: $0.name, kind: .unknown) })
    }

    /// Something unknown was committed: the latest known entities are reported.
    package func publishUnknown() { publish(.everything, nil) }

    /// Commits of others can't be received, for a permanent reason. Observers end with the error. A feed can't; it
    /// reports that something may have changed.
    package func fail(_ error: any Error) {
        for observer in state.withLock({ $0.entries.values.map(\.observer) }) { observer.failed(error) }
        publishUnknown()
    }

    /// Records for other processes that the changes of a transaction, which isn't one of the pool's, aren't known.
    package func willCommitUnknown(_ connection: Connection) throws(RelataError) {
        guard currentChannel != nil else { return }
        try connection.driver.changeLog.announce(CommitAnnouncement(ofAnythingBy: writer), on: connection)
    }

    /// Such a transaction was committed.
    package func didCommitUnknown() {
        publishUnknown()
        currentChannel?.didCommit()
    }

    /// Informs all observers and feeds that the store is closed.
    func close() {
        let (entries, feeds) = state.withLock { state in
            state.isClosed = true
            let result = (state.entries.values.map(\.observer), state.feeds.values.map(\.buffer))
            state = State(isClosed: true)
            updateLevel(state)
            return result
        }
        updateWatch()
        currentChannel?.close()
        for observer in entries { observer.storeClosed() }
        for feed in feeds { feed.finish() }
    }
}
