#if Server
import BenchmarkReport
import Foundation

/// A connection to a server on this machine.
final class ServerConnection {
    let descriptor: Int32
    private var received: [UInt8] = []
    private var buffer: [UInt8]

    /// - Parameter bufferSize: The number of bytes received at once.
    init(port: Int, bufferSize: Int = 65_536) throws {
        buffer = [UInt8](repeating: 0, count: bufferSize)
        #if os(Linux)
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr = in_addr(s_addr: inet_addr("127.0.0.1"))
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard descriptor >= 0, code == 0 else { throw Failure("the server on port \(port) can't be reached") }
        // A request must be sent at once, without waiting for the acknowledgement of the last one.
        var isOn: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    /// Sends a request and waits for its reply.
    ///
    /// - Returns: The reply's body.
    func answer(_ call: HTTPCall, _ number: Int = 0) throws -> [UInt8] {
        try send(call.bytes(number))
        while true {
            if let reply = try receive() { return reply }
        }
    }

    /// Sends the bytes of a request.
    func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw Failure("the server closed the connection") }
            rest = rest.dropFirst(count)
        }
    }

    /// Takes the bytes that have arrived, or waits for some.
    ///
    /// - Returns: The body of a complete reply; `nil` if it isn't complete yet.
    /// - Throws: For a reply that refuses the request.
    func receive() throws -> [UInt8]? {
        received += try arrived()
        guard let end = Self.endOfHead(received) else { return nil }
        let length = try Self.length(received[..<end])
        guard received.count >= end + length else { return nil }
        defer { received.removeAll(keepingCapacity: true) }
        guard received[9] == UInt8(ascii: "2") else {
            throw Failure("refused: \(String(decoding: received.prefix(1000), as: UTF8.self))")
        }
        return Array(received[end..<end + length])
    }

    /// Takes some of the bytes that have arrived, or waits for some.
    func arrived() throws -> ArraySlice<UInt8> {
        let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else {
            throw Failure(count < 0 && errno == EAGAIN ? "the server is silent" : "the server closed the connection")
        }
        return buffer[..<count]
    }

    /// The end of a head; `nil` if it isn't complete yet.
    static func endOfHead(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 16 else { return nil }
        for end in 4...bytes.count
        where bytes[end - 1] == 0x0A && bytes[end - 2] == 0x0D && bytes[end - 3] == 0x0A && bytes[end - 4] == 0x0D {
            return end
        }
        return nil
    }

    private static let lengthField = Array("\r\ncontent-length:".utf8)

    /// The length of the body, by the head.
    static func length(_ head: ArraySlice<UInt8>) throws -> Int {
        let field = lengthField
        for start in 0..<max(0, head.count - field.count)
        where head[start] == 0x0D && field.indices.allSatisfy({ head[start + $0] | 0x20 == field[$0] | 0x20 }) {
            var length = 0
            for byte in head[(start + field.count)...] where byte != 0x20 {
                guard byte >= 0x30, byte <= 0x39 else { break }
                length = length * 10 + Int(byte - 0x30)
            }
            return length
        }
        throw Failure("a reply without a length: \(String(decoding: head, as: UTF8.self))")
    }
}
#endif
