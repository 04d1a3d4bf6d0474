// Fetching shapes: by a store, each call on one state of the database, and within a transaction.

import RelataCore

extension StoreReader {
    /// The shapes of a query's objects, in order: one statement for the objects, and one for each list in the shape.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<Content: Shape>(_ query: ShapeQuery<Content>) throws -> [Content] {
        try read { try ShapeFetcher(transaction: $0).fetch(query.query, as: Content.self) }
    }

    /// The shape of the object with that key, or `nil` if there is none.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a `nil` key; ``RelataError`` if the shape can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    @_disfavoredOverload  // where the key is of a wrong type, errors speak of models
    public func fetch<Content: Shape>(_ shape: Content.Type, id: Content.RootModel.Key?) throws -> Content? {
        let key = try Content.RootModel.keyValue(Content.RootModel.given(id))
        var query = Query<Content.RootModel>()
        query.plan.condition = .keyIn(FieldPath().object, [key])
        return try fetch(ShapeQuery<Content>(query)).first
    }

    /// The shape of the first object of a query, or `nil` if there is none.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func first<Content: Shape>(_ query: ShapeQuery<Content>) throws -> Content? {
        try fetch(ShapeQuery<Content>(query.query.limitedToOne())).first
    }

    /// The number of a query's objects.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func count<Content: Shape>(_ query: ShapeQuery<Content>) throws -> Int {
        try count(query.query)
    }

    /// Whether a query has an object.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func exists<Content: Shape>(_ query: ShapeQuery<Content>) throws -> Bool {
        try exists(query.query)
    }

    /// One page of the shapes of a query's objects, and the position of the next.
    ///
    /// - Throws: ``RelataError`` for an invalid query, and for rows or a database that can't be read.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func page<Content: Shape>(_ query: ShapeQuery<Content>, size: Int, after position: PagePosition? = nil)
        throws -> Page<Content>
    {
        try read { try ShapeFetcher(transaction: $0).page(query.query, as: Content.self, size: size, after: position) }
    }
}

extension Store {
    /// The shapes of a query's objects, in order: one statement for the objects, and one for each list in the shape.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func fetch<Content: Shape>(_ query: ShapeQuery<Content>) async throws -> [Content] {
        try await read { try $0.fetch(query) }
    }

    /// The shape of the object with that key, or `nil` if there is none.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @_disfavoredOverload
    public func fetch<Content: Shape>(_ shape: Content.Type, id: Content.RootModel.Key?) async throws -> Content? {
        try await read { try $0.fetch(shape, id: id) }
    }

    /// The shape of the first object of a query, or `nil` if there is none.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func first<Content: Shape>(_ query: ShapeQuery<Content>) async throws -> Content? {
        try await read { try $0.first(query) }
    }

    /// The number of a query's objects.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func count<Content: Shape>(_ query: ShapeQuery<Content>) async throws -> Int {
        try await read { try $0.count(query) }
    }

    /// Whether a query has an object.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func exists<Content: Shape>(_ query: ShapeQuery<Content>) async throws -> Bool {
        try await read { try $0.exists(query) }
    }

    /// One page of the shapes of a query's objects, and the position of the next.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    public func page<Content: Shape>(_ query: ShapeQuery<Content>, size: Int, after position: PagePosition? = nil)
        async throws -> Page<Content>
    {
        try await read { try $0.page(query, size: size, after: position) }
    }
}
