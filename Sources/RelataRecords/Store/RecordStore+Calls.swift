public import RelataCore

// Single calls. The same calls of ``RecordTransaction`` and ``RecordWriteTransaction`` have the details.
extension RecordStore {
    // MARK: Reading

    /// The objects of a query, in order.
    ///
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    public func fetch(_ query: RecordQuery) async throws -> [Record] { try await read { try $0.fetch(query) } }

    /// The first object of a query; `nil` if it has none.
    ///
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    public func first(_ query: RecordQuery) async throws -> Record? { try await read { try $0.first(query) } }

    /// The object of a class with that key, given by its parts; `nil` if the object doesn't exist.
    ///
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    public func fetch(_ className: String, id: RecordValue...) async throws -> Record? {
        try await read { transaction in
            guard let table = try transaction.tableIfMade(className) else { return nil }
            return try transaction.fetch(table, key: try KeyValue(id, of: table))
        }
    }

    /// The object of a class with that key; `nil` if the object doesn't exist.
    ///
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    public func fetch(_ className: String, key: KeyValue) async throws -> Record? {
        try await read { try $0.fetch(className, key: key) }
    }

    /// The stored object; `nil` for a deleted one.
    ///
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    public func refreshed(_ record: Record) async throws -> Record? { try await read { try $0.refreshed(record) } }

    /// The number of a query's objects.
    ///
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    public func count(_ query: RecordQuery) async throws -> Int { try await read { try $0.count(query) } }

    /// The classes of the store, in the order of their creation.
    ///
    /// - Throws: ``RelataError`` if the database can't be read.
    public var classes: [RecordClass] { get async throws { try await read { $0.classes } } }

    // MARK: Saving

    /// Saves an object: inserts a new one, and writes the fields of a stored one that were set since it was read.
    ///
    /// - Returns: The stored object.
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    @discardableResult
    public func save(_ record: Record) async throws -> Record { try await write { try $0.save(record) } }

    /// Saves objects, in order; all or none.
    ///
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    @discardableResult
    public func save(_ records: [Record]) async throws -> [Record] { try await write { try $0.save(records) } }

    /// Inserts a new object.
    ///
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    @discardableResult
    public func insert(_ record: Record) async throws -> Record { try await write { try $0.insert(record) } }

    // MARK: Deleting

    /// The plan of deleting an object, without deleting it: deleted objects, unset links, and blockers.
    ///
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    public func deletionPlan(for record: Record) async throws -> DeletionReport {
        try await read { try $0.deletionPlan(for: record) }
    }

    /// The plan of deleting objects of one class.
    ///
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    public func deletionPlan(for records: [Record]) async throws -> DeletionReport {
        try await read { try $0.deletionPlan(for: records) }
    }

    /// The plan of deleting the objects of a query.
    ///
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    public func deletionPlan(for query: RecordQuery) async throws -> DeletionReport {
        try await read { try $0.deletionPlan(for: query) }
    }

    /// Deletes an object, and others by the delete rules.
    ///
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    @discardableResult
    public func delete(_ record: Record) async throws -> DeletionReport { try await write { try $0.delete(record) } }

    /// Deletes objects of one class, and others by the delete rules.
    ///
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    @discardableResult
    public func delete(_ records: [Record]) async throws -> DeletionReport {
        try await write { try $0.delete(records) }
    }

    /// Deletes the objects of a query, and others by the delete rules.
    ///
    /// - Throws: The errors of the call in a transaction; `CancellationError` for a cancelled task.
    @discardableResult
    public func delete(_ query: RecordQuery) async throws -> DeletionReport { try await write { try $0.delete(query) } }
}
