#if Server
import RelataCore
import ServerClient
import Synchronization
import Testing

@testable import RelataServer

/// Replies whose source fails after their beginning was sent.
struct BrokenReplyTests {
    private struct Away: Error, CustomStringConvertible {
        let description = "the store is away"
    }

    /// Announces 300 bytes, and sends 100.
    private struct Source: ServedProtocol {
        func respond(to request: ServerRequest, report: @Sendable (any Error) -> Void) async -> ServerReply {
            let path = request.path
            let calls = Atomic(0)
            var reply = ServerReply(contentType: "text/plain")
            reply.stream = ServerReply.Stream(
                size: 300,
                bytes: ByteStream {
                    guard calls.add(1, ordering: .relaxed).oldValue == 0 else {
                        switch path {
                        case "/fails": throw Away()
                        case "/hangs": try await Task.sleep(for: .seconds(60))
                        case "/long": return [UInt8](repeating: 120, count: 201)
                        default: break
                        }
                        return nil
                    }
                    return [UInt8](repeating: 120, count: 100)
                })
            return reply
        }

        func render(_ refusal: ServerRefusal) -> ServerReply {
            ServerReply(status: refusal.status, contentType: "text/plain")
        }
    }

    @Test(arguments: [
        ("fails", "the store is away"), ("short", "fewer bytes than announced"), ("long", "more bytes than announced"),
        ("hangs", "took longer than 0.3 seconds"),
    ])
    func theLogSaysWhyAReplyBreaksOff(path: String, reason: String) async throws {
        let log = LogRecorder()
        var configuration = RelataServer.Configuration()
        configuration.mount = "/source"
        configuration.port = 0
        configuration.stopsOnSignals = false
        configuration.limits.transferTime = .milliseconds(300)
        let server = try RelataServer(protocol: Source(), configuration: configuration, logger: log.logger(.error))
        try await TestServer.running(server) { server in
            let text = try await blocking {
                let connection = try server.connect()
                try connection.send(
                    ServerConnection.bytes("GET", "/source/\(path)", headers: ["X-Request-Id": "abc"]))
                return try connection.receiveAll()
            }
            let body = text.split(separator: "\r\n\r\n").last ?? ""
            #expect(text.contains("content-length: 300") && body == String(repeating: "x", count: 100), "\(text)")
        }
        #expect(log.lines.count == 1, "\(log.lines)")
        let line = try #require(log.lines.first)
        #expect(line.hasPrefix("error a request failed") && line.contains("request=abc"), "\(line)")
        #expect(line.contains("broke off 200 bytes before its end") && line.contains(reason), "\(line)")
    }
}
#endif
