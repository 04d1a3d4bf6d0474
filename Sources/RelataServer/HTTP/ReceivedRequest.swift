#if Server
import NIOCore
import NIOHTTP1

/// A completely received request.
struct ReceivedRequest: Sendable {
    /// The method, as it was written.
    var method: String
    /// The target of the request.
    var target: RequestTarget
    var headers: RequestHeaders
    var body: ByteBuffer
    /// The body of a request that is answered while it arrives, in the place of ``body``.
    var pipe: BodyPipe?
    /// Whether the client waits for `100 Continue`.
    var asksForBody = false
    /// The maximum number of bytes of the body, also after decompression.
    var bodyLimit: Int
    /// The body's share of the memory for all bodies; `nil` for a small one.
    var share: BodyBudget.Share?
    /// Whether the client wants to keep the connection.
    var isKeptAlive: Bool
    /// The head of a request for a WebSocket.
    var webSocketHead: HTTPRequestHead?
    /// The time when its last byte arrived.
    var arrival = NIODeadline.now()

    /// The number of received bytes of the body.
    var received: Int { pipe?.received ?? body.readableBytes }
}
#endif
