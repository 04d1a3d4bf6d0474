public import RelataCore
public import RelataEngine

// Values that follow the database.
extension RecordStore {
    /// Observes a query: its objects now, and after each commit that changes them, classes and fields that appear
    /// included.
    ///
    /// It is read again only when a transaction wrote to a table that it depends on (and, where only columns were updated,
    /// to one of the columns that it reads), or changed classes. What other processes write is noticed after at most
    /// ``Options/externalChangeDelay``, whatever the table.
    public func observe(_ query: RecordQuery) -> ObservedRecords<[Record]> {
        observe(identity: ObservedIdentity(query)) { try $0.fetch(query) }
    }

    /// Observes the number of a query's objects.
    public func observe(countOf query: RecordQuery) -> ObservedRecords<Int> {
        observe(identity: ObservedIdentity(query)) { try $0.count(query) }
    }

    /// Observes an object; `nil` while it isn't there. Changes of other objects cost nothing.
    public func observe(_ className: String, key: KeyValue) -> ObservedRecords<Record?> {
        let object = ObjectReference(entity: className, key: key)
        return observe(identity: ObservedIdentity(object), object: object) { try $0.fetch(className, key: key) }
    }

    /// Observes a stored object; `nil` once it is gone.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a record that isn't stored.
    public func observe(_ record: Record) throws -> ObservedRecords<Record?> {
        guard let key = record.key else {
            throw RelataError.invalidUse("\(record) isn't stored: save it, and observe what that returns")
        }
        return observe(record.className, key: key)
    }

    /// Observes anything that is read in a transaction. What it depends on is found out while it reads, so it must
    /// depend on the database alone.
    public func observe<Value: Equatable & Sendable>(
        reading read: @escaping @Sendable (RecordTransaction) throws -> Value
    ) -> ObservedRecords<Value> {
        observe(identity: nil, read)
    }

    /// Observes for code without `async`: calls `onChange` with the objects now, and after each commit that changes them.
    ///
    /// Calls come one after the other, on any thread. `onError` is called at most once, and is the last call.
    ///
    /// - Returns: What to hold for as long as calls are wanted.
    public func observe(
        _ query: RecordQuery, onError: @escaping @Sendable (any Error) -> Void = { _ in },
        onChange: @escaping @Sendable ([Record]) -> Void
    ) -> Cancellable {
        Cancellable(following: observe(query), onError: onError, onChange: onChange)
    }

    private func observe<Value: Equatable & Sendable>(
        identity: ObservedIdentity?, object: ObjectReference? = nil,
        _ read: @escaping @Sendable (RecordTransaction) throws -> Value
    ) -> ObservedRecords<Value> {
        ObservedRecords(
            source: ObservedSource(
                hub: hub, registry: observations, type: ObjectIdentifier(Value.self), identity: identity, object: object
            ) {
                var (found, region) = try await self.pool.observing { connection in
                    (try self.snapshot(connection, read), connection.driver.catalogTable)
                }
                // An object by its key is found whatever becomes of its class; everything else may see new classes.
                if object == nil || region.tables.count != 1 { region.add(rowsOf: found.1) }
                return (found.0, region)
            })
    }

    // MARK: What was done

    /// What transactions of this store do from now on, once they are committed: objects inserted, updated and deleted,
    /// cascades and edits on lists included, of whatever classes there are by then.
    ///
    /// Changes of triggers and of other processes name the class only.
    public var changes: ChangeFeed { ChangeFeed(hub, access) }

    /// Changes of the durable log after a position, in order, no more than so many: how a reader goes on where it was,
    /// without missing a commit. Begin at 0, and then with the last change's position.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if the store was opened without ``Options/changeLog``, or changes after
    ///   the position were removed.
    public func changes(after position: ChangePosition, limit: Int = 1000) async throws -> [LoggedChange] {
        try hub.requireLog()
        return try await read {
            let access = $0.access
            return try ChangeLog.changes(after: position, limit: limit, schema: $0.schema, on: $0.connection).map {
                $0.seen(under: access)
            }
        }
    }

    /// Where the durable log stands: who has read all objects after this call goes on from there with
    /// ``changes(after:limit:)``, and misses nothing.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if the store was opened without a durable log.
    public func endOfChanges() async throws -> ChangePosition {
        try hub.requireLog()
        return try await read { try ChangeLog.end(on: $0.connection) }
    }

    /// Removes changes up to a position from the durable log, when every reader has read them. Returns how many.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if the store was opened without a durable log.
    @discardableResult
    public func removeChanges(through position: ChangePosition) async throws -> Int {
        try hub.requireLog()
        return try await write { try ChangeLog.remove(through: position, on: $0.connection) }
    }
}
