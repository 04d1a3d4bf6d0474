#if Server
import NIOCore

/// A request that arrived whole.
struct ServerRequest: Sendable {
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
    /// When its last byte arrived.
    var arrival = NIODeadline.now()
}

/// What is sent back.
struct ServerReply: Sendable {
    var status: Int
    var contentType = json
    var body: [UInt8]
    /// Where a new object is to be found.
    var location: String?
    /// Whether the request changed nothing, so that it may be sent again.
    var isOfRead = true
    /// What the client said of its query, for the log.
    var comment: String?
    /// Header fields that only some replies have, ready to be written.
    var fields = ""

    static let json = "application/json; charset=utf-8"
}
#endif
