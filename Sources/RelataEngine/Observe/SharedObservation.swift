import RelataCore
import Synchronization

/// One observed request, with any number of observers: it runs once after a relevant commit, while an observer waits
/// for its value.
final class SharedObservation<Fetched: Equatable & Sendable>: ChangeObserver {
    private struct Reading: Sendable {
        let serial: Int
        let value: Fetched
    }

    private struct Subscriber {
        var last: Reading?
        var waiting: CheckedContinuation<Fetched?, any Error>?
        var knowsOfFailure = false

        /// Whether the reading is new for it; it counts as delivered from then on.
        mutating func takes(_ reading: Reading) -> Bool {
            defer { last = reading }
            guard let last else { return true }
            // A reading always differs from the one before it, but not from earlier ones.
            return reading.serial == last.serial + 1 || reading.serial != last.serial && reading.value != last.value
        }
    }

    private enum Ending {
        case finished
        case failed(any Error)
    }

    private struct State {
        var subscribers: [Int: Subscriber] = [:]
        var nextNumber = 0
        /// Whether something was committed that the latest reading may lack.
        var isDirty = true
        var task: Task<Void, Never>?
        var latest: Reading?
        var ending: Ending?
    }

    private let source: ObservedSource<Fetched>
    private let state = Mutex(State())

    init(_ source: ObservedSource<Fetched>) { self.source = source }

    // MARK: Subscribers

    /// Adds a subscriber and returns its number; `nil` if the observation has ended.
    func subscribe() -> Int? {
        state.withLock { state in
            guard state.ending == nil else { return nil }
            state.nextNumber += 1
            state.subscribers[state.nextNumber] = Subscriber()
            return state.nextNumber
        }
    }

    /// Removes a subscriber. The observation ends with its last one.
    func unsubscribe(_ number: Int) {
        let (waiting, isLast, task) = state.withLock { state in
            let waiting = state.subscribers.removeValue(forKey: number)?.waiting
            let isLast = state.subscribers.isEmpty && state.ending == nil
            if isLast { state.ending = .finished }
            return (waiting, isLast, isLast ? state.task : nil)
        }
        waiting?.resume(returning: nil)
        task?.cancel()
        if isLast { withdraw() }
    }

    /// Begins to receive commits, if it doesn't yet. A closed store sends none: reading reports the error.
    func listen() {
        source.hub.add(self)
        // It may have ended before it was added.
        if state.withLock({ $0.ending != nil }) { source.hub.remove(self) }
    }

    private func withdraw() {
        source.hub.remove(self)
        source.registry.remove(self, source)
    }

    /// The next new value for a subscriber, as soon as there is one; `nil` after the store was closed and for a
    /// cancelled task.
    func next(_ number: Int) async throws -> Fetched? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Fetched?, any Error>? in
                    guard !Task.isCancelled, var subscriber = state.subscribers[number] else { return .success(nil) }
                    switch state.ending {
                    case .finished: return .success(nil)
                    case .failed(let error):
                        if subscriber.knowsOfFailure { return .success(nil) }
                        state.subscribers[number]?.knowsOfFailure = true
                        return .failure(error)
                    case nil: break
                    }
                    if !state.isDirty, state.task == nil, let latest = state.latest, subscriber.takes(latest) {
                        state.subscribers[number] = subscriber
                        return .success(latest.value)
                    }
                    subscriber.waiting = continuation
                    state.subscribers[number] = subscriber
                    startIfNeeded(&state)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiting = state.withLock { state in
                let waiting = state.subscribers[number]?.waiting
                state.subscribers[number]?.waiting = nil
                return waiting
            }
            waiting?.resume(returning: nil)
        }
    }

    // MARK: Commits

    func databaseChanged() {
        state.withLock { state in
            state.isDirty = true
            if state.subscribers.values.contains(where: { $0.waiting != nil }) { startIfNeeded(&state) }
        }
    }

    func storeClosed() { end(.finished) }

    func failed(_ error: any Error) { end(.failed(error)) }

    private func startIfNeeded(_ state: inout State) {
        guard state.isDirty, state.task == nil, state.ending == nil else { return }
        state.task = Task.detached { await self.run() }
    }

    /// Reads until the value is current or no observer waits for it.
    private func run() async {
        var goesOn = true
        await source.hub.beginListening()
        while goesOn {
            source.hub.beginReading(self)
            state.withLock { $0.isDirty = false }
            do {
                let (value, region) = try await source.read()
                let object = source.object.flatMap { Self.object($0, in: region) }
                let isOutdated = source.hub.endReading(self, region: region, object: object)
                goesOn = deliver(value, isOutdated: isOutdated)
            } catch {
                end(.failed(error))
                return
            }
        }
    }

    /// The table and key of the one object that a value depends on, if nothing else was read.
    private static func object(_ object: ObjectReference, in region: TableRegion) -> (table: String, key: KeyValue)? {
        guard region.tables.count == 1, !region.isEverything else { return nil }
        return region.tables.keys.first.map { ($0, object.key) }
    }

    /// Delivers a value to waiting observers that don't have it. Returns whether to read again.
    private func deliver(_ value: Fetched, isOutdated: Bool) -> Bool {
        // Only this task sets the latest reading; comparing it may take long, and needs no lock.
        let before = state.withLock { $0.latest }
        let isSame = before.map { $0.value == value } ?? false
        let (receivers, reading, goesOn) = state.withLock { state in
            if isOutdated { state.isDirty = true }
            let reading = isSame ? before : Reading(serial: (before?.serial ?? 0) + 1, value: value)
            state.latest = reading
            var receivers: [CheckedContinuation<Fetched?, any Error>] = []
            var isAwaited = false
            for (number, subscriber) in state.subscribers {
                guard let waiting = subscriber.waiting, let reading else { continue }
                var subscriber = subscriber
                if subscriber.takes(reading) {
                    subscriber.waiting = nil
                    receivers.append(waiting)
                } else {
                    isAwaited = true
                }
                state.subscribers[number] = subscriber
            }
            let goesOn = state.isDirty && isAwaited && state.ending == nil
            if !goesOn { state.task = nil }
            return (receivers, reading, goesOn)
        }
        for receiver in receivers { receiver.resume(returning: reading?.value) }
        return goesOn
    }

    private func end(_ ending: Ending) {
        let waiting = state.withLock { state in
            if state.ending == nil { state.ending = ending }
            state.task = nil
            var waiting: [CheckedContinuation<Fetched?, any Error>] = []
            for number in state.subscribers.keys {
                guard let continuation = state.subscribers[number]?.waiting else { continue }
                state.subscribers[number]?.waiting = nil
                state.subscribers[number]?.knowsOfFailure = true
                waiting.append(continuation)
            }
            return waiting
        }
        for continuation in waiting {
            switch ending {
            case .finished: continuation.resume(returning: nil)
            case .failed(let error): continuation.resume(throwing: error)
            }
        }
        withdraw()
    }
}
