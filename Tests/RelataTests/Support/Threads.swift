import Dispatch
import Foundation

extension Thread {
    /// Runs code at once on its own thread, which it may block.
    static func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) -> Task<Result, any Error> {
        let (stream, continuation) = AsyncThrowingStream<Result, any Error>.makeStream()
        let thread = Thread {
            do {
                continuation.yield(try body())
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        thread.start()
        return Task {
            for try await result in stream { return result }
            throw CancellationError()
        }
    }
}

/// A gate that stops a thread of ``Foundation/Thread/run(_:)`` until the test opens it.
final class Gate: Sendable {
    private let (arrivals, arrival) = AsyncStream<Void>.makeStream()
    private let permission = DispatchSemaphore(value: 0)

    /// Stops the thread.
    func stop() {
        arrival.yield()
        permission.wait()
    }

    /// Waits until a thread has stopped.
    func stopped() async { for await _ in arrivals { return } }

    /// Lets a thread continue.
    func open() { permission.signal() }
}
