// Reading, one call at a time, for code without `async`.

extension Store {
    /// The object with that key, or `nil` if there is none.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<M: Model>(_ model: M.Type, id: M.Key) throws -> M? {
        try pool.read { try ReadTransaction($0, catalog).fetch(model, id: id) }
    }

    /// The object that a to-one points at, or `nil` if it is unset or dangles.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<M: Model>(_ link: ToOne<M>?) throws -> M? {
        try pool.read { try ReadTransaction($0, catalog).fetch(link) }
    }

    /// The objects with these keys, of any models, each with its own result.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch(ids: [ObjectKey]) throws -> [ObjectResult] {
        try read { try $0.fetch(ids: ids) }
    }

    /// The object as it is stored now.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func refresh<M: Model>(_ object: M) throws -> M {
        try pool.read { try ReadTransaction($0, catalog).refresh(object) }
    }

    /// The objects of a query, in order.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<M: Model>(_ query: Query<M>) throws -> [M] {
        try pool.read { try snapshot($0, for: query) { try $0.fetch(query) } }
    }

    /// The first object of a query, or `nil` if there is none.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func first<M: Model>(_ query: Query<M>) throws -> M? {
        try pool.read { try snapshot($0, for: query) { try $0.first(query) } }
    }

    /// The number of objects of a query.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func count<M: Model>(_ query: Query<M>) throws -> Int {
        try pool.read { try ReadTransaction($0, catalog).count(query) }
    }

    /// Whether a query has an object.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func exists<M: Model>(_ query: Query<M>) throws -> Bool {
        try pool.read { try ReadTransaction($0, catalog).exists(query) }
    }

    /// Chosen values of a query's objects or groups, as tuples.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<M: Model, Row: Sendable>(_ selection: Selection<M, Row>) throws -> [Row] {
        try pool.read { try ReadTransaction($0, catalog).fetch(selection) }
    }

    /// One figure of all objects of a query.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func value<M: Model, Figure: QueryExpression>(of query: Query<M>, _ figure: (M.Fields) -> Figure) throws
        -> Figure.QueryValue where Figure.QueryValue: Sendable
    {
        try pool.read { try ReadTransaction($0, catalog).value(of: query, figure) }
    }

    /// One page of a query, and where the next begins.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func page<M: Model>(_ query: Query<M>, size: Int, after position: PagePosition? = nil) throws -> Page<M> {
        try pool.read { try ReadTransaction($0, catalog).page(query, size: size, after: position) }
    }

    /// The objects that an object's to-many links to.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func related<M: Model, Target: Model>(to object: M, _ link: (M.Fields) -> ToManyField<Target>) throws
        -> [Target]
    {
        try pool.read { try ReadTransaction($0, catalog).related(to: object, link) }
    }

    /// The object that an object's to-one or has-one links to, or `nil` if there is none.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func related<M: Model, Target: Model>(to object: M, _ link: (M.Fields) -> ToOneField<Target>) throws
        -> Target?
    {
        try pool.read { try ReadTransaction($0, catalog).related(to: object, link) }
    }

    /// The rows of SQL of your own, each value bound.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func rows(_ sql: SQL) throws -> [[Value]] {
        try pool.read { try ReadTransaction($0, catalog).rows(sql) }
    }

    /// Objects of a model from SQL that selects their columns in the order of its properties.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func fetch<M: Model>(_ model: M.Type, sql: SQL) throws -> [M] {
        try pool.read { try ReadTransaction($0, catalog).fetch(model, sql: sql) }
    }

    /// How a query runs: its SQL, what is bound, and the database's plan.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func explain<M: Model>(_ query: Query<M>) throws -> Explanation {
        try pool.read { try ReadTransaction($0, catalog).explain(query) }
    }

    /// What deleting an object would do. Nothing happens.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func deletionPlan<M: Model>(for object: M) throws -> DeletionReport {
        try read { try $0.deletionPlan(for: object) }
    }

    /// What deleting objects would do. Nothing happens.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func deletionPlan<M: Model>(for objects: [M]) throws -> DeletionReport {
        try read { try $0.deletionPlan(for: objects) }
    }

    /// What deleting the objects of a query would do. Nothing happens.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func deletionPlan<M: Model>(for query: Query<M>) throws -> DeletionReport {
        try read { try $0.deletionPlan(for: query) }
    }

    /// Loads relationships of objects that were fetched before, and returns the objects with them.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func load<M: Model>(
        _ objects: [M], @IncludeBuilder _ links: (M.Fields) -> [IncludePlan]
    ) throws -> [M] {
        try read { try $0.load(objects, links) }
    }

    /// Loads relationships of one object and returns it with them.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func load<M: Model>(
        _ object: M, @IncludeBuilder _ links: (M.Fields) -> [IncludePlan]
    ) throws -> M {
        try read { try $0.load(object, links) }
    }
}
