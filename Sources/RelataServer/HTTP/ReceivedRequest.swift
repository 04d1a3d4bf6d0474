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
}
#endif
