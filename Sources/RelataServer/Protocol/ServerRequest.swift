#if Server
import NIOCore
import RelataCore

/// A request as a ``ServedProtocol`` gets it.
public struct ServerRequest: Sendable {
    /// The HTTP method as it was written; `GET` for `HEAD`, whose reply is sent without its body.
    public var method: String
    /// The path below the mount, still percent-encoded: `/classes/Book/x7Yz`.
    public var path: String
    /// What follows the question mark, still percent-encoded; empty where there is none.
    public var query: String
    /// The header fields that the protocol asked for, by their names in lower case. Where a field stands several times with
    /// different values, they follow each other with commas between.
    public var headers: [String: String]
    /// The body, decompressed.
    public var body: [UInt8]
    /// The body as it arrives, in the place of ``body``, where ``ServedProtocol/maximumStream(method:path:headers:)`` says so.
    /// It isn't decompressed. A reply before its end is the last on its connection.
    public var stream: ByteStream?
    var address: SocketAddress?

    /// The address of whoever sent it, or of a proxy; `nil` where that isn't known.
    public var peer: String? { address?.ipAddress }

    /// A request.
    public init(
        method: String, path: String, query: String = "", headers: [String: String] = [:], body: [UInt8] = []
    ) {
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }
}

/// What is sent back.
public struct ServerReply: Sendable {
    /// The HTTP status.
    public var status: Int
    /// What the body is: `text/plain; charset=utf-8`.
    public var contentType: String
    /// The body; the server compresses it for clients that take it so.
    public var body: [UInt8]
    /// A body that is sent as it is, one piece after another, in the place of ``body``.
    public var stream: Stream?
    /// Where a new object is to be found, for the `Location` header.
    public var location: String?
    /// Header fields besides those that the server writes. Those whose names or values aren't plain ASCII aren't sent.
    public var headers: [(name: String, value: String)]
    /// Whether the request only asked for something, so that it may be sent again if this is lost.
    public var isOfRead = false
    /// What the client says of its request, for the log.
    public var comment: String?

    /// A reply.
    public init(
        status: Int = 200, contentType: String, body: [UInt8] = [], location: String? = nil,
        headers: [(name: String, value: String)] = []
    ) {
        self.status = status
        self.contentType = contentType
        self.body = body
        self.location = location
        self.headers = headers
    }

    /// A body of which a piece at a time is in memory.
    public struct Stream: Sendable {
        /// How many bytes it has.
        public let size: Int
        /// The bytes. If there are fewer, the connection is closed.
        public let bytes: ByteStream

        /// A body.
        public init(size: Int, bytes: ByteStream) {
            self.size = size
            self.bytes = bytes
        }
    }

    static let json = "application/json; charset=utf-8"
}
#endif
