/// The time for something is over.
struct TimeIsUp: Error, CustomStringConvertible {
    let limit: Duration

    var description: String { "it took longer than \(limit)" }
}

/// Runs work with a time limit. Work that exceeds it is cancelled, and the caller doesn't wait for it.
///
/// - Throws: ``TimeIsUp``, and the errors of the work.
package func within<Result: Sendable>(
    _ limit: Duration, _ work: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    let (results, end) = AsyncThrowingStream<Result, any Error>.makeStream()
    let work = Task {
        do {
            end.yield(try await work())
        } catch {
            end.finish(throwing: error)
        }
    }
    let clock = Task {
        try await Task.sleep(for: limit)
        end.finish(throwing: TimeIsUp(limit: limit))
    }
    defer {
        work.cancel()
        clock.cancel()
    }
    for try await result in results { return result }
    throw CancellationError()
}
