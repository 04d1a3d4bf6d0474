import RelataCore
import RelataEngine

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

/// A value that is read from the database, to be observed.
public struct ReadRequest<Value: Equatable & Sendable>: ObservableRequest {
    /// What makes two requests for such a value the same; `nil` for one of its own.
    public var observedIdentity: ObservedIdentity?
    /// The one object that the value is made of, if it is one.
    public var observedObject: ObjectReference?
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
