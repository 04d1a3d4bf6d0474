#if Server
import NIOCore

/// What a client and a server say over a ``WebSocket``.
public enum WebSocketMessage: Hashable, Sendable {
    /// Text.
    case text(String)
    /// Bytes.
    case binary([UInt8])
}

/// What a protocol does with a ``WebSocket``. When it returns the client is told that all is said; when it throws, that the
/// server failed. It is cancelled when the connection is closed.
public typealias WebSocketSession = @Sendable (WebSocket) async throws -> Void

/// A connection over which client and server say what they like, when they like (RFC 6455).
///
/// The server answers pings, sends some, and closes the connection where the client breaks the rules or doesn't answer.
public struct WebSocket: Sendable {
    /// What the client says. It is read once, and no faster than it is taken.
    public let messages: WebSocketMessages
    fileprivate let outbound: NIOAsyncChannelOutboundWriter<WebSocketMessage>

    init(
        _ inbound: NIOAsyncChannelInboundStream<WebSocketMessage>,
        _ outbound: NIOAsyncChannelOutboundWriter<WebSocketMessage>
    ) {
        messages = WebSocketMessages(inbound: inbound)
        self.outbound = outbound
    }

    /// Sends a message. Waits while the client takes what was sent before.
    ///
    /// - Throws: An error where the connection is closed.
    public func send(_ message: WebSocketMessage) async throws { try await outbound.write(message) }
}

/// The messages of a client, which end when it closes the connection or the server stops.
public struct WebSocketMessages: AsyncSequence, Sendable {
    fileprivate let inbound: NIOAsyncChannelInboundStream<WebSocketMessage>

    /// Reads the messages.
    public func makeAsyncIterator() -> Iterator { Iterator(inbound: inbound.makeAsyncIterator()) }

    /// Reads the messages.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var inbound: NIOAsyncChannelInboundStream<WebSocketMessage>.AsyncIterator

        /// The next message; `nil` after the last. However a connection is lost, it is the end.
        public mutating func next() async -> WebSocketMessage? { try? await inbound.next() }
    }
}
#endif
