import Dispatch
import Foundation
import RelataCore
import Synchronization

/// Leases connections, each to one holder at a time, in the order of the requests.
///
/// An idle connection is given at once and on the caller's thread. Otherwise a task suspends, and a thread (of code
/// without `async`) blocks: never a thread of Swift's own pool.
final class Leases: Sendable {
    private struct State {
        var idle: [LeasedConnection] = []
        /// Connections that are open or being opened.
        var opened = 0
        var waiting: [Waiter] = []
        var nextWaiter = 0
        var isClosed = false
        /// The current holder of a connection, to distinguish a nested call from a busy pool.
        var holds: [Hold] = []
        /// Whether a check for expired waits is scheduled.
        var isSweepPlanned = false
        /// The number of timeouts.
        var timeouts = 0

        mutating func endHold(_ thread: UInt) {
            if let index = holds.firstIndex(where: { $0.thread == thread }) { holds.remove(at: index) }
        }

        /// The connection for the next request; `nil` if it must wait.
        mutating func next(limit: Int) -> Handoff? {
            if isClosed { return .closed }
            if let leased = idle.popLast() { return .connection(leased) }
            guard opened < limit else { return nil }
            opened += 1
            return .open
        }
    }

    /// A thread and the connection it uses, as soon as that is open.
    private struct Hold {
        let thread: UInt
        let connection: LeasedConnection?
    }

    private let state = Mutex(State())
    /// The maximum number of connections.
    let limit: Int
    private let purpose: String
    private let patience: Duration?
    private let makeExecutor: @Sendable () -> (any TaskExecutor)?
    private let open: @Sendable ((any TaskExecutor)?) throws -> Connection

    /// Opens connections as they are needed, `limit` at most.
    ///
    /// - Parameters:
    ///   - purpose: The purpose of the connections in errors: "write".
    ///   - patience: The longest time that a call waits for one; `nil` for no limit.
    ///   - makeExecutor: Makes the thread of a new connection, if it has one.
    init(
        limit: Int, purpose: String = "work", patience: Duration? = nil,
        makeExecutor: @escaping @Sendable () -> (any TaskExecutor)? = { nil },
        open: @escaping @Sendable ((any TaskExecutor)?) throws -> Connection
    ) {
        self.limit = limit
        self.purpose = purpose
        self.patience = patience
        self.makeExecutor = makeExecutor
        self.open = open
    }

    // MARK: Acquiring

    /// A connection, at once if one is idle or may be opened; otherwise the calling thread waits. `nil` if the thread
    /// holds one already, because it might wait for itself.
    func acquireUnlessHeld() throws -> Connection? {
        let thread = ThreadIdentity.current
        let (handoff, wait) = state.withLock { state -> (Handoff?, ThreadWait?) in
            if state.holds.contains(where: { $0.thread == thread }) { return (nil, nil) }
            if let handoff = state.next(limit: limit) {
                state.holds.append(Hold(thread: thread, connection: handoff.leased))
                return (handoff, nil)
            }
            let wait = ThreadWait(deadline: deadline)
            state.waiting.append(.thread(wait))
            return (nil, wait)
        }
        if let handoff { return try connection(handoff, thread) }
        planSweep()
        guard let later = wait?.wait() else { return nil }
        beginHold(later.leased)
        return try connection(later, thread)
    }

    /// A connection, at once if one is idle or may be opened; else the task waits without a thread.
    func acquire() async throws -> Connection {
        // The work can't be done by others, because they don't know it: the result is a connection.
        while true { if let connection = try await acquire(for: nil) { return connection } }
    }

    /// As ``acquire()``; `nil` if the holder of a connection has done the work in the meantime.
    func acquire(for work: (any SharedWork)?) async throws -> Connection? {
        let thread = ThreadIdentity.current
        let handoff = state.withLock { state in
            let handoff = state.next(limit: limit)
            if let handoff { state.holds.append(Hold(thread: thread, connection: handoff.leased)) }
            return handoff
        }
        if let handoff { return try await connectionOfTask(handoff, thread) }
        guard let later = try await wait(work) else { return nil }
        beginHold(later.leased)
        return try await connectionOfTask(later, ThreadIdentity.current)
    }

