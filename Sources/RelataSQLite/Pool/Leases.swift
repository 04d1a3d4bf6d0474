import Dispatch
import Foundation
import RelataCore
import Synchronization

/// Hands out connections, each to one holder at a time, in the order they were asked for.
///
/// An idle connection is given at once and on the caller's thread. Otherwise a task suspends, and a thread (of code
/// without `async`) blocks: never a thread of Swift's own pool.
final class Leases: Sendable {
    private struct State {
        var idle: [LeasedConnection] = []
        var opened = 0
        var waiting: [Waiter] = []
        var nextWaiter = 0
        var isClosed = false
        /// Threads that hold a connection inside a synchronous body, for telling a nested call from a busy pool.
        var holders: [UInt] = []

        mutating func endHold(_ thread: UInt) {
            if let index = holders.firstIndex(of: thread) { holders.remove(at: index) }
        }
    }

    private enum Waiter {
        case task(Int, CheckedContinuation<LeasedConnection?, any Error>)
        case thread(Int, ThreadWait)
    }

    private let state = Mutex(State())
    private let limit: Int
    private let open: @Sendable () throws -> Connection

    /// Opens connections as they are needed, `limit` at most.
    init(limit: Int, open: @escaping @Sendable () throws -> Connection) {
        self.limit = limit
        self.open = open
    }

    // MARK: Acquiring

    /// A connection, at once if one is idle or may be opened; else the calling thread waits.
    func acquire(nested: String) throws -> Connection {
        let thread = ThreadIdentity.current
        let step = try state.withLock { state throws -> Step in
            let step = try next(&state)
            if case .wait = step {
                // The connection that this thread waits for is held by itself.
                if state.holders.contains(thread) { throw RelataError.invalidUse(nested) }
                let wait = ThreadWait()
                state.nextWaiter += 1
                state.waiting.append(.thread(state.nextWaiter, wait))
                return .waitFor(wait)
            }
            state.holders.append(thread)
            return step
        }
        switch step {
        case .idle(let leased): return leased.connection
        case .open: return try openOne(thread)
        case .waitFor(let wait):
            guard let leased = wait.wait() else { throw Self.closed }
            beginHold()
            return leased.connection
        case .wait: throw Self.closed
        }
    }

    /// As ``acquire(nested:)``; a task waits without a thread.
    func acquire() async throws -> Connection {
        let thread = ThreadIdentity.current
        let step = try state.withLock { state throws -> Step in
            let step = try next(&state)
            if case .wait = step { return step }
            state.holders.append(thread)
            return step
        }
        switch step {
        case .idle(let leased): return leased.connection
        case .open: return try openOne(thread)
        default: break
        }
        let id = state.withLock { state in
            state.nextWaiter += 1
            return state.nextWaiter
        }
        let leased = try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let immediate = state.withLock { state -> Result<Step, any Error>? in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    // One may have come back between the two looks.
                    let step = Result { try next(&state) }
                    if case .success(.wait) = step {
                        state.waiting.append(.task(id, continuation))
                        return nil
                    }
                    return step
                }
                switch immediate {
                case nil: break
                case .success(.idle(let leased)): continuation.resume(returning: leased)
                case .success: continuation.resume(returning: nil)
                case .failure(let error): continuation.resume(throwing: error)
                }
            }
        } onCancel: {
            let continuation = state.withLock { state -> CheckedContinuation<LeasedConnection?, any Error>? in
                for (index, waiter) in state.waiting.enumerated() {
                    if case .task(id, let continuation) = waiter {
                        state.waiting.remove(at: index)
                        return continuation
                    }
                }
                return nil
            }
            continuation?.resume(throwing: CancellationError())
        }
        beginHold()
        return try leased?.connection ?? openOne(ThreadIdentity.current)
    }

    private enum Step {
        case idle(LeasedConnection)
        case open
        case wait
        case waitFor(ThreadWait)
    }

    private static let closed = RelataError.closed("the store is closed: open it again")

    private func next(_ state: inout State) throws -> Step {
        if state.isClosed { throw Self.closed }
        if let leased = state.idle.popLast() { return .idle(leased) }
        if state.opened < limit {
            state.opened += 1
            return .open
        }
        return .wait
    }

    private func openOne(_ thread: UInt) throws -> Connection {
        do {
            let connection = try open()
            return connection
        } catch {
            state.withLock { state in
                state.opened -= 1
                state.endHold(thread)
            }
            throw error
        }
    }

    /// Notes that the calling thread uses a connection. Acquiring does so; only who suspends in between says it anew.
    func beginHold() {
        let thread = ThreadIdentity.current
        state.withLock { $0.holders.append(thread) }
    }

    /// Notes that the calling thread no longer uses a connection.
    func endHold() {
        let thread = ThreadIdentity.current
        state.withLock { $0.endHold(thread) }
    }

    /// Whether the calling thread is inside a body that holds a connection of this pool.
    var isHeldByCurrentThread: Bool {
        let thread = ThreadIdentity.current
        return state.withLock { $0.holders.contains(thread) }
    }

    // MARK: Releasing

    /// Gives a connection back, to whoever waits longest.
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
        switch waiter {
        case .task(_, let continuation): continuation.resume(returning: leased)
        case .thread(_, let wait): wait.signal(leased)
        case nil: if isClosed { try? connection.close() }
        }
    }

    /// Closes what is idle; what is held closes when it comes back. Whoever waits gets an error.
    func close() throws {
        let (idle, waiting) = state.withLock { state in
            state.isClosed = true
            defer { (state.idle, state.waiting) = ([], []) }
            state.opened -= state.idle.count
            return (state.idle, state.waiting)
        }
        for waiter in waiting {
            switch waiter {
            case .task(_, let continuation): continuation.resume(throwing: Self.closed)
            case .thread(_, let wait): wait.signal(nil)
            }
        }
        for leased in idle { try leased.connection.close() }
    }
}

/// A connection on its way from one holder to the next. Safe to send: the pool keeps no use of it while it is held,
/// and the lock it passes through orders what the holders do.
struct LeasedConnection: @unchecked Sendable {
    let connection: Connection
}

/// A blocked thread of code without `async`.
private final class ThreadWait: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let leased = Mutex<LeasedConnection?>(nil)

    func signal(_ connection: LeasedConnection?) {
        leased.withLock { $0 = connection }
        semaphore.signal()
    }

    func wait() -> LeasedConnection? {
        semaphore.wait()
        return leased.withLock { $0 }
    }
}

enum ThreadIdentity {
    /// A number that no other running thread has.
    static var current: UInt {
        #if canImport(Darwin)
        UInt(bitPattern: pthread_self())
        #else
        UInt(pthread_self())
        #endif
    }
}
