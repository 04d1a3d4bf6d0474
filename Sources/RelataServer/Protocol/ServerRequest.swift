#if Server
import RelataCore

/// A request as a ``ServedProtocol`` gets it.
public struct ServerRequest: Sendable {
    /// The HTTP method as it was written; `GET` for `HEAD`, whose reply is sent without its body.
    public var method: String
    /// The path below the mount, still percent-encoded: `/classes/Book/x7Yz`.
    public var path: String
    /// The query part of the URL, still percent-encoded; empty for none.
    public var query: String
    /// The header fields that the protocol reads, by their names in lower case. Different values of a repeated field
    /// are joined by commas.
    public var headers: [String: String]
    /// The body, decompressed.
    public var body: [UInt8]
    /// The body as it arrives, instead of ``body``, if ``ServedProtocol/maximumStream(method:path:headers:)`` returns a
    /// limit. It isn't decompressed. A reply before its end is the last on its connection.
    public var stream: ByteStream?
    /// The address of the client, or of a proxy that isn't one of ``RelataServer/Configuration/trustedProxies``; `nil`
    /// if it isn't known.
    public internal(set) var peer: String?

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

/// The reply to a request.
public struct ServerReply: Sendable {
    /// The HTTP status.
    public var status: Int
    /// The content type of the body: `text/plain; charset=utf-8`.
    public var contentType: String
    /// The body; the server compresses it for clients that accept that.
    public var body: [UInt8]
    /// A body that is streamed without compression, instead of ``body``.
    public var stream: Stream?
    /// The address of a new object, for the `Location` header.
    public var location: String?
    /// Header fields besides those that the server writes. Those whose names or values aren't plain ASCII are dropped.
    public var headers: [(name: String, value: String)]
    /// Whether the request only read, so that it can be repeated if the reply is lost.
    public var isOfRead = false
    /// The client's comment on its request, for the log.
    public var comment: String?

    /// Creates a reply.
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

    /// A body that is read piece by piece, with only one piece in memory.
    public struct Stream: Sendable {
        /// The number of bytes it has.
        public let size: Int
        /// The bytes. If there are fewer than announced, the connection is closed.
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