    /// As ``connection(_:_:)``; a connection that blocks is opened on its own thread.
    private func connectionOfTask(_ handoff: Handoff, _ thread: UInt) async throws -> Connection {
        guard case .open = handoff, let executor = makeExecutor() else { return try connection(handoff, thread) }
        state.withLock { $0.endHold(thread) }
        do {
            let leased = try await makeConnection(on: executor)
            beginHold(leased)
            return leased.connection
        } catch {
            passOn()
            throw error
        }
    }

    /// A connection beyond the limit, for a holder that may keep it for long: others never wait for it, and it waits
    /// for none.
    func borrow() throws -> Connection { try borrowIdle()?.connection ?? open(makeExecutor()) }

    /// As the call without `async`; a connection that blocks is opened on its own thread.
    func borrow() async throws -> LeasedConnection {
        if let leased = try borrowIdle() { return leased }
        guard let executor = makeExecutor() else { return LeasedConnection(connection: try open(nil)) }
        return try await makeConnection(on: executor)
    }

    /// Opens a connection that blocks on its own thread.
    private func makeConnection(on executor: any TaskExecutor) async throws -> LeasedConnection {
        try await withTaskExecutorPreference(executor) { LeasedConnection(connection: try open(executor)) }
    }

    private func borrowIdle() throws -> LeasedConnection? {
        try state.withLock { state throws -> LeasedConnection? in
            if state.isClosed { throw Self.closed }
            guard let leased = state.idle.popLast() else { return nil }
            // Another may be opened in its place.
            state.opened -= 1
            return leased
        }
    }

    /// Returns a borrowed connection, and closes it if there are enough.
    func giveBack(_ connection: Connection) {
        let leased = LeasedConnection(connection: connection)
        let isKept = state.withLock { state in
            guard !state.isClosed, state.opened < limit else { return false }
            state.opened += 1
            state.idle.append(leased)
            return true
        }
        if !isKept { try? connection.close() }
    }

    /// An open connection that isn't leased; `nil` if there is none.
    func acquireIfIdle() -> Connection? {
        let thread = ThreadIdentity.current
        let leased = state.withLock { state -> LeasedConnection? in
            guard !state.isClosed, let leased = state.idle.popLast() else { return nil }
            state.holds.append(Hold(thread: thread, connection: leased))
            return leased
        }
        return leased?.connection
    }

