import RelataCore
import RelataEngine

/// A request that can be observed: it reads a value in a transaction.
///
/// Queries, selections, counts, aggregates and single objects conform. Your own type conforms by reading: its
/// dependencies are derived from the statements that it runs, so the value must come from the database alone.
public protocol ObservableRequest: Sendable {
    /// The value that is read. A value that equals the previous one isn't delivered.
    associatedtype Fetched: Equatable & Sendable
    /// The type of the observed values.
    associatedtype Observed = Fetched

    /// Reads the value.
    ///
    /// - Throws: Any error. The observation ends with it.
    func fetchObserved(_ transaction: ReadTransaction) throws -> Fetched
    /// The value that observers get.
    ///
    /// - Throws: Any error. The observation ends with it.
    func observed(_ fetched: Fetched) throws -> Observed
    /// Requests of one type with equal identities read the same, and share one run after each commit; `nil` for a
    /// request that isn't shared.
    var observedIdentity: ObservedIdentity? { get }
    /// The single object that the value consists of: changes of other objects don't matter to it.
    var observedObject: ObjectReference? { get }
}

extension ObservableRequest {
    /// None: the request isn't shared.
    public var observedIdentity: ObservedIdentity? { nil }
    /// None: any change of a table that was read matters.
    public var observedObject: ObjectReference? { nil }
}

extension ObservableRequest where Observed == Fetched {
    /// Returns the value as it was read.
    public func observed(_ fetched: Fetched) -> Fetched { fetched }
}

extension Query: ObservableRequest {
    /// The objects.
    ///
    /// - Throws: The errors of `fetch(_:)`.
    public func fetchObserved(_ transaction: ReadTransaction) throws -> [Root] { try transaction.fetch(self) }
    /// Equal queries share one reading.
    public var observedIdentity: ObservedIdentity? {
        identity.map { ObservedIdentity($0) }
    }

    var identity: QueryIdentity? {
        // Each has its own report.
        if undecodable != nil { return nil }
        guard let pending = try? pending.map({ try $0.identity }) else { return nil }
        return QueryIdentity(plan: plan, includes: includes, pending: pending)
    }
}

/// The parts of a query that determine its result.
struct QueryIdentity: Hashable, Sendable {
    let plan: QueryPlan
    let includes: [IncludePlan]
    let pending: [Pending]

    enum Pending: Hashable, Sendable {
        case text(Value, arguments: [PredicateArgument?])
        case combined([QueryIdentity], isAnd: Bool)
    }
}

extension PendingCondition {
    var identity: QueryIdentity.Pending {
        get throws {
            switch self {
            case .text(let text):
                .text(
                    .text(text.format),
                    arguments: try text.arguments.map { try $0.map { try PredicateArgument(of: $0) } })
            case .combined(let parts, let isAnd):
                .combined(
                    try parts.map {
                        QueryIdentity(plan: $0.plan, includes: [], pending: try $0.pending.map { try $0.identity })
                    }, isAnd: isAnd)
            }
        }
    }
}
