import Foundation
import Testing

/// The processor time, in seconds, that this thread spends on something. A machine that does much else doesn't lengthen it.
package func processorTime(_ body: () throws -> Void) rethrows -> Double {
    func now() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1_000_000_000
    }
    let start = now()
    try body()
    return now() - start
}

/// Whether something takes less than that in one of a few attempts: a machine that does much else may hold up the others.
package func isQuick(_ limit: Duration, _ body: () throws -> Void) rethrows -> Bool {
    for _ in 0..<5 where try ContinuousClock().measure(body) < limit { return true }
    return false
}

/// The same for something that is waited for.
package func isQuick(_ limit: Duration, _ body: () async throws -> Void) async rethrows -> Bool {
    for _ in 0..<5 where try await ContinuousClock().measure(body) < limit { return true }
    return false
}

/// Waits until something is so, on a thread that may block. If it isn't within a minute, that is a failure.
package func blockUntil(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
) rethrows {
    for _ in 0..<12_000 {
        if try condition() { return }
        usleep(5000)
    }
    Issue.record("it wasn't so within a minute", sourceLocation: sourceLocation)
}

/// The same in a task, which leaves its thread to others.
package func waitUntil(
    sourceLocation: SourceLocation = #_sourceLocation, _ condition: () async throws -> Bool
) async rethrows {
    for _ in 0..<12_000 {
        if try await condition() { return }
        try? await Task.sleep(for: .milliseconds(5))
    }
    Issue.record("it wasn't so within a minute", sourceLocation: sourceLocation)
}
