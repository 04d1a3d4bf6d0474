#if Server
import BenchmarkReport
import Foundation

/// A client of a WebSocket. Messages wait in the socket's buffer until they are read: the last client has its message once
/// all clients were read, one after another.
final class WebSocketClient {
    private let connection: ServerConnection
    private var received: [UInt8] = []

    /// Connects to a server on this machine.
    init(port: Int, path: String = "/parse") throws {
        // There may be many clients, so each has a small buffer.
        connection = try ServerConnection(port: port, bufferSize: 2048)
        var patience = timeval(tv_sec: 60, tv_usec: 0)
        setsockopt(
            connection.descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        let key = Data("relata benchmark".utf8).base64EncodedString()
        let lines = [
            "GET \(path) HTTP/1.1", "Host: 127.0.0.1", "Connection: Upgrade", "Upgrade: websocket",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: \(key)",
        ]
        try connection.send(Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8))
        while true {
            received += try connection.arrived()
            guard let end = ServerConnection.endOfHead(received) else { continue }
            guard received.starts(with: "HTTP/1.1 101".utf8) else {
                throw Failure("no WebSocket: \(String(decoding: received.prefix(1000), as: UTF8.self))")
            }
            received.removeFirst(end)
            return
        }
    }

    /// Sends a text.
    func send(_ text: String) throws { try send(opcode: 1, Array(text.utf8)) }

    private func send(opcode: UInt8, _ payload: [UInt8]) throws {
        var frame = [0x80 | opcode]
        if payload.count < 126 {
            frame.append(0x80 | UInt8(payload.count))
        } else {
            frame += [0x80 | 126, UInt8(payload.count >> 8 & 0xFF), UInt8(payload.count & 0xFF)]
        }
        // The mask consists of zeros, so the text stays as it is.
        try connection.send(frame + [0, 0, 0, 0] + payload)
    }

    /// The next text, as soon as it arrives.
    func next() throws -> [UInt8] {
        while true {
            while let (opcode, payload) = takeFrame() {
                switch opcode {
                case 1: return payload
                case 9: try send(opcode: 10, payload)
                default: throw Failure("the server ended the WebSocket")
                }
            }
            received += try connection.arrived()
        }
    }

    /// The first frame, if it is complete.
    private func takeFrame() -> (opcode: UInt8, payload: [UInt8])? {
        guard received.count >= 2 else { return nil }
        var (length, start) = (Int(received[1]), 2)
        if length >= 126 {
            start += length == 126 ? 2 : 8
            guard received.count >= start else { return nil }
            length = received[2..<start].reduce(0) { $0 << 8 | Int($1) }
        }
        guard received.count >= start + length else { return nil }
        defer { received.removeFirst(start + length) }
        return (received[0] & 0x0F, Array(received[start..<start + length]))
    }
}
#endif
