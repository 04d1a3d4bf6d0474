import Foundation
import Synchronization

/// A queue of deliveries after the reply to a request, such as mails. It makes several at once, and repeats failed ones.
final class DeliveryQueue<Item: Sendable>: Sendable {
    /// Creates the delivery; `nil` if there is nothing to deliver.
    typealias Job = @Sendable () async throws -> Item?

    /// The options of the delivery.
    struct Options: Sendable {
        /// The maximum number of waiting ones.
        var maximumWaiting: Int
        /// The maximum number of bytes of all waiting and current jobs.
        var maximumBytes = Int.max
        /// The maximum number of concurrent deliveries.
        var width: Int
        /// The waits before each new attempt, in seconds.
        var retries: [Double]
        /// The time limit for making one: all others wait for it.
        var preparingLimit = Duration.seconds(10)
        /// The longest time for delivering one.
        var deliveryLimit = Duration.seconds(120)
        /// Called with the errors of jobs that aren't retried.
        var report: @Sendable (any Error) -> Void
    }

    /// The waiting jobs.
    private struct Waiting {
        let job: Job
        /// The number of bytes it holds.
        var bytes = 0
        /// The number of failed attempts.
        var failures = 0
    }

    private struct State {
        var waiting: [Waiting] = []
        /// The errors of jobs that wait before they are retried.
        var resting: [UInt64: any Error] = [:]
        var lastResting: UInt64 = 0
        /// Whether a task is working through the waiting jobs.
        var isBusy = false
        /// The number of current deliveries.
        var delivering = 0
        /// The number of bytes of jobs that are neither delivered nor abandoned yet.
        var bytes = 0
        var isStopped = false
        var forRoom: [CheckedContinuation<Void, Never>] = []
    }

    private let options: Options
    private let isTemporary: @Sendable (any Error) -> Bool
    private let deliver: @Sendable (Item) async throws -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - isTemporary: Whether another attempt may succeed after an error.
    ///   - deliver: Delivers one.
    init(
        _ options: Options, isTemporary: @escaping @Sendable (any Error) -> Bool,
        deliver: @escaping @Sendable (Item) async throws -> Void
    ) {
        self.options = options
        self.isTemporary = isTemporary
        self.deliver = deliver
    }

    /// Adds a job.
    ///
    /// - Parameter bytes: The number of bytes the job holds until it is delivered.
    /// - Returns: `false` if too many jobs are waiting.
    func add(_ job: @escaping Job, holding bytes: Int = 0) -> Bool {
        let hasRoom = state.withLock { state in
            guard !state.isStopped, state.waiting.count + state.resting.count < options.maximumWaiting,
                bytes <= options.maximumBytes - state.bytes
            else { return false }
            state.bytes += bytes
            return true
        }
        if hasRoom { enqueue(Waiting(job: job, bytes: bytes)) }
        return hasRoom
    }

    /// Delivers what waits, for a while, and reports the rest.
    ///
    /// - Parameter seconds: The longest time to wait.
    func stop(within seconds: Double) async {
        let failed = state.withLock { state -> [any Error] in
            state.isStopped = true
            defer { state.resting = [:] }
            return Array(state.resting.values)
        }
        for error in failed { options.report(error) }
        let end = ContinuousClock.now + .seconds(seconds)
        while state.withLock({ $0.isBusy || $0.delivering > 0 }), ContinuousClock.now < end {
            try? await Task.sleep(for: .milliseconds(20))
        }
        let lost = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting.count + state.delivering
        }
        if lost > 0 { options.report(Lost(count: lost)) }
    }

    /// The deliveries that were still waiting when the server stopped.
    struct Lost: Error, CustomStringConvertible {
        let count: Int
        var description: String { "the server stopped with \(count) deliveries still waiting" }
    }

    private func enqueue(_ waiting: Waiting) {
        let isFirst = state.withLock { state in
            state.waiting.append(waiting)
            defer { state.isBusy = true }
            return !state.isBusy
        }
        if isFirst { Task { await run() } }
    }

    private func run() async {
        while let next = next() {
            do {
                guard let item = try await within(options.preparingLimit, next.job) else {
                    end(next)
                    continue
                }
                await waitForRoom()
                Task {
                    await attempt(item, next)
                    leave()
                }
            } catch {
                end(next, for: error)
            }
        }
    }

    /// Frees the bytes of a job that isn't retried.
    ///
    /// - Parameter error: The reason why it wasn't delivered; `nil` if it was, or if there was nothing to deliver.
    private func end(_ waiting: Waiting, for error: (any Error)? = nil) {
        state.withLock { $0.bytes -= waiting.bytes }
        if let error { options.report(error) }
    }

    private func next() -> Waiting? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isBusy = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    private func waitForRoom() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.delivering < options.width else {
                    state.forRoom.append(continuation)
                    return false
                }
                state.delivering += 1
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.forRoom.isEmpty else { return state.forRoom.removeFirst() }
            state.delivering -= 1
            return nil
        }
        next?.resume()
    }

    private func attempt(_ item: Item, _ waiting: Waiting) async {
        let failures = waiting.failures
        do {
            try await within(options.deliveryLimit) { [deliver] in try await deliver(item) }
            end(waiting)
        } catch {
            guard failures < options.retries.count, isTemporary(error) else { return end(waiting, for: error) }
            // Others don't wait for one whose server is away.
            let number = state.withLock { state -> UInt64? in
                if state.isStopped { return nil }
                state.lastResting += 1
                state.resting[state.lastResting] = error
                return state.lastResting
            }
            guard let number else { return end(waiting, for: error) }
            Task {
                try? await Task.sleep(for: .seconds(options.retries[failures]))
                // The caller that stopped the queue has reported it.
                guard state.withLock({ $0.resting.removeValue(forKey: number) }) != nil else { return }
                enqueue(Waiting(job: { item }, bytes: waiting.bytes, failures: failures + 1))
            }
        }
    }
}
