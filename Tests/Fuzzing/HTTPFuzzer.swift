// Fuzzes the bytes that arrive on a connection of the server: every request gets a reply, and the connection ends.
// `Tests/Fuzzing/run` compiles this file with those of RelataServer as one module, under libFuzzer.
#if Server
import Foundation
import Logging
import NIOCore
import NIOPosix
import RelataCore

/// Repeats the request, with paths that take bodies in different ways.
private struct Echo: ServedProtocol {
    let headerNames = ["range", "x-key"]

    func maximumBody(path: String, headers: [String: String]) throws(ServerRefusal) -> Int? {
        if headers["x-key"] == "none" { throw ServerRefusal(.unauthorized, "no", status: 403) }
        return path.hasPrefix("/small") ? 4 : nil
    }

    func maximumStream(method: String, path: String, headers: [String: String]) throws(ServerRefusal) -> Int? {
        path.hasPrefix("/stream") ? 16 : nil
    }

    func respond(to request: ServerRequest, report: @Sendable (any Error) -> Void) async -> ServerReply {
        var body = request.body
        if let stream = request.stream, !request.path.hasSuffix("/early") {
            do {
                while let piece = try await stream.next() { body += piece }
                precondition(body.count <= 16, "\(body.count) bytes were let through")
            } catch {
                // The client sent less than it announced.
            }
        }
        precondition(!request.path.hasPrefix("/small") || body.count <= 4, "\(body.count) bytes were let through")
        return ServerReply(contentType: "text/plain", body: Array("\(request.method) \(request.path) ".utf8) + body)
    }

    func render(_ refusal: ServerRefusal) -> ServerReply {
        ServerReply(status: refusal.status, contentType: "text/plain", body: Array(refusal.message.utf8))
    }
}

private let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)
private let logger = {
    var logger = Logger(label: "fuzzing")
    logger.logLevel = .critical
    return logger
}()
/// Limits that short inputs reach.
private let configuration = {
    var configuration = RelataServer.Configuration()
    configuration.mount = "/"
    configuration.limits.bodySize = 64
    configuration.limits.requestLineSize = 48
    configuration.limits.headerSize = 96
    configuration.limits.headerCount = 6
    return configuration
}()
private let responder = RequestResponder(Echo(), configuration, metrics: PrometheusMetrics(), logger: logger)
private let connection = ConnectionChannel(responder: responder, limits: configuration.limits)

/// One input: its first byte determines the pieces in which the others arrive.
@_cdecl("LLVMFuzzerTestOneInput") public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let start, count > 1 else { return 0 }
    let bytes = UnsafeBufferPointer(start: start + 1, count: count - 1)
    let size = [Int.max, 1, 2, 3, 7, 16, 33, 64][Int(start.pointee & 7)]
    let reply = exchange(bytes, inPiecesOf: size)
    precondition(reply.isEmpty || reply.starts(with: Array("HTTP/1.1 ".utf8)), String(decoding: reply, as: UTF8.self))
    precondition(!reply.starts(with: Array("HTTP/1.1 500".utf8)), String(decoding: reply, as: UTF8.self))
    return 0
}

/// Sends bytes over a connection of their own, and returns all that comes back before its end.
private func exchange(_ bytes: UnsafeBufferPointer<UInt8>, inPiecesOf size: Int) -> [UInt8] {
    var ends: [CInt] = [0, 0]
    let isOpen = socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0, &ends) == 0
    precondition(isOpen, "no sockets: \(errno)")
    defer { close(ends[0]) }
    let opened = ClientBootstrap(group: loops)
        .channelOption(.allowRemoteHalfClosure, value: true)
        .channelInitializer { channel in connection.setup(channel: channel, logger: logger).map { _ in } }
        .withConnectedSocket(ends[1])
    guard let channel = try? opened.wait() else { return [] }
    var place = 0
    while place < bytes.count {
        let count = min(size, bytes.count - place)
        let sent = send(ends[0], bytes.baseAddress! + place, count, CInt(MSG_NOSIGNAL))
        // The server closed the connection.
        if sent <= 0 { break }
        place += sent
        // It reads this piece before the next is sent.
        if place < bytes.count { try? channel.eventLoop.submit {}.wait() }
    }
    shutdown(ends[0], CInt(SHUT_WR))
    var (reply, part) = ([UInt8](), [UInt8](repeating: 0, count: 4096))
    while case let received = recv(ends[0], &part, part.count, 0), received > 0 { reply += part[..<received] }
    try? channel.closeFuture.wait()
    return reply
}
#endif
