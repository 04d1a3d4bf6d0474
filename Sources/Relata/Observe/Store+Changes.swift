import RelataCore
import RelataEngine

extension Store {
    /// The committed changes of this store's transactions from now on: inserted, updated and deleted objects, including
    /// cascades and edits on links.
    ///
    /// Changes of SQL of your own, of triggers and of other processes name the entity only.
    public var changes: ChangeFeed {
        guard let caller else { return ChangeFeed(hub, access) }
        let names = Dictionary(schema.tables.map { (caller.reportedName(of: $0), $0.name) }) { first, _ in first }
        // Others than the models' may be hidden, too.
        return ChangeFeed(hub, access.renamed(names, from: schema), of: Set(names.keys))
    }

    /// Changes of the durable log after a position, in order, at most that many: a reader continues from its last
    /// position, without missing a commit. Begin at 0, and then use the last change's position.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if the store was opened without ``DatabaseOptions/changeLog``, or
    ///   changes after the position were removed.
    public func changes(after position: ChangePosition, limit: Int = 1000) async throws -> [LoggedChange] {
        try hub.requireLog()
        return try await readLog { try $0.changes(after: position, limit: limit) }
    }

    /// Changes of the durable log after a position, as the call with `async`.
    ///
    /// - Throws: The errors of the call with `async`.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func changes(after position: ChangePosition, limit: Int = 1000) throws -> [LoggedChange] {
        try hub.requireLog()
        return try readLog { try $0.changes(after: position, limit: limit) }
    }

    /// The end of the durable log: a reader that reads all objects after this call, and then continues from here with
    /// `changes(after:limit:)`, misses nothing.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if the store was opened without ``DatabaseOptions/changeLog``.
    public func endOfChanges() async throws -> ChangePosition {
        try hub.requireLog()
        return try await readLog { try $0.endOfChanges() }
    }

    /// The end of the durable log, as the call with `async`.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if the store was opened without ``DatabaseOptions/changeLog``.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func endOfChanges() throws -> ChangePosition {
        try hub.requireLog()
        return try readLog { try $0.endOfChanges() }
    }

    /// Removes changes up to a position from the durable log, when every reader has read them. Returns their number.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if the store was opened without ``DatabaseOptions/changeLog``.
    @discardableResult
    public func removeChanges(through position: ChangePosition) async throws -> Int {
        try hub.requireLog()
        return try await write { try $0.removeChanges(through: position) }
    }

    /// Removes changes up to a position from the durable log, as the call with `async`.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if the store was opened without ``DatabaseOptions/changeLog``.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func removeChanges(through position: ChangePosition) throws -> Int {
        try hub.requireLog()
        return try write { try $0.removeChanges(through: position) }
    }
}

extension Store {
    /// Reads the log on the server that writes it: a replica has other positions.
    private func readLog<Result: Sendable>(
        _ body: @Sendable (ReadTransaction) throws -> Result
    ) async throws -> Result {
        guard pool.engine.readsReplicas else { return try await read(body) }
        return try await pool.alone { try self.snapshot($0, body) }
    }

    private func readLog<Result>(_ body: (ReadTransaction) throws -> Result) throws -> Result {
        guard pool.engine.readsReplicas else { return try read(body) }
        return try pool.withWriter { try snapshot($0, body) }
    }
}

extension ReadTransaction {
    fileprivate func changes(after position: ChangePosition, limit: Int) throws -> [LoggedChange] {
        try requireOwner(for: "reading the change log")
        return try ChangeLog.changes(after: position, limit: limit, schema: catalog.schema, on: connection).map {
            $0.seen(under: access)
        }
    }

    fileprivate func endOfChanges() throws -> ChangePosition {
        try requireOwner(for: "reading the change log")
        return try ChangeLog.end(on: connection)
    }
}

extension WriteTransaction {
    fileprivate func removeChanges(through position: ChangePosition) throws -> Int {
        try requireOwner(for: "trimming the change log")
        return try ChangeLog.remove(through: position, on: connection)
    }
}
