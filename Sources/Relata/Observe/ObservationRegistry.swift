import RelataSQLite
import Synchronization

/// The requests that are observed now, so that observers of the same one share it.
final class ObservationRegistry: Sendable {
    private struct Key: Hashable {
        let type: ObjectIdentifier
        let identity: ObservedIdentity
    }

    private let observations = Mutex<[Key: any ChangeObserver]>([:])

    /// An observation of the request, with a new subscriber of it.
    func subscribe<Request: ObservableRequest>(
        to request: Request, of store: Store
    ) -> (SharedObservation<Request>, number: Int) {
        let (observation, number) = find(request, store)
        // Whoever comes second may be faster.
        observation.listen()
        return (observation, number)
    }

    private func find<Request: ObservableRequest>(
        _ request: Request, _ store: Store
    ) -> (SharedObservation<Request>, number: Int) {
        guard let identity = request.observedIdentity else { return make(request, store) }
        let key = Key(type: ObjectIdentifier(Request.self), identity: identity)
        return observations.withLock { observations in
            if let known = observations[key] as? SharedObservation<Request>, let number = known.subscribe() {
                return (known, number)
            }
            let made = make(request, store)
            observations[key] = made.0
            return made
        }
    }

    private func make<Request: ObservableRequest>(
        _ request: Request, _ store: Store
    ) -> (SharedObservation<Request>, number: Int) {
        let observation = SharedObservation(request, of: store)
        return (observation, observation.subscribe() ?? 0)
    }

    /// Removes an observation that has ended, unless another has taken its place.
    func remove<Request: ObservableRequest>(_ observation: SharedObservation<Request>, _ identity: ObservedIdentity?) {
        guard let identity else { return }
        observations.withLock { observations in
            let key = Key(type: ObjectIdentifier(Request.self), identity: identity)
            if observations[key] === observation { observations[key] = nil }
        }
    }
}
