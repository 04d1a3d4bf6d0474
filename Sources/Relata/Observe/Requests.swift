extension Selection: ObservableRequest {
    /// The rows, as stored.
    public func fetchObserved(_ transaction: ReadTransaction) throws -> [[RelataCore.Value]] {
        try transaction.storedRows(self)
    }

    /// The rows as tuples.
    public func observed(_ fetched: [[RelataCore.Value]]) throws -> [Row] { try fetched.map(decode) }
    /// Selections that ask for the same.
    public var observedIdentity: ObservedIdentity? {
        query.identity.map {
            ObservedIdentity(SelectionIdentity(query: $0, nodes: nodes, groups: groups, having: having))
        }
    }
}

/// The number of a query's objects, to be observed.
public struct CountRequest<Root: Model>: ObservableRequest {
    let query: Query<Root>

    /// The number.
    public func fetchObserved(_ transaction: ReadTransaction) throws -> Int { try transaction.count(query) }
    /// Counts of queries that ask for the same.
    public var observedIdentity: ObservedIdentity? { query.identity.map { ObservedIdentity($0) } }
}

/// The first object of a query, to be observed.
public struct FirstRequest<Root: Model>: ObservableRequest {
    let query: Query<Root>

    /// The object, if there is one.
    public func fetchObserved(_ transaction: ReadTransaction) throws -> Root? { try transaction.first(query) }
    /// Queries that ask for the same.
    public var observedIdentity: ObservedIdentity? { query.identity.map { ObservedIdentity($0) } }
}

/// The object with a key, to be observed.
public struct ObjectRequest<Root: Model>: ObservableRequest {
    let id: Root.Key

    /// The object, if it is there.
    public func fetchObserved(_ transaction: ReadTransaction) throws -> Root? {
        try transaction.fetch(Root.self, id: id)
    }

    /// Requests for the same object.
    public var observedIdentity: ObservedIdentity? { ObservedIdentity(id) }
    /// The object.
    public var observedObject: ObjectReference? {
        (try? Root.keyValue(id)).map { ObjectReference(entity: Root.entityName, key: $0) }
    }
}

/// Any value that is read from the database, to be observed.
public struct ReadRequest<Value: Equatable & Sendable>: ObservableRequest {
    let read: @Sendable (ReadTransaction) throws -> Value

    /// The value.
    public func fetchObserved(_ transaction: ReadTransaction) throws -> Value { try read(transaction) }
}

struct SelectionIdentity: Hashable, Sendable {
    let query: QueryIdentity
    let nodes: [ExpressionNode]
    let groups: [ExpressionNode]?
    let having: ExpressionNode?
}
