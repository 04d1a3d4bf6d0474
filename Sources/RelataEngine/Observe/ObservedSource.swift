import RelataCore

/// Where an observed value comes from: how it is read, and who tells of commits.
package struct ObservedSource<Fetched: Equatable & Sendable>: Sendable {
    /// Who tells of commits.
    let hub: ChangeHub
    /// The requests of the same store that are observed now.
    let registry: ObservationRegistry
    /// The type of the request.
    let type: ObjectIdentifier
    /// What requests of that type have in common that read the same; `nil` for a request of its own.
    let identity: ObservedIdentity?
    /// The one object that the value is made of, if it is one.
    let object: ObjectReference?
    /// Reads one state of the database, and finds out what was read.
    let read: @Sendable () async throws -> (value: Fetched, region: TableRegion)

    /// Names a source. See the properties for what each argument means.
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

/// What makes two requests the same.
public struct ObservedIdentity: Hashable, Sendable {
    private let base: any Hashable & Sendable

    /// The identity of all requests that hold an equal value.
    public init(_ base: some Hashable & Sendable) { self.base = base }

    /// Whether both stand for the same request.
    public static func == (left: ObservedIdentity, right: ObservedIdentity) -> Bool {
        AnyHashable(left.base) == AnyHashable(right.base)
    }

    /// Hashes what it was made of.
    public func hash(into hasher: inout Hasher) { hasher.combine(AnyHashable(base)) }
}

/// An observer's part in an observation, for as long as it lives.
package final class Subscription<Fetched: Equatable & Sendable>: Sendable {
    private let observation: SharedObservation<Fetched>
    private let number: Int

    /// Begins to observe, together with all that observe the same.
    package init(to source: ObservedSource<Fetched>) {
        (observation, number) = source.registry.subscribe(to: source)
    }

    deinit { observation.unsubscribe(number) }

    /// The next value that this observer hasn't got, as soon as there is one; `nil` after the store was closed and where
    /// the task is cancelled.
    package func next() async throws -> Fetched? { try await observation.next(number) }
}
