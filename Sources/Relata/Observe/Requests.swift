import RelataCore
import RelataEngine

extension Selection: ObservableRequest {
    /// The rows, as stored.
    ///
    /// - Throws: The errors of `fetch(_:)`.
    public func fetchObserved(_ transaction: ReadTransaction) throws -> [[RelataCore.Value]] {
        try transaction.storedRows(self)
    }

    /// The rows as tuples.
    ///
    /// - Throws: ``RelataError/corruptStore(_:)`` for a value that doesn't fit its type.
    public func observed(_ fetched: [[RelataCore.Value]]) throws -> [Row] { try fetched.map(decode) }
    /// Equal selections share one reading.
    public var observedIdentity: ObservedIdentity? {
        query.identity.map {
            ObservedIdentity(SelectionIdentity(query: $0, nodes: nodes, groups: groups, having: having))
        }
    }
}

/// A value that is read from the database, to be observed.
public struct ReadRequest<Value: Equatable & Sendable>: ObservableRequest {
    /// The identity of equal requests for the value; `nil` for one that isn't shared.
    public var observedIdentity: ObservedIdentity?
    /// The single object that the value consists of, if there is one.
    public var observedObject: ObjectReference?
    let read: @Sendable (ReadTransaction) throws -> Value

    /// The value.
    ///
    /// - Throws: The errors of the closure that reads it.
    public func fetchObserved(_ transaction: ReadTransaction) throws -> Value { try read(transaction) }
}

struct SelectionIdentity: Hashable, Sendable {
    let query: QueryIdentity
    let nodes: [ExpressionNode]
    let groups: [ExpressionNode]?
    let having: ExpressionNode?
}
