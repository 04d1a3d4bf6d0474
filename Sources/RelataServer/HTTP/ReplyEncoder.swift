#if Server
import NIOCore
import NIOHTTP1
import RelataCore

/// An encoded reply.
struct EncodedReply: Sendable {
    var bytes: ByteBuffer
    /// Whether another request may follow on the connection.
    let isKeptAlive: Bool
    /// Its share of the memory for all replies until it is written; `nil` for a small one.
    var share: BodyBudget.Share?
    /// The stream after the bytes.
    var stream: ServerReply.Stream?
    /// The id of the request, for the log.
    var id = ""
    /// The protocol that the connection switches to, instead of a reply.
    var upgrade: WebSocketUpgrade?
}

/// Encodes replies. Each is complete when it is sent, so that it takes one write; of a streamed one, the head is.
struct ReplyEncoder: Sendable {
    /// The number of bytes from which on a body is compressed.
    static let compressedSize = 1024

    private let origins: AllowedOrigins
    private let clock = HTTPClock()
    private let allocator = ByteBufferAllocator()

    init(_ origins: AllowedOrigins) { self.origins = origins }

    /// - Parameter headers: Those of the request.
    func encode(
        _ reply: ServerReply, to headers: RequestHeaders, id: String, isHead: Bool, isKeptAlive: Bool
    ) -> EncodedReply {
        let reply = Self.isFinal(reply.status) ? reply : ServerReply(status: 500, contentType: "text/plain", body: [])
        let isCompressible =
            reply.stream == nil && reply.body.count >= Self.compressedSize
            && ContentType.isCompressible(reply.contentType)
        let isCompressed = isCompressible && headers.acceptsGzip
        let compressed = isCompressed ? Gzip.compressed(reply.body) : nil
        // A body that a status doesn't allow would be read as the next reply.
        let isBodiless = [204, 304].contains(reply.status)
        let body = isBodiless ? [] : compressed ?? reply.body
        var buffer = allocator.buffer(capacity: 384 + (isHead ? 0 : body.count))
        buffer.writeStaticString("HTTP/1.1 ")
        buffer.writeString(String(reply.status))
        buffer.writeStaticString(" ")
        buffer.writeString(HTTPResponseStatus(statusCode: reply.status).reasonPhrase)
        buffer.writeStaticString("\r\ncontent-type: ")
        let hasType = Self.isPlain(reply.contentType, besides: " ")
        buffer.writeString(hasType ? reply.contentType : "application/octet-stream")
        if !isBodiless {
            buffer.writeStaticString("\r\ncontent-length: ")
            buffer.writeString(String(reply.stream?.size ?? body.count))
        }
        if !reply.headers.contains(where: { $0.name == "cache-control" }) {
            buffer.writeStaticString("\r\ncache-control: no-store")
        }
        buffer.writeStaticString("\r\ndate: ")
        buffer.writeString(clock.text)
        buffer.writeStaticString("\r\nx-request-id: ")
        buffer.writeString(id)
        buffer.writeStaticString("\r\n")
        buffer.writeString(origins.fields(for: headers.origin))
        if compressed != nil {
            buffer.writeStaticString("content-encoding: gzip\r\n")
        }
        if isCompressible {
            buffer.writeStaticString("vary: accept-encoding\r\n")
        }
        if let location = reply.location, Self.isPlain(location) { buffer.writeField("location", location) }
        for (name, value) in reply.headers where Self.isFree(name) && Self.isPlain(value, besides: " ") {
            buffer.writeField(name, value)
        }
        buffer.writeStaticString(isKeptAlive ? "connection: keep-alive\r\n\r\n" : "connection: close\r\n\r\n")
        var encoded = EncodedReply(bytes: buffer, isKeptAlive: isKeptAlive, id: id)
        if isHead || isBodiless { return encoded }
        if let stream = reply.stream {
            encoded.stream = stream.size > 0 ? stream : nil
        } else {
            encoded.bytes.writeBytes(body)
        }
        return encoded
    }

    /// Whether a request may have just one reply of that status, and that is the last one.
    private static func isFinal(_ status: Int) -> Bool { (200...599).contains(status) }

    /// Whether a text is the name of a header field that this encoder doesn't write itself.
    private static func isFree(_ name: String) -> Bool {
        let isName = name.utf8.allSatisfy { byte in
            (0x61...0x7A).contains(byte | 0x20) || (0x30...0x39).contains(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
        return isName && !name.isEmpty && !ownNames.contains(name.lowercased())
    }

    private static let ownNames: Set = [
        "connection", "content-encoding", "content-length", "content-type", "date", "transfer-encoding", "x-request-id",
    ]

    /// Whether a text can't end the header field that it is in.
    private static func isPlain(_ text: String, besides other: Unicode.Scalar = "!") -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) || $0 == UInt8(ascii: other) }
    }
}

extension ByteBuffer {
    fileprivate mutating func writeField(_ name: String, _ value: String) {
        writeString(name)
        writeStaticString(": ")
        writeString(value)
        writeStaticString("\r\n")
    }
}
#endif
