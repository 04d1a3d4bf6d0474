#if Server
import NIOCore

/// A message between a client and a server over a ``WebSocket``.
public enum WebSocketMessage: Hashable, Sendable {
    /// Text.
    case text(String)
    /// Bytes.
    case binary([UInt8])
}

/// A protocol's code for a ``WebSocket``. When it returns, the connection is closed normally; when it throws, with a
/// server error. It is cancelled when the connection is closed.
public typealias WebSocketSession = @Sendable (WebSocket) async throws -> Void

/// A connection over which client and server send messages at any time (RFC 6455).
///
/// The server answers pings, sends some, and closes the connection if the client breaks the rules or doesn't answer.
public struct WebSocket: Sendable {
    /// The client's messages. They can be read once, and arrive no faster than they are read.
    public let messages: WebSocketMessages
    fileprivate let outbound: NIOAsyncChannelOutboundWriter<WebSocketMessage>
    /// Runs tasks where messages are sent: for a task that does little else.
    let sending: EventLoopExecutor

    init(
        _ inbound: NIOAsyncChannelInboundStream<WebSocketMessage>,
        _ outbound: NIOAsyncChannelOutboundWriter<WebSocketMessage>, on loop: any EventLoop
    ) {
        messages = WebSocketMessages(inbound: inbound)
        self.outbound = outbound
        sending = EventLoopExecutor(loop)
    }

    /// Sends a message. Waits until the client has received earlier ones.
    ///
    /// - Throws: An error if the connection is closed.
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

        /// The next message; `nil` after the last. A lost connection is an end too.
        public mutating func next() async -> WebSocketMessage? { try? await inbound.next() }
    }
}
#endif
