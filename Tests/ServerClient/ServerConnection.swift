import Foundation

/// A connection to a server on this machine, byte for byte: for tests that send invalid data, and for load. Blocks its
/// thread.
public final class ServerConnection {
    /// The reason a connection failed.
    public enum Failure: Error, Equatable {
        case refused
        /// The server closed the connection before a reply was whole.
        case closed
        case timedOut
        case malformed(String)
    }

    private let socket: Int32
    private var isOpen = true
    /// Received bytes that weren't read yet.
    private var buffer: [UInt8] = []
    private var start = 0

    /// Connects to 127.0.0.1.
    ///
    /// - Parameters:
    ///   - timeout: The number of seconds that each step may take.
    ///   - receiveBuffer: The number of unread bytes that the system buffers; `nil` for its default.
    public init(port: Int, timeout: Double = 10, receiveBuffer: Int32? = nil) throws {
        #if canImport(Glibc)
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard socket >= 0 else { throw Failure.refused }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var time = timeval(tv_sec: Int(timeout), tv_usec: .init((timeout - timeout.rounded(.down)) * 1_000_000))
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(socket, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
        }
        if var receiveBuffer {
            setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var isOn: Int32 = 1
        setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
        let status = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if status != 0 {
            _ = Foundation.close(socket)
            isOpen = false
            throw Failure.refused
        }
    }

    deinit { close() }

    /// Closes the connection.
    public func close() {
        if isOpen { _ = Foundation.close(socket) }
        isOpen = false
    }

    /// Ends the sending side; replies can still be read.
    public func finish() { shutdown(socket, Int32(SHUT_WR)) }

    /// Closes the connection so that the other side sees an error.
    public func reset() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(socket, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Foundation.linger>.size))
        close()
    }

    // MARK: Sending

    public func send(_ text: String) throws { try send(Array(text.utf8)) }

    public func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                Foundation.send(socket, buffer.baseAddress.map { $0 + sent }, buffer.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw errno == EAGAIN ? Failure.timedOut : Failure.closed }
            sent += count
        }
    }

    // MARK: Receiving

    /// The next reply.
    ///
    /// - Parameter isHead: Whether it answers a request for the head only.
    public func receive(isHead: Bool = false) throws -> ServerReplyText {
        var end: Int?
        var searched = start
        while end == nil {
            end = headEnd(from: searched)
            if end == nil {
                searched = max(start, buffer.count - 3)
                try fill()
            }
        }
        guard let end else { throw Failure.closed }
        let head = String(decoding: buffer[start..<end], as: UTF8.self)
        start = end
        var lines = head.split(separator: "\r\n")
        let parts = lines.removeFirst().split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0].hasPrefix("HTTP/1."), let status = Int(parts[1]) else {
            throw Failure.malformed(head)
        }
        var headers: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw Failure.malformed(String(line)) }
            headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        let length = status < 200 || isHead ? 0 : Int(headers["content-length"] ?? "") ?? 0
        return ServerReplyText(status: status, headers: headers, body: try receive(count: length))
    }

    /// The next bytes.
    public func receive(count: Int) throws -> [UInt8] {
        while buffer.count - start < count { try fill() }
        let bytes = Array(buffer[start..<start + count])
        start += count
        if start == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            start = 0
        } else if start > 4 << 20 {
            buffer.removeFirst(start)
            start = 0
        }
        return bytes
    }

    /// Everything until the server closes the connection.
    public func receiveAll() throws -> String {
        do {
            while true { try fill() }
        } catch Failure.closed {
            defer { buffer = [] }
            return String(decoding: buffer[start...], as: UTF8.self)
        }
    }

    /// Whether the server closes the connection, which is waited for.
    public func isClosedByServer() throws -> Bool {
        do {
            try fill()
            return false
        } catch Failure.closed {
            return true
        } catch Failure.timedOut {
            return false
        }
    }

    private func headEnd(from place: Int) -> Int? {
        var place = place
        while place + 3 < buffer.count {
            if buffer[place] == 13, buffer[place + 1] == 10, buffer[place + 2] == 13, buffer[place + 3] == 10 {
                return place + 4
            }
            place += 1
        }
        return nil
    }

    private func fill() throws {
        var bytes = [UInt8](repeating: 0, count: 16384)
        var count = recv(socket, &bytes, bytes.count, 0)
        // This error also occurs if the process was stopped for a moment. The connection is still fine.
        while count < 0, errno == EINTR { count = recv(socket, &bytes, bytes.count, 0) }
        if count < 0 { throw errno == EAGAIN || errno == EWOULDBLOCK ? Failure.timedOut : Failure.closed }
        guard count > 0 else { throw Failure.closed }
        buffer += bytes[..<count]
    }
}

/// A reply as it came.
public struct ServerReplyText: Equatable, Sendable {
    public let status: Int
    /// By names in lower case.
    public let headers: [String: String]
    public let body: [UInt8]

    public var text: String { String(decoding: body, as: UTF8.self) }
}

extension ServerConnection {
    /// Sends a request and waits for its reply.
    public func request(
        _ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8] = []
    ) throws -> ServerReplyText {
        try send(Self.bytes(method, path, headers: headers, body: body))
        return try receive(isHead: method == "HEAD")
    }

    /// The bytes of a request.
    public static func bytes(
        _ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8] = []
    ) -> [UInt8] {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        for (name, value) in headers { head += "\(name): \(value)\r\n" }
        if !body.isEmpty || method == "POST" || method == "PUT" { head += "Content-Length: \(body.count)\r\n" }
        return Array((head + "\r\n").utf8) + body
    }
}