    private func wait(_ work: (any SharedWork)?) async throws -> Handoff? {
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let immediate = state.withLock { state -> Result<Handoff?, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    // A connection may have been returned between the two checks.
                    if let handoff = state.next(limit: limit) { return .success(handoff) }
                    state.waiting.append(
                        .task(TaskWait(id: id, deadline: deadline, continuation: continuation, work: work)))
                    return nil
                }
                if let immediate { continuation.resume(with: immediate) } else { planSweep() }
            }
        } onCancel: {
            let cancelled = state.withLock { state -> TaskWait? in
                for (index, waiter) in state.waiting.enumerated() {
                    if case .task(let waiting) = waiter, waiting.id == id {
                        state.waiting.remove(at: index)
                        return waiting
                    }
                }
                return nil
            }
            cancelled?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Whether a single connection is in use, without waiting requests.
    var hasOneHolder: Bool {
        state.withLock { $0.opened == $0.idle.count + 1 && $0.waiting.isEmpty }
    }

    /// The number of waiting ones.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// The current use of the connections.
    var statistics: StoreStatistics.Connections {
        state.withLock { state in
            StoreStatistics.Connections(
                limit: limit, open: state.opened, idle: state.idle.count, waiting: state.waiting.count,
                timeouts: state.timeouts)
        }
    }

    // MARK: Patience

    private var deadline: ContinuousClock.Instant? { patience.map { .now + $0 } }

    private var exhausted: RelataError {
        let seconds = (patience ?? .zero) / .seconds(1)
        return .busy(
            "all \(limit) connections that \(purpose) were in use for \(seconds) seconds: make transactions shorter, or raise Options.\(purpose == "read" ? "maximumReaders" : "maximumWriters") or Options.connectionTimeout"
        )
    }

    /// Schedules the errors of waits that take too long.
    private func planSweep() {
        guard patience != nil else { return }
        let first = state.withLock { state -> ContinuousClock.Instant? in
            guard !state.isSweepPlanned, let first = state.waiting.compactMap(\.deadline).min() else { return nil }
            state.isSweepPlanned = true
            return first
        }
        guard let first else { return }
        let (seconds, rest) = max(.zero, first - .now).components
        let delay = Double(seconds) + Double(rest) / 1e18
        DispatchQueue.global().asyncAfter(deadline: .now() + delay + 0.001) { [weak self] in self?.sweep() }
    }

    private func sweep() {
        let now = ContinuousClock.now
        let tired = state.withLock { state -> [Waiter] in
            state.isSweepPlanned = false
            let tired = state.waiting.filter { $0.deadline.map { $0 <= now } ?? false }
            if !tired.isEmpty { state.waiting.removeAll { $0.deadline.map { $0 <= now } ?? false } }
            state.timeouts += tired.count
            return tired
        }
        for waiter in tired { waiter.resume(.exhausted) }
        planSweep()
    }

    // MARK: Sharing

    /// The longest-waiting request, and the work that the caller, who holds the connection, may do for it.
    func takeWork() -> (waiting: TaskWait, work: any SharedWork)? {
        state.withLock { state in
            guard case .task(let waiting)? = state.waiting.first, let work = waiting.work else { return nil }
            state.waiting.removeFirst()
            return (waiting, work)
        }
    }

    /// Makes the callers whose work was taken over do it themselves, before all others.
    func putBack(_ taken: [TaskWait]) {
        let isClosed = state.withLock { state in
            guard !state.isClosed else { return true }
            let alone = taken.map {
                Waiter.task(TaskWait(id: $0.id, deadline: $0.deadline, continuation: $0.continuation))
            }
            state.waiting.insert(contentsOf: alone, at: 0)
            return false
        }
        if isClosed { for waiting in taken { waiting.continuation.resume(returning: .closed) } }
    }

    private static let closed = RelataError.closed("the store is closed: open it again")

    private func connection(_ handoff: Handoff, _ thread: UInt) throws -> Connection {
        switch handoff {
        case .connection(let leased): return leased.connection
        case .closed:
            state.withLock { $0.endHold(thread) }
            throw Self.closed
        case .exhausted:
            state.withLock { $0.endHold(thread) }
            throw exhausted
        case .open:
            do {
                return try open(makeExecutor())
            } catch {
                state.withLock { $0.endHold(thread) }
                passOn()
                throw error
            }
        }
    }

    /// Passes the right to open a connection, which failed, to a waiting request: otherwise it would never wake.
    private func passOn() {
        let waiter = state.withLock { state -> Waiter? in
            if !state.waiting.isEmpty { return state.waiting.removeFirst() }
            state.opened -= 1
            return nil
        }
        waiter?.resume(.open)
    }

    // MARK: Holding

    /// Records that the calling thread uses a connection. Acquiring does so; it is needed again only after a
    /// suspension.
    func beginHold(_ connection: LeasedConnection?) {
        let thread = ThreadIdentity.current
        state.withLock { $0.holds.append(Hold(thread: thread, connection: connection)) }
    }

    /// Records that the calling thread no longer uses a connection.
    func endHold() {
        let thread = ThreadIdentity.current
        state.withLock { $0.endHold(thread) }
    }

    /// Whether the calling thread is inside a body that holds a connection of this pool.
    var isHeldByCurrentThread: Bool {
        let thread = ThreadIdentity.current
        return state.withLock { state in state.holds.contains { $0.thread == thread } }
    }

    /// The connection that the calling thread holds.
    var heldByCurrentThread: Connection? {
        let thread = ThreadIdentity.current
        return state.withLock { state in state.holds.first { $0.thread == thread }?.connection }?.connection
    }

    // MARK: Releasing

    /// Returns a connection, to the longest-waiting request.
    func release(_ connection: Connection) {
        let thread = ThreadIdentity.current
        let leased = LeasedConnection(connection: connection)
        let (waiter, isClosed) = state.withLock { state -> (Waiter?, Bool) in
            state.endHold(thread)
            if state.isClosed {
                state.opened -= 1
                return (nil, true)
            }
            if state.waiting.isEmpty {
                state.idle.append(leased)
                return (nil, false)
            }
            return (state.waiting.removeFirst(), false)
        }
        if let waiter {
            waiter.resume(.connection(leased))
        } else if isClosed {
            try? connection.close()
        }
    }

    /// Closes idle connections; leased ones are closed when they are returned. Waiting requests get an error.
    func close() throws {
        let (idle, waiting) = state.withLock { state in
            state.isClosed = true
            defer { (state.idle, state.waiting) = ([], []) }
            state.opened -= state.idle.count
            return (state.idle, state.waiting)
        }
        for waiter in waiting { waiter.resume(.closed) }
        for leased in idle { try leased.connection.close() }
    }
}
