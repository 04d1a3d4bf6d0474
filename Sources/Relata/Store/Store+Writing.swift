// The writing calls of a store. Each runs in its own transaction, and is described at the call of ``StoreWriter``.

import RelataCore

extension Store {
    /// Inserts an object, with the new objects it links to and its edits on links, in its own transaction.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func insert<M: Model>(_ object: M) async throws -> M {
        try await _writeOnce { try $0.insert(object) }
    }

    /// Inserts objects, in the order they need, in one transaction.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func insert<M: Model>(_ objects: [M]) async throws -> [M] {
        try await _writeOnce { try $0.insert(objects) }
    }

    /// Inserts objects of several models, in the order they need, in one transaction.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func insert<each M: Model>(_ objects: repeat each M) async throws -> (repeat each M) {
        try await _writeOnce { try $0.insert(repeat each objects) }
    }

    /// Writes all columns of an object that is stored, with its edits on links.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func update<M: Model>(_ object: M) async throws -> M {
        try await _writeOnce { try $0.update(object) }
    }

    /// Writes all columns of objects that are stored, in one transaction.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func update<M: Model>(_ objects: [M]) async throws -> [M] {
        try await _writeOnce { try $0.update(objects) }
    }

    /// Updates objects of several models in one transaction.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func update<each M: Model>(_ objects: repeat each M) async throws -> (repeat each M) {
        try await _writeOnce { try $0.update(repeat each objects) }
    }

    /// Inserts or updates an object, whichever is right, with the new objects it links to and its edits on links.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func save<M: Model>(_ object: M) async throws -> M {
        try await _writeOnce { try $0.save(object) }
    }

    /// Inserts or updates objects, in the order they need, in one transaction.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func save<M: Model>(_ objects: [M]) async throws -> [M] {
        try await _writeOnce { try $0.save(objects) }
    }

    /// Inserts or updates an object, and returns it as it is stored: with the key that the database assigned.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func save<M: KeyAssignedModel>(_ object: M) async throws -> M {
        try await _writeOnce { try $0.save(object) }
    }

    /// Inserts or updates objects, in the order they need, and returns them with the keys that the database assigned.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func save<M: KeyAssignedModel>(_ objects: [M]) async throws -> [M] {
        try await _writeOnce { try $0.save(objects) }
    }

    /// Inserts or updates objects of several models, in the order they need, in one transaction.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    @_disfavoredOverload
    public func save<each M: Model>(_ objects: repeat each M) async throws -> (repeat each M) {
        try await _writeOnce { try $0.save(repeat each objects) }
    }

    /// Inserts or updates objects of several models in one transaction, and returns the stored ones: the first with the
    /// key that the database assigned.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func save<First: KeyAssignedModel, each M: Model>(
        _ first: First, _ others: repeat each M
    ) async throws -> (First, repeat each M) {
        try await _writeOnce { try $0.save(first, repeat each others) }
    }

    /// Inserts or updates two objects in one transaction, and returns them as they are stored: the second with the key
    /// that the database assigned.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func save<First: Model, Second: KeyAssignedModel>(
        _ first: First, _ second: Second
    ) async throws -> (First, Second) {
        try await _writeOnce { try $0.save(first, second) }
    }

    /// Inserts or updates two objects in one transaction, and returns them as they are stored: with the keys that the
    /// database assigned.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func save<First: KeyAssignedModel, Second: KeyAssignedModel>(
        _ first: First, _ second: Second
    ) async throws -> (First, Second) {
        try await _writeOnce { try $0.save(first, second) }
    }

    /// Inserts any mix of objects, in the order they need, in one transaction.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    @_disfavoredOverload
    public func insert(_ objects: [any Model]) async throws -> [any Model] {
        try await _writeOnce { try $0.insert(objects) }
    }

    /// Updates any mix of objects, in the order they need, in one transaction.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    @_disfavoredOverload
    public func update(_ objects: [any Model]) async throws -> [any Model] {
        try await _writeOnce { try $0.update(objects) }
    }

    /// Inserts or updates any mix of objects, in the order they need, in one transaction.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    @_disfavoredOverload
    public func save(_ objects: [any Model]) async throws -> [any Model] {
        try await _writeOnce { try $0.save(objects) }
    }

    /// Reads an object, lets `change` edit it, and writes only the changes.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func update<M: Model>(_ model: M.Type, id: M.Key?, _ change: @Sendable (inout M) throws -> Void) async throws
        -> M
    {
        try await _writeOnce { try $0.update(model, id: id, change) }
    }

    /// Reads an object by its `ID`, lets `change` edit it, and writes only the changes.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func update<Key: AnyModelID>(_ id: Key, _ change: @Sendable (inout Key.Target) throws -> Void) async throws
        -> Key.Target
    {
        try await _writeOnce { try $0.update(id, change) }
    }

    /// Reads an object with relationships loaded, lets `change` edit it, and writes only the changes.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func update<M: Model>(
        _ model: M.Type, id: M.Key?, @IncludeBuilder including links: @Sendable (M.Fields) -> [IncludePlan],
        _ change: @Sendable (inout M) throws -> Void
    ) async throws -> M {
        try await _writeOnce { try $0.update(model, id: id, including: links, change) }
    }

    /// Reads an object by its `ID` with relationships loaded, lets `change` edit it, and writes only the changes.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func update<Key: AnyModelID>(
        _ id: Key, @IncludeBuilder including links: @Sendable (Key.Target.Fields) -> [IncludePlan],
        _ change: @Sendable (inout Key.Target) throws -> Void
    ) async throws -> Key.Target {
        try await _writeOnce { try $0.update(id, including: links, change) }
    }

    /// Inserts or updates each object separately: an object that can't be saved gets its error as the result, and the
    /// others are saved. The results contain the errors and the keys, so the compiler warns if they aren't used.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func saveEach(_ objects: [any Model]) async throws -> [Result<any Model, any Error>] {
        try await _writeOnce { try $0.saveEach(objects) }
    }

    /// Inserts an object, or writes it over the one with the same value of a unique property, whose key stays.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func save<M: Model, Property: PropertyField>(
        _ object: M, matching property: @Sendable (M.Fields) -> Property
    ) async throws -> M {
        try await _writeOnce { try $0.save(object, matching: property) }
    }

    /// Inserts objects, or writes each over the one with the same value of a unique property, whose key stays, in one
    /// transaction.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func save<M: Model, Property: PropertyField>(
        _ objects: [M], matching property: @Sendable (M.Fields) -> Property
    ) async throws -> [M] {
        try await _writeOnce { try $0.save(objects, matching: property) }
    }

    /// Inserts objects, or writes each over the one with the same values of a unique set, whose key stays, in one
    /// transaction.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func save<M: Model, each Property: PropertyField>(
        _ objects: [M], matching properties: @Sendable (M.Fields) -> (repeat each Property)
    ) async throws -> [M] {
        try await _writeOnce { try $0.save(objects, matching: properties) }
    }

    /// Inserts an object, or writes it over the one with the same values of a unique set, whose key stays.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func save<M: Model, each Property: PropertyField>(
        _ object: M, matching properties: @Sendable (M.Fields) -> (repeat each Property)
    ) async throws -> M {
        try await _writeOnce { try $0.save(object, matching: properties) }
    }

    /// Sets properties of all objects of a query in one statement, and returns their number.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func update<M: Model>(
        _ query: Query<M>, @AssignmentBuilder _ assignments: @Sendable (M.Fields) -> [Assignment]
    ) async throws -> Int {
        try await _writeOnce { try $0.update(query, assignments) }
    }

    /// Deletes an object, and others by the delete rules.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func delete<M: Model>(_ object: M) async throws -> DeletionReport {
        try await _writeOnce { try $0.delete(object) }
    }

    /// Deletes objects, and others by the delete rules.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func delete<M: Model>(_ objects: [M]) async throws -> DeletionReport {
        try await _writeOnce { try $0.delete(objects) }
    }

    /// Deletes the object with that key, and others by the delete rules.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func delete<M: Model>(_ model: M.Type, id: M.Key?) async throws -> DeletionReport {
        try await _writeOnce { try $0.delete(model, id: id) }
    }

    /// Deletes the object with that `ID`, and others by the delete rules.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func delete<Key: AnyModelID>(_ id: Key) async throws -> DeletionReport {
        try await delete(Key.Target.self, id: id)
    }

    /// Deletes all objects of a query, and others by the delete rules.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func delete<M: Model>(_ query: Query<M>) async throws -> DeletionReport {
        try await _writeOnce { try $0.delete(query) }
    }

    /// Runs SQL of your own that changes rows, each value bound, and returns the number of rows it changed.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func execute(_ sql: SQL) async throws -> Int {
        try await _writeOnce { try $0.execute(sql) }
    }
}
