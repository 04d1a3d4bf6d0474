#if Server
import ServerClient
import Testing

@testable import RelataServer

/// A frame from a server.
struct Frame: Equatable {
    enum Kind: UInt8 { case continuation, text, binary, close = 8, ping, pong }

    let kind: Kind?
    let bytes: [UInt8]

    init(_ kind: Kind?, _ bytes: [UInt8]) { (self.kind, self.bytes) = (kind, bytes) }

    /// The code of a close frame.
    var code: Int? { kind == .close && bytes.count >= 2 ? Int(bytes[0]) << 8 | Int(bytes[1]) : nil }
}

extension TestServer {
    /// An open WebSocket.
    func socket(_ path: String = "/socket") throws -> ServerConnection {
        let connection = try connect(timeout: 20)
        #expect(try connection.upgrade(path).status == 101)
        return connection
    }
}

extension ServerConnection {
    static func upgrade(_ path: String = "/socket", headers: [String: String] = [:]) -> [UInt8] {
        let usual = [
            "Upgrade": "websocket", "Connection": "keep-alive, Upgrade", "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "X-Key": "right",
        ]
        return bytes("GET", path, headers: usual.merging(headers) { $1 })
    }

    func upgrade(_ path: String = "/socket", headers: [String: String] = [:]) throws -> ServerReplyText {
        try send(Self.upgrade(path, headers: headers))
        return try receive()
    }

    static func frame(_ kind: Frame.Kind, _ bytes: [UInt8], isLast: Bool = true) -> [UInt8] {
        let mask: [UInt8] = [7, 77, 177, 217]
        let length =
            bytes.count < 126 ? [UInt8(bytes.count)] : [126, UInt8(bytes.count >> 8), UInt8(bytes.count & 255)]
        return [kind.rawValue | (isLast ? 0x80 : 0), length[0] | 0x80] + length.dropFirst() + mask
            + bytes.enumerated().map { $1 ^ mask[$0 % 4] }
    }

    func send(frame kind: Frame.Kind, _ bytes: [UInt8], isLast: Bool = true) throws {
        try send(Self.frame(kind, bytes, isLast: isLast))
    }

    /// The next frame, of at most 65,535 bytes.
    func receiveFrame() throws -> Frame {
        let head = try receive(count: 2)
        #expect(head[1] < 127)
        var count = Int(head[1])
        if count == 126 {
            let length = try receive(count: 2)
            count = Int(length[0]) << 8 | Int(length[1])
        }
        return Frame(Frame.Kind(rawValue: head[0] & 15), try receive(count: count))
    }
}
#endif
