import RelataCore

/// A request as it was received, by any transport.
public struct WireRequest: Sendable {
    /// The HTTP method, in capitals.
    public var method: String
    /// The path below the mount, still percent-encoded: `/classes/Book/x7Yz`.
    public var path: String
    /// The query part of the URL, still percent-encoded; empty for none.
    public var query: String
    /// Header fields by their names in lower case.
    public var headers: [String: String]
    /// The body as it came.
    public var body: [UInt8]
    /// The body of an upload as it arrives, in the place of ``body``.
    public var stream: ByteStream?
    /// The address of the client, or of a proxy; `nil` if it isn't known.
    public var address: String?

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

extension String {
    /// A path or URL up to its parameters, which hold values: for logs.
    package var withoutParameters: String {
        // Compares bytes: a question mark that forms one character with the next code points begins parameters, too.
        utf8.firstIndex(of: UInt8(ascii: "?")).map { String(self[..<$0]) } ?? self
    }
}

/// The reply: JSON, or a file.
public struct WireReply: Hashable, Sendable {
    /// The HTTP status.
    public var status: Int
    /// The body, as JSON.
    public var body: [UInt8]
    /// The address of a new object, for the `Location` header.
    public var location: String?
    /// The client's comment on its query, for the log.
    public var comment: String?
    /// Additional header fields, by their names in lower case.
    public var headers: [String: String] = [:]
    /// The file that is sent in the place of ``body``.
    public var file: FileReply?
    /// Whether the request only read, so that it can be repeated if the reply is lost.
    public var isOfRead = false
    /// The audit's record of the request; `nil` if it isn't recorded.
    package var audited: AuditedCall?
    /// The part of the body that is stored for a repeated request; `nil` for all of it.
    var kept: [UInt8]?
    /// Whether it is the stored reply of an earlier request.
    var isRepeated = false

    /// Creates a reply.
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
