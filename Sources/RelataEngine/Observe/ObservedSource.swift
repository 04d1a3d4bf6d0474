import RelataCore

/// The source of an observed value: how it is read, and the hub that reports commits.
package struct ObservedSource<Fetched: Equatable & Sendable>: Sendable {
    /// The hub that reports commits.
    let hub: ChangeHub
    /// The observed requests of the same store.
    let registry: ObservationRegistry
    /// The type of the request.
    let type: ObjectIdentifier
    /// The common identity of equal requests of that type; `nil` for a request that isn't shared.
    let identity: ObservedIdentity?
    /// The single object that the value consists of, if there is one.
    let object: ObjectReference?
    /// Reads one state of the database, and records the reads.
    let read: @Sendable () async throws -> (value: Fetched, region: TableRegion)

    /// Names a source. See the properties for the arguments.
    package init(
        hub: ChangeHub, registry: ObservationRegistry, type: ObjectIdentifier, identity: ObservedIdentity?,
        object: ObjectReference?, read: @escaping @Sendable () async throws -> (value: Fetched, region: TableRegion)
    ) {
        self.hub = hub
        self.registry = registry
        self.type = type
        self.identity = identity
        self.object = object
        self.read = read
    }
}

/// The identity of a request.
public struct ObservedIdentity: Hashable, Sendable {
    private let base: any Hashable & Sendable

    /// The identity of all requests that hold an equal value.
    public init(_ base: some Hashable & Sendable) { self.base = base }

    /// Whether both identify the same request.
    public static func == (left: ObservedIdentity, right: ObservedIdentity) -> Bool {
        AnyHashable(left.base) == AnyHashable(right.base)
    }

    /// Hashes its parts.
    public func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(base)) }
}

/// An observer's part in an observation, for as long as it lives.
package final class Subscription<Fetched: Equatable & Sendable>: Sendable {
    private let observation: SharedObservation<Fetched>
    private let number: Int

    /// Begins to observe, sharing the observation of equal requests.
    package init(to source: ObservedSource<Fetched>) {
        (observation, number) = source.registry.subscribe(to: source)
    }

    deinit { observation.unsubscribe(number) }

    /// The next new value for this observer, as soon as there is one; `nil` after the store was closed and for a
    /// cancelled task.
    package func next() async throws -> Fetched? { try await observation.next(number) }
}
