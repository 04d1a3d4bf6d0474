import RelataCore

/// A request as it came over the wire, whatever carried it.
public struct WireRequest: Sendable {
    /// The HTTP method, in capitals.
    public var method: String
    /// The path below the mount, still percent-encoded: `/classes/Book/x7Yz`.
    public var path: String
    /// What follows the question mark, still percent-encoded; empty where there is none.
    public var query: String
    /// Header fields by their names in lower case.
    public var headers: [String: String]
    /// The body as it came.
    public var body: [UInt8]
    /// The body of an upload as it arrives, in the place of ``body``.
    public var stream: ByteStream?

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

/// What is sent back: JSON, or a file.
public struct WireReply: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The body, as JSON.
    public var body: [UInt8]
    /// Where a new object is to be found, for the `Location` header.
    public var location: String?
    /// What the client says of its query, for the log.
    public var comment: String?
    /// Header fields besides, by their names in lower case.
    public var headers: [String: String] = [:]
    /// The file that is sent in the place of ``body``.
    public var file: FileReply?
    /// Whether the request only asked for something, so that it may be sent again if this is lost.
    public var isOfRead = false
    /// What is kept of the body for a request that is sent again; `nil` for all of it.
    var kept: [UInt8]?
    /// Whether it was kept, as the reply of the same request before.
    var isRepeated = false

    /// A reply.
    public init(status: Int = 200, body: [UInt8], location: String? = nil) {
        self.status = status
        self.body = body
        self.location = location
    }

    /// A reply with a JSON value.
    public init(status: Int = 200, _ value: JSONValue, location: String? = nil) {
        var writer = JSONWriter()
        writer.write(value)
        self.init(status: status, body: writer.bytes, location: location)
    }

    /// The reply of an error: `{"code": 101, "error": "Object not found."}`.
    public init(_ error: ParseError) {
        self.init(
            status: error.status,
            .object(["code": .integer(Int64(error.code.rawValue)), "error": .string(error.message)]))
    }
}
