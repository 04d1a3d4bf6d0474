import Synchronization

/// The messages that wait to be sent to one client. Their size is limited: a client that reads too slowly is
/// disconnected, so that no other client waits for it, and its messages don't fill the memory.
final class LiveOutbox: Sendable {
    private struct State {
        var messages: [String] = []
        /// The index of the first message that wasn't taken.
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

    /// - Parameter maximumSize: A message is added only while the waiting ones have at most this many bytes.
    init(maximumSize: Int) { self.maximumSize = maximumSize }

    /// The bytes of memory that a message takes besides its text.
    private static let overhead = 64

    /// Adds a message.
    ///
    /// - Returns: Whether the client is still connected and accepts messages.
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
            // The waiting messages are useless without those that would be missing.
            state.messages = [LiveProblem(code: 155, Self.tooSlow, reconnects: true).text]
            (state.first, state.isClosed) = (0, true)
            return (false, nil)
        }
        waiting?.resume(returning: message)
        return isOpen
    }

    private static let tooSlow =
        "the client reads events too slowly: connect again, and fetch the objects again"

    /// Waits for the next message. Returns `nil` after the last one of a closed outbox, and if the task is cancelled.
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

    /// Closes the outbox. The waiting messages are still delivered.
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
