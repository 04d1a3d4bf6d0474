import RelataCore
import Synchronization

/// Whoever wants to know that a part of the database changed.
@_documentation(visibility: internal)
package protocol ChangeObserver: AnyObject, Sendable {
    /// A transaction was committed that wrote what the observer depends on. The writer waits meanwhile: return at once.
    func databaseChanged()
    /// The store is closed: nothing more will come.
    func storeClosed()
    /// Nobody can tell of others' commits: nothing more will come.
    func failed(_ error: any Error)
}

/// Where committed transactions are made known: to observers of parts of the database, and to feeds of all changes.
///
/// Observers are found by the tables that a transaction wrote, so that those of other tables cost it nothing.
package final class ChangeHub: Sendable {
    /// How much a transaction has to write down.
    private enum Level: Int {
        case nothing, tables, rows
    }

    /// The entities as they were last seen. A store whose classes change while it is open says so of each transaction.
    private let entities: Mutex<ChangeEntities>
    /// Whether the durable change log is kept.
    package let keepsLog: Bool
    private let state = Mutex(State())
    private let level = Atomic(Level.nothing.rawValue)
    private let watch: ExternalChanges
    /// How many seconds may pass until a commit of another process is noticed; `nil` for never.
    package let interval: Double?
    /// A number that no other store has, by which it knows its own transactions again.
    package let writer = Int64.random(in: 1 ... .max)
    /// What tells other processes of commits and hears of theirs, where the engine has such a thing.
    private let channel = Mutex<(any ChangeChannel)?>(nil)
    /// The connections of the store.
    private let attached = Mutex(WeakPool())

    private struct WeakPool {
        weak var pool: ConnectionPool?
    }

    private var pool: ConnectionPool? { attached.withLock { $0.pool } }

    /// How the entities are found out as a transaction sees them; `nil` where they never change.
    private let reader = Mutex<(@Sendable (Connection) throws -> ChangeEntities)?>(nil)

    /// Makes a hub.
    ///
    /// - Parameters:
    ///   - entities: What changes are told of, as long as nobody says otherwise.
    ///   - keepsLog: Whether each transaction is written to the durable change log.
    ///   - interval: How many seconds may pass until a commit of another process is noticed; `nil` for never.
    package init(_ entities: ChangeEntities, keepsLog: Bool, interval: Double?) {
        self.entities = Mutex(entities)
        self.keepsLog = keepsLog
        self.interval = interval
        watch = ExternalChanges(interval: interval)
    }

    /// - Throws: ``RelataError/invalidUse(_:)`` where the durable change log isn't kept.
    package func requireLog() throws(RelataError) {
        if keepsLog { return }
        throw .invalidUse("the store keeps no change log: open it with Options.changeLog = true")
    }

    /// From now on changes are told of these entities, unless a transaction says otherwise.
    package func follow(_ entities: ChangeEntities) { self.entities.withLock { $0 = entities } }

    /// Has the entities found out anew for each transaction of others that is told of: theirs may be others.
    package func readEntities(with reader: @escaping @Sendable (Connection) throws -> ChangeEntities) {
        self.reader.withLock { $0 = reader }
    }

    /// The entities as a transaction of the connection sees them.
    package func entities(for connection: Connection) throws -> ChangeEntities {
        guard let reader = reader.withLock({ $0 }) else { return lastEntities }
        return try reader(connection)
    }

    private var lastEntities: ChangeEntities { entities.withLock { $0 } }

    /// Makes what the database needs for transactions to be told to others, and to be kept in the change log.
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

    /// Whether feeds get all transactions from the log, this store's own as well: all stores' in one order.
    private var feedsFollowLog: Bool { keepsLog && interval != nil && currentChannel != nil }

    /// Finds out how much transactions have to write down from now on.
    private func updateLevel(_ state: State) {
        let needed: Level =
            if !state.feeds.isEmpty || state.keyed > 0 { .rows } else if state.entries.isEmpty { .nothing } else {
                .tables
            }
        level.store(needed.rawValue, ordering: .sequentiallyConsistent)
    }

    /// Looks for commits of others while somebody listens. Called without the lock: it runs a statement, which the
    /// program's own trace is told of.
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

    /// Adds an observer, which is told of every transaction until it has read something. Nothing happens if it was added
    /// already, or the store is closed.
    package func add(_ observer: any ChangeObserver) {
        state.withLock { state in
            let identity = ObjectIdentifier(observer)
            guard !state.isClosed, state.entries[identity] == nil else { return }
            state.entries[identity] = Entry(observer: observer)
            state.anywhere.insert(identity)
            updateLevel(state)
        }
        // Elsewhere others are heard from the first reading on.
        if currentChannel == nil { updateWatch() }
    }

    /// Begins to hear of others' commits, unless it does already. Observers call it before they read: what they don't find is
    /// news then.
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

    /// The observer begins to read: what is committed from now on may be missing in what it finds.
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
    ///   - region: What the value depends on.
    ///   - object: The one object that the value is, if it is one.
    /// - Returns: Whether it must read again, because what it depends on was written meanwhile.
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
        // A feed listens from the moment it is made, so that this can't be asked later.
        let moment = hears && !isClosed ? pool?.momentIfIdle() : nil
        state.withLock { state in
            state.isListening = state.isObserved
            let early = state.feeds[identity]?.early ?? []
            state.feeds[identity]?.start = moment
            state.feeds[identity]?.early = nil
            // Nobody reads it yet.
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
        // What is written from here on is no change of the transaction's own.
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

    /// A transaction was committed, and the writer is still held: so transactions are told in their order.
    func didCommit(_ connection: Connection) {
        guard let recorder = connection.recorder else {
            // Nobody listened when it began.
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

    /// A transaction is in the change log, and all that come before it were told.
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

    /// Something was committed, and nobody knows what: entities are named as they were last seen.
    package func publishUnknown() { publish(.everything, nil) }

    /// Others' commits can't be heard, for a reason that another try doesn't mend. Observers end with it. A feed can't, and
    /// is told that something may have changed.
    package func fail(_ error: any Error) {
        for observer in state.withLock({ $0.entries.values.map(\.observer) }) { observer.failed(error) }
        publishUnknown()
    }

    /// Writes down for other processes, within a transaction that isn't one of the pool's, that nobody knows what it did.
    package func willCommitUnknown(_ connection: Connection) throws(RelataError) {
        guard currentChannel != nil else { return }
        try connection.driver.changeLog.announce(CommitAnnouncement(ofAnythingBy: writer), on: connection)
    }

    /// Such a transaction was committed.
    package func didCommitUnknown() {
        publishUnknown()
        currentChannel?.didCommit()
    }

    /// Tells everybody that nothing more will come.
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
