#if Server
import NIOCore
import RelataCore
import Synchronization

/// Passes the body of a request from the connection to its reader, while it arrives. It is short: while enough bytes
/// wait here, the connection isn't read.
final class BodyPipe: Sendable {
    private struct State {
        var pieces = CircularBuffer<ByteBuffer>(initialCapacity: 4)
        var size = 0
        var isWhole = false
        /// Whether the body has ended early.
        var isBroken = false
        /// The reader that waits for the next piece.
        var taker: CheckedContinuation<[UInt8]?, any Error>?
        var isDropped = false
        /// The number of received bytes.
        var received = 0
    }

    /// The number of waiting bytes from which reading pauses.
    private static let maximumSize = 256 * 1024

    private let state = Mutex(State())
    private let wish = Mutex<Wish?>(nil)

    /// Called when more bytes are needed. A separate type: a closure directly in a mutex would be wrapped again at each
    /// read, and each call would go through all of the wrappers.
    private struct Wish: Sendable {
        let body: @Sendable () -> Void
    }

    /// Called when more is wanted. Set before the first read.
    func whenWanted(_ body: @escaping @Sendable () -> Void) { wish.withLock { $0 = Wish(body: body) } }

    // MARK: The connection

    /// Whether so much waits that nothing more should be read.
    var isFull: Bool { state.withLock { $0.size >= Self.maximumSize && !$0.isDropped } }

    /// Whether the body has ended.
    var isWhole: Bool { state.withLock { $0.isWhole } }
    /// The number of received bytes.
    var received: Int { state.withLock { $0.received } }

    func push(_ bytes: ByteBuffer) {
        let taker = state.withLock { state -> CheckedContinuation<[UInt8]?, any Error>? in
            state.received += bytes.readableBytes
            if state.isDropped || bytes.readableBytes == 0 { return nil }
            if let taker = state.taker {
                state.taker = nil
                return taker
            }
            state.pieces.append(bytes)
            state.size += bytes.readableBytes
            return nil
        }
        taker?.resume(returning: Array(bytes.readableBytesView))
    }

    /// No more values follow.
    func finish() {
        end { $0.isWhole = true }?.resume(returning: nil)
    }

    /// The body has ended early: no reply is expected.
    func fail() {
        let taker = end { state in
            state.isBroken = true
            state.pieces.removeAll()
            state.size = 0
        }
        taker?.resume(throwing: CancellationError())
    }

    private func end(_ change: (inout State) -> Void) -> CheckedContinuation<[UInt8]?, any Error>? {
        state.withLock { state in
            if state.isWhole || state.isBroken { return nil }
            change(&state)
            defer { state.taker = nil }
            return state.taker
        }
    }

    /// The reader has stopped: further bytes are dropped.
    func drop() {
        wish.withLock { $0 = nil }
        state.withLock { state in
            state.isDropped = true
            state.pieces.removeAll()
            state.size = 0
        }
    }

    // MARK: The taker

    /// The body as a stream, which one task takes.
    var stream: ByteStream { ByteStream { try await self.next() } }

    private func next() async throws -> [UInt8]? {
        let waiting = try state.withLock { state throws -> [UInt8]? in
            if state.isBroken { throw CancellationError() }
            guard let piece = state.pieces.popFirst() else { return nil }
            state.size -= piece.readableBytes
            return Array(piece.readableBytesView)
        }
        wish.withLock { $0 }?.body()
        if let waiting { return waiting }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in take(continuation) }
        } onCancel: {
            fail()
        }
    }

    private func take(_ continuation: CheckedContinuation<[UInt8]?, any Error>) {
        let result = state.withLock { state -> Result<[UInt8]?, any Error>? in
            if state.isBroken { return .failure(CancellationError()) }
            if let piece = state.pieces.popFirst() {
                state.size -= piece.readableBytes
                return .success(Array(piece.readableBytesView))
            }
            if state.isWhole { return .success(nil) }
            state.taker = continuation
            return nil
        }
        if let result { continuation.resume(with: result) }
    }
}
#endif
