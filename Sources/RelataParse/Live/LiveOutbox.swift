import Synchronization

/// What one client has yet to be told. It is bounded: a client that takes nothing for long is let go, so that nobody else
/// waits for it, nor for the memory.
final class LiveOutbox: Sendable {
    private struct State {
        var messages: [String] = []
        /// The first that wasn't taken.
        var first = 0
        var size = 0
        var isClosed = false
        var waiting: CheckedContinuation<String?, Never>?

        mutating func takeFirst() -> String? {
            guard first < messages.count else { return nil }
            let message = messages[first]
            size -= message.utf8.count + LiveOutbox.overhead
            messages[first] = ""
            first += 1
            if first == messages.count || first >= 1024 {
                messages.removeFirst(first)
                first = 0
            }
            return message
        }
    }

    private let state = Mutex(State())
    private let maximumSize: Int

    /// - Parameter maximumSize: How many bytes may wait for one more message to be taken.
    init(maximumSize: Int) { self.maximumSize = maximumSize }

    /// What a message takes besides its text.
    private static let overhead = 64

    /// Adds a message.
    ///
    /// - Returns: Whether the client is still there, and takes what it is told.
    @discardableResult
    func append(_ message: String) -> Bool {
        let (isOpen, waiting) = state.withLock { state -> (Bool, CheckedContinuation<String?, Never>?) in
            if state.isClosed { return (false, nil) }
            if let waiting = state.waiting {
                state.waiting = nil
                return (true, waiting)
            }
            guard state.size > maximumSize else {
                state.messages.append(message)
                state.size += message.utf8.count + Self.overhead
                return (true, nil)
            }
            // What waits is of no use without what would be missing.
            state.messages = [LiveProblem(code: 155, Self.tooSlow, reconnects: true).text]
            (state.first, state.isClosed) = (0, true)
            return (false, nil)
        }
        waiting?.resume(returning: message)
        return isOpen
    }

    private static let tooSlow =
        "the client takes events more slowly than they come: connect again, and fetch the objects anew"

    /// The next message, as soon as there is one; `nil` after the last, once it is closed, and where the task is cancelled.
    func next() async -> String? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let message = state.withLock { state -> String?? in
                    if Task.isCancelled { return .some(nil) }
                    if let message = state.takeFirst() { return message }
                    if state.isClosed { return .some(nil) }
                    state.waiting = continuation
                    return nil
                }
                if let message { continuation.resume(returning: message) }
            }
        } onCancel: {
            take()?.resume(returning: nil)
        }
    }

    /// Ends it after what waits.
    func close() {
        state.withLock { $0.isClosed = true }
        take()?.resume(returning: nil)
    }

    private func take() -> CheckedContinuation<String?, Never>? {
        state.withLock { state in
            defer { state.waiting = nil }
            return state.waiting
        }
    }
}
