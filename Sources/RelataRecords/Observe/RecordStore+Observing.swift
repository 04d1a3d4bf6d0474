public import RelataCore
public import RelataEngine

// Values that follow the database.
extension RecordStore {
    /// Observes a query: its objects now, and after each commit that changes them, classes and fields that appear
    /// included.
    ///
    /// It is read again only after a transaction that changed classes, or wrote to a table it depends on (and, if only
    /// columns were updated, to one of the columns that it reads). Writes of other processes are noticed after at most
    /// ``DatabaseOptions/externalChangeDelay``, in any table.
    public func observe(_ query: RecordQuery) -> ObservedRecords<[Record]> {
        observe(identity: ObservedIdentity(query)) { try $0.fetch(query) }
    }

    /// Observes the number of a query's objects.
    public func observe(countOf query: RecordQuery) -> ObservedRecords<Int> {
        observe(identity: ObservedIdentity(query)) { try $0.count(query) }
    }

    /// Observes an object; `nil` while it doesn't exist. Changes of other objects cost nothing.
    public func observe(_ className: String, key: KeyValue) -> ObservedRecords<Record?> {
        let object = ObjectReference(entity: className, key: key)
        return observe(identity: ObservedIdentity(object), object: object) { try $0.fetch(className, key: key) }
    }

    /// Observes a stored object; `nil` once it is deleted.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a record that isn't stored.
    public func observe(_ record: Record) throws -> ObservedRecords<Record?> {
        guard let key = record.key else {
            throw RelataError.invalidUse("\(record) isn't stored: save it, and observe the object that save returns")
        }
        return observe(record.className, key: key)
    }

    /// Observes any value that is read in a transaction. Its dependencies are derived while it reads, so it must depend
    /// on the database alone.
    public func observe<Value: Equatable & Sendable>(
        reading read: @escaping @Sendable (RecordTransaction) throws -> Value
    ) -> ObservedRecords<Value> {
        observe(identity: nil, read)
    }

    /// Observes for code without `async`: calls `onChange` with the objects now, and after each commit that changes
    /// them.
    ///
    /// Calls come one after the other, on any thread. `onError` is called at most once, and is the last call.
    ///
    /// - Returns: An object that stops the calls when it is released.
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
                // An object by its key is found after any change of its class; everything else may see new classes.
                if object == nil || region.tables.count != 1 { region.add(rowsOf: found.1) }
                return (found.0, region)
            })
    }

    // MARK: Changes

    /// The committed changes of this store's transactions from now on: inserted, updated and deleted objects, including
    /// cascades and edits on lists, of all classes that exist by then.
    ///
    /// Changes of triggers and of other processes name the class only.
    public var changes: ChangeFeed { ChangeFeed(hub, access) }

    /// Changes of the durable log after a position, in order, at most that many: a reader continues from its last
    /// position, without missing a commit. Begin at 0, and then use the last change's position.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if the store was opened without ``DatabaseOptions/changeLog``, or
    ///   changes after the position were removed.
    public func changes(after position: ChangePosition, limit: Int = 1000) async throws -> [LoggedChange] {
        try hub.requireLog()
        return try await read {
            let access = $0.access
            return try ChangeLog.changes(after: position, limit: limit, schema: $0.schema, on: $0.connection).map {
                $0.seen(under: access)
            }
        }
    }

    /// The end of the durable log: a reader that reads all objects after this call, and then continues from here with
    /// ``changes(after:limit:)``, misses nothing.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if the store was opened without a durable log.
    public func endOfChanges() async throws -> ChangePosition {
        try hub.requireLog()
        return try await read { try ChangeLog.end(on: $0.connection) }
    }

    /// Removes changes up to a position from the durable log, when every reader has read them. Returns their number.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if the store was opened without a durable log.
    @discardableResult
    public func removeChanges(through position: ChangePosition) async throws -> Int {
        try hub.requireLog()
        return try await write { try ChangeLog.remove(through: position, on: $0.connection) }
    }
}
