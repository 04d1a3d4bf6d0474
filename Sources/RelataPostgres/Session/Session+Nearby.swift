#if PostgreSQL
import RelataCPQ
import RelataCore

/// Statements that run on a thread that must not wait for long, such as one of Swift's own.
///
/// To hand a call to the thread of a connection and back takes longer than a server nearby takes to answer. So a call of a
/// single statement may begin on the caller's thread. Where the answer takes its time, the statement goes on, the call ends
/// with ``needsThread`` set, and runs again on the connection's thread: the same statement then isn't sent anew, but waited
/// for.
extension Session {
    /// Up to which time for an answer a server is nearby.
    private static let nearby = Duration.microseconds(100)
    /// How long the caller's thread waits.
    private static let patience = Duration.milliseconds(1)

    /// How many bytes of parameters are sent at once for certain.
    private static let largestRequest = 4096

    /// Whether the server has answered lately in less time than it takes to change threads.
    package var isNearby: Bool { answerTime < Self.nearby }

    /// Begins a use in which nothing waits for long.
    package func beginBriefUse() { (isBrief, needsThread) = (true, false) }

    /// Ends it.
    package func endBriefUse() { isBrief = false }

    /// Notes how long the server took to answer. One quick answer counts more than many slow ones: what is asked for may
    /// take long, or the machine be busy.
    private func note(_ time: Duration) { answerTime = min(time, answerTime + answerTime / 8) }

    /// Runs a prepared statement whose parameters are complete, or takes up the answer to it that nobody waited for.
    ///
    /// - Returns: The result; `nil` where it couldn't be sent, or the connection is gone.
    func answer(
        to statement: PreparedStatement, _ parameters: ParameterBuffer
    ) throws(PostgresFailure) -> OpaquePointer? {
        if let asked, asked === statement, activity == .asked, !isBrief, let handle {
            self.asked = nil
            activity = .idle
            return lastResult(handle)
        }
        let handle = isBrief ? try idle() : try ready()
        // What the server has to take in parts, it may keep waiting for.
        if isBrief, parameters.size > Self.largestRequest { throw threadNeeded() }
        let start = ContinuousClock.now
        guard send(statement, parameters, handle) else { return nil }
        if isBrief, !isAnswered(handle, until: start + Self.patience) {
            (asked, activity) = (statement, .asked)
            note(.now - start)
            throw threadNeeded()
        }
        let result = lastResult(handle)
        note(.now - start)
        return result
    }

    /// Says that only the thread of the connection may go on.
    func threadNeeded() -> PostgresFailure {
        needsThread = true
        return PostgresFailure(.interrupted)
    }

    /// Waits until the whole answer is here, or for so long; whether it is.
    private func isAnswered(_ handle: OpaquePointer, until deadline: ContinuousClock.Instant) -> Bool {
        while PQisBusy(handle) == 1 {
            guard .now < deadline, waker.wait(for: PQsocket(handle), writing: false, until: deadline) else {
                return false
            }
            // What goes wrong is said by the result.
            if PQconsumeInput(handle) != 1 { return true }
        }
        return true
    }

    /// Reads and drops the answer that nobody waits for any more.
    func dropAnswer(_ handle: OpaquePointer) {
        (asked, activity) = (nil, .idle)
        while let result = nextResult(handle) { PQclear(result) }
    }
}
#endif
