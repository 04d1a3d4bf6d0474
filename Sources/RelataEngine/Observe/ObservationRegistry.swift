import Synchronization

/// The observed requests of a store, so that observers of equal ones share them.
package final class ObservationRegistry: Sendable {
    private struct Key: Hashable {
        let type: ObjectIdentifier
        let identity: ObservedIdentity
    }

    private let observations = Mutex<[Key: any ChangeObserver]>([:])

    /// Begins with none.
    package init() {}

    /// An observation of the source, with a new subscriber of it.
    func subscribe<Fetched>(to source: ObservedSource<Fetched>) -> (SharedObservation<Fetched>, number: Int) {
        let (observation, number) = find(source)
        // Another thread may have added it first.
        observation.listen()
        return (observation, number)
    }

    private func find<Fetched>(_ source: ObservedSource<Fetched>) -> (SharedObservation<Fetched>, number: Int) {
        guard let key = Self.key(source) else { return make(source) }
        return observations.withLock { observations in
            if let known = observations[key] as? SharedObservation<Fetched>, let number = known.subscribe() {
                return (known, number)
            }
            let made = make(source)
            observations[key] = made.0
            return made
        }
    }

    private func make<Fetched>(_ source: ObservedSource<Fetched>) -> (SharedObservation<Fetched>, number: Int) {
        let observation = SharedObservation(source)
        return (observation, observation.subscribe() ?? 0)
    }

    private static func key<Fetched>(_ source: ObservedSource<Fetched>) -> Key? {
        source.identity.map { Key(type: source.type, identity: $0) }
    }

    /// Removes an observation that has ended, unless another has taken its place.
    func remove<Fetched>(_ observation: SharedObservation<Fetched>, _ source: ObservedSource<Fetched>) {
        guard let key = Self.key(source) else { return }
        observations.withLock { observations in
            if observations[key] === observation { observations[key] = nil }
        }
    }
}
