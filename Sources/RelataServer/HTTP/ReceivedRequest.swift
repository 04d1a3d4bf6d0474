#if Server
import NIOCore
import NIOHTTP1

/// A request that arrived whole.
struct ReceivedRequest: Sendable {
    /// The method, as it was written.
    var method: String
    /// Where to.
    var target: RequestTarget
    var headers: RequestHeaders
    var body: ByteBuffer
    /// The body of a request that is answered while it arrives, in the place of ``body``.
    var pipe: BodyPipe?
    /// Whether the client waits to be asked for it.
    var asksForBody = false
    /// How many bytes the body may have, also after it was decompressed.
    var bodyLimit: Int
    /// What the body takes of the room for all bodies; `nil` for a small one.
    var share: BodyBudget.Share?
    /// Whether the client would like to send another one on the connection.
    var isKeptAlive: Bool
    /// The head of a request for a WebSocket.
    var webSocketHead: HTTPRequestHead?
    /// When its last byte arrived.
    var arrival = NIODeadline.now()

    /// How many bytes of the body have arrived.
    var received: Int { pipe?.received ?? body.readableBytes }
}
#endif
