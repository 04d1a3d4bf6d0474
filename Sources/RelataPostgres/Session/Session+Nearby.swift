#if PostgreSQL
import RelataCPQ
import RelataCore

/// Statements on a thread that must not wait for long, such as one of Swift's own.
///
/// Passing a call to the connection's thread and back takes longer than the answer of a server nearby. So a call of a
/// single statement may begin on the caller's thread. If the answer takes long, the statement runs on, the call ends
/// with ``needsThread`` set, and runs again on the connection's thread. It then waits for the statement instead of
/// sending it again.
extension Session {
    /// The longest time for an answer of a server that counts as nearby.
    private static let nearby = Duration.microseconds(100)
    /// The time that the caller's thread waits.
    private static let patience = Duration.milliseconds(1)

    /// The number of bytes of parameters that can certainly be sent at once.
    private static let largestRequest = 4096

    /// Whether the server has recently answered faster than a thread switch takes.
    package var isNearby: Bool { answerTime < Self.nearby }

    /// Begins a use without long waits.
    package func beginBriefUse() { (isBrief, needsThread) = (true, false) }

    /// Ends it.
    package func endBriefUse() { isBrief = false }

    /// Records the time that the server took to answer. One quick answer counts more than many slow ones: the statement
    /// may take long, or the machine may be busy.
    private func note(_ time: Duration) { answerTime = min(time, answerTime + answerTime / 8) }

    /// Runs a prepared statement whose parameters are complete, or takes its pending answer.
    ///
    /// - Returns: The result; `nil` if it couldn't be sent, or the connection is lost.
    func answer(
        to statement: PreparedStatement, _ parameters: ParameterBuffer
    ) throws(PostgresFailure) -> OpaquePointer? {
        if let asked, asked === statement, activity == .asked, !isBrief, let handle {
            self.asked = nil
            activity = .idle
            return lastResult(handle)
        }
        let handle = isBrief ? try idle() : try ready()
        // The server may accept a request in parts, and make the caller wait.
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

    /// Records that only the thread of the connection may continue.
    func threadNeeded() -> PostgresFailure {
        needsThread = true
        return PostgresFailure(.interrupted)
    }

    /// Waits until the whole answer has arrived, or until the time is over. Returns whether it has arrived.
    private func isAnswered(_ handle: OpaquePointer, until deadline: ContinuousClock.Instant) -> Bool {
        while PQisBusy(handle) == 1 {
            guard .now < deadline, waker.wait(for: PQsocket(handle), writing: false, until: deadline) else {
                return false
            }
            // The result reports failures.
            if PQconsumeInput(handle) != 1 { return true }
        }
        return true
    }

    /// Reads and drops an answer that is no longer needed.
    func dropAnswer(_ handle: OpaquePointer) {
        (asked, activity) = (nil, .idle)
        while let result = nextResult(handle) { PQclear(result) }
    }
}
#endif
