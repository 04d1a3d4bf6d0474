// Reading, one call at a time. The same calls of ``StoreReader`` have the details.

import RelataCore
import RelataEngine

extension Store {
    /// The object with that key, or `nil` if there is none.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func fetch<M: Model>(_ model: M.Type, id: M.Key?) async throws -> M? {
        try await _readOnce { try $0.fetch(model, id: id) }
    }

    /// The object with that key, with the named relationships, or `nil` if there is none.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func fetch<M: Model>(
        _ model: M.Type, id: M.Key?, @IncludeBuilder including links: @Sendable (M.Fields) -> [IncludePlan]
    ) async throws -> M? {
        try await read { try $0.fetch(model, id: id, including: links) }
    }

    /// The object with that `ID`, or `nil` if there is none: the key's type determines the model.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func fetch<Key: AnyModelID>(_ id: Key) async throws -> Key.Target? {
        try await _readOnce { try $0.fetch(id) }
    }

    /// The object with that `ID`, with the named relationships, or `nil` if there is none.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func fetch<M: Model>(
        _ id: ID<M>, @IncludeBuilder including links: @Sendable (M.Fields) -> [IncludePlan]
    ) async throws -> M? where M.Key == ID<M> {
        try await read { try $0.fetch(id, including: links) }
    }

    /// The objects with these keys, by one statement: in the order of the keys, and `nil` in the place of a key that no
    /// object has.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func fetch<M: Model>(_ model: M.Type, ids: [M.Key?]) async throws -> [M?] {
        try await _readOnce { try $0.fetch(model, ids: ids) }
    }

    /// The objects with these keys and the relationships that are named: in the order of the keys, and `nil` in the
    /// place of a key that no object has.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func fetch<M: Model>(
        _ model: M.Type, ids: [M.Key?], @IncludeBuilder including links: @Sendable (M.Fields) -> [IncludePlan]
    ) async throws -> [M?] {
        try await read { try $0.fetch(model, ids: ids, including: links) }
    }

    /// The object that a to-one points at, or `nil` if it is unset or dangles.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func fetch<M: Model>(_ link: ToOne<M>?) async throws -> M? {
        try await _readOnce { try $0.fetch(link) }
    }

    /// The objects with these keys, of any models, each with its own result.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @_disfavoredOverload
    public func fetch(ids: [ObjectKey]) async throws -> [ObjectResult] {
        try await read { try $0.fetch(ids: ids) }
    }

    /// The stored object.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func refresh<M: Model>(_ object: M) async throws -> M {
        try await _readOnce { try $0.refresh(object) }
    }

    /// The objects of a query, in order.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func fetch<M: Model>(_ query: Query<M>) async throws -> [M] {
        try await query.includes.isEmpty ? _readOnce { try $0.fetch(query) } : read { try $0.fetch(query) }
    }

    /// The first object of a query, or `nil` if there is none.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func first<M: Model>(_ query: Query<M>) async throws -> M? {
        try await fetch(query.limitedToOne()).first
    }

    /// The number of objects of a query.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func count<M: Model>(_ query: Query<M>) async throws -> Int {
        try await _readOnce { try $0.count(query) }
    }

    /// Whether a query has an object.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func exists<M: Model>(_ query: Query<M>) async throws -> Bool {
        try await _readOnce { try $0.exists(query) }
    }

    /// Chosen values of a query's objects or groups, as tuples.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func fetch<M: Model, Row: Sendable>(_ selection: Selection<M, Row>) async throws -> [Row] {
        try await _readOnce { try $0.fetch(selection) }
    }

    /// One aggregate of all objects of a query.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func value<M: Model, Figure: QueryExpression>(of query: Query<M>, _ figure: @Sendable (M.Fields) -> Figure)
        async throws -> Figure.QueryValue where Figure.QueryValue: Sendable
    {
        try await _readOnce { try $0.value(of: query, figure) }
    }

    /// One page of a query, and the position of the next.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func page<M: Model>(_ query: Query<M>, size: Int, after position: PagePosition? = nil) async throws -> Page<
        M
    > {
        if query.includes.isEmpty {
            return try await _readOnce { try $0.page(query, size: size, after: position) }
        }
        return try await read { try $0.page(query, size: size, after: position) }
    }

    /// The objects that an object's to-many links to.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func related<M: Model, Target: Model>(to object: M, _ link: @Sendable (M.Fields) -> ToManyField<Target>)
        async throws -> [Target]
    {
        try await _readOnce { try $0.related(to: object, link) }
    }

    /// The objects that the to-many of the object with that key links to.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func related<M: Model, Target: Model>(
        to model: M.Type, id: M.Key?, _ link: @Sendable (M.Fields) -> ToManyField<Target>
    ) async throws -> [Target] {
        try await _readOnce { try $0.related(to: model, id: id, link) }
    }

    /// The target of the to-one or has-one of the object with that key, or `nil` if there is none.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func related<M: Model, Target: Model>(
        to model: M.Type, id: M.Key?, _ link: @Sendable (M.Fields) -> ToOneField<Target>
    ) async throws -> Target? {
        try await _readOnce { try $0.related(to: model, id: id, link) }
    }

    /// The target of an object's to-one or has-one, or `nil` if there is none.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func related<M: Model, Target: Model>(to object: M, _ link: @Sendable (M.Fields) -> ToOneField<Target>)
        async throws -> Target?
    {
        try await _readOnce { try $0.related(to: object, link) }
    }

    /// The rows of SQL of your own, each value bound.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func rows(_ sql: SQL) async throws -> [[Value]] {
        try await _readOnce { try $0.rows(sql) }
    }

    /// Objects of a model from SQL that gives each of its columns once, by name, as the call without `async`.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func fetch<M: Model>(_ model: M.Type, sql: SQL) async throws -> [M] {
        try await _readOnce { try $0.fetch(model, sql: sql) }
    }

    /// Explains a query: its SQL, its bound values, and the database's plan.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func explain<M: Model>(_ query: Query<M>) async throws -> Explanation {
        try await _readOnce { try $0.explain(query) }
    }

    /// The plan of deleting an object. Nothing is deleted.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func deletionPlan<M: Model>(for object: M) async throws -> DeletionReport {
        try await read { try $0.deletionPlan(for: object) }
    }

    /// The plan of deleting objects. Nothing is deleted.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func deletionPlan<M: Model>(for objects: [M]) async throws -> DeletionReport {
        try await read { try $0.deletionPlan(for: objects) }
    }

    /// The plan of deleting the object with that key. Nothing is deleted.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func deletionPlan<M: Model>(for model: M.Type, id: M.Key?) async throws -> DeletionReport {
        try await read { try $0.deletionPlan(for: model, id: id) }
    }

    /// The plan of deleting the objects of a query. Nothing is deleted.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func deletionPlan<M: Model>(for query: Query<M>) async throws -> DeletionReport {
        try await read { try $0.deletionPlan(for: query) }
    }

    /// Loads relationships of objects that were fetched before, and returns the objects with them.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func load<M: Model>(
        _ objects: [M], @IncludeBuilder _ links: @Sendable (M.Fields) -> [IncludePlan]
    ) async throws -> [M] {
        try await read { try $0.load(objects, links) }
    }

    /// Loads relationships of one object and returns it with them.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func load<M: Model>(
        _ object: M, @IncludeBuilder _ links: @Sendable (M.Fields) -> [IncludePlan]
    ) async throws -> M {
        try await read { try $0.load(object, links) }
    }

    /// The rows of a query by the names of their columns, with stored values.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func dictionaries<M: Model>(_ query: Query<M>) async throws -> [[String: Value]] {
        try await _readOnce { try $0.dictionaries(query) }
    }
}
