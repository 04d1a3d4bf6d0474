#if Server
import Foundation
import RelataParse
import ServerClient
import Synchronization
import Testing

@testable import RelataServer

/// A server can serve any protocol: replies and refusals have the protocol's form, not Parse's.
struct ServedProtocolTests {
    private static let text = "text/plain; charset=utf-8"

    /// A protocol with all optional members. Its requests say what to do.
    private final class Plain: ServedProtocol {
        let headerNames = ["X-Sender", "x_odd~name", "accept-encoding"]
        let routes = ["wait", "echo"]
        let maximumReply = 1000
        let maximumThreads = 1
        let isBroken = Atomic(false)
        let closeCount = Atomic(0)

        func respond(to request: ServerRequest, report: @Sendable (any Error) -> Void) async -> ServerReply {
            switch request.path {
            case "/wait":
                try? await Task.sleep(for: .seconds(20))
                return reply("waited")
            case "/large", "/done":
                var large = reply(String(repeating: "x", count: 200_000))
                large.isOfRead = request.path == "/large"
                return large
            case "/fields":
                return ServerReply(
                    contentType: "text/csv",
                    headers: [("etag", "\"a b\""), ("x-bad", "a\r\nx-worse: b"), ("x bad", "a")])
            case "/framing":
                return ServerReply(
                    contentType: "text/html\r\nx-worse: b", body: Array("framed".utf8),
                    headers: [("Content-Length", "5"), ("transfer-encoding", "chunked"), ("", "a"), ("x:y", "a")])
            case "/status": return reply("a body", status: Int(request.query) ?? 0)
            default:
                let fields = request.headers.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
                return reply(([request.method, request.path, request.query] + fields).joined(separator: " "))
            }
        }

        func render(_ refusal: ServerRefusal) -> ServerReply {
            reply("ERR \(refusal.status) \(refusal.reason)", status: refusal.status)
        }

        private func reply(_ line: String, status: Int = 200) -> ServerReply {
            ServerReply(status: status, contentType: text, body: Array(line.utf8))
        }

        func maximumBody(path: String, headers: [String: String]) throws(ServerRefusal) -> Int? {
            guard headers["x-sender"] != "mallory" else {
                throw ServerRefusal(.unauthorized, "go away", status: 401)
            }
            return headers["x-sender"] == nil ? 100 : nil
        }

        func route(of path: Substring) -> String { String(path.dropFirst()) }
        func problem() async -> String? { isBroken.load(ordering: .relaxed) ? "the \"tape\"\nis out/torn" : nil }
        func close() throws { closeCount.add(1, ordering: .relaxed) }
    }

    /// Runs `body` while a server serves the protocol.
    private func serving<Result: Sendable>(
        _ served: any ServedProtocol = Plain(), _ configure: (inout RelataServer.Configuration) -> Void = { _ in },
        _ body: @escaping @Sendable (TestServer) async throws -> Result
    ) async throws -> Result {
        var configuration = RelataServer.Configuration()
        configuration.mount = "/plain"
        configuration.port = 0
        configuration.stopsOnSignals = false
        configure(&configuration)
        return try await TestServer.running(
            try RelataServer(protocol: served, configuration: configuration), body)
    }

    /// The reply to bytes, and whether the server closed the connection after it.
    private static func answer(
        to bytes: String, _ server: TestServer
    ) async throws -> (reply: ServerReplyText, isClosed: Bool) {
        try await blocking {
            let connection = try server.connect()
            try connection.send(bytes)
            return (try connection.receive(), try connection.isClosedByServer())
        }
    }

    @Test func theProtocolOfTheGuideEchoesRequests() async throws {
        let limits: (inout RelataServer.Configuration) -> Void = {
            $0.mount = "/echo"
            $0.limits.bodySize = 1000
        }
        try await serving(Echo(), limits) { server in
            let reply = try await server.request("GET", "/echo/x?y=z")
            #expect(reply.status == 200 && reply.text == "/x")
            #expect(reply.headers["content-type"] == Self.text)
            #expect(reply.headers["cache-control"] == "no-store")
            let large = try await server.request("POST", "/echo/x", body: [UInt8](repeating: 32, count: 2000))
            #expect(large.status == 413 && large.text == "ERR 413 the request is larger than 1000 bytes\n")
            #expect(large.headers["content-type"] == Self.text)
            let text = try await server.request("GET", "/metrics").text
            #expect(text.contains(#"relata_requests_total{method="GET",route="other",status="2xx"} 1"#))
            #expect(!text.contains("objects"))
        }
    }

    @Test func theProtocolReadsTheHeaderFieldsThatItNames() async throws {
        try await serving { server in
            let reply = try await server.request(
                "GET", "/plain/a%20b?c=d",
                headers: ["X-SENDER": "ann", "X_Odd~Name": "odd", "X_Odd^Name": "even", "X-Parse-Master-Key": "key"])
            #expect(reply.text == "GET /a%20b c=d x-sender=ann x_odd~name=odd")
            // The server also uses its own fields if the protocol reads them.
            let packed = try await server.request("GET", "/plain/large", headers: ["Accept-Encoding": "gzip"])
            #expect(packed.headers["content-encoding"] == "gzip")
            let head = try await server.request("HEAD", "/plain/a")
            #expect(head.status == 200 && head.headers["content-length"] == "7")
        }
    }

    @Test func headerFieldsOfRepliesAreSentUnlessTheyAreInvalid() async throws {
        try await serving { server in
            let reply = try await server.request("GET", "/plain/fields")
            #expect(reply.headers["content-type"] == "text/csv")
            #expect(reply.headers["etag"] == "\"a b\"")
            #expect(reply.headers["x-bad"] == nil && reply.headers["x-worse"] == nil && reply.headers["x bad"] == nil)
        }
    }

    @Test func aProtocolCannotBreakTheConnection() async throws {
        try await serving { server in
            try await blocking {
                let connection = try server.connect()
                let framed = try connection.request("GET", "/plain/framing")
                #expect(framed.text == "framed" && framed.headers["content-length"] == "6")
                #expect(framed.headers["content-type"] == "application/octet-stream")
                #expect(framed.headers["x-worse"] == nil && framed.headers["transfer-encoding"] == nil)
                for status in [204, 304] {
                    let reply = try connection.request("GET", "/plain/status?\(status)")
                    #expect(reply.status == status && reply.body.isEmpty && reply.headers["content-length"] == nil)
                }
                for status in [100, 199, 600, -1] {
                    let reply = try connection.request("GET", "/plain/status?\(status)")
                    #expect(reply.status == 500 && reply.body.isEmpty)
                }
                #expect(try connection.request("GET", "/plain/a").text.hasPrefix("GET /a"))
            }
        }
    }

    @Test func browsersGetTheFieldsThatTheProtocolReads() async throws {
        try await serving { server in
            let reply = try await server.request("OPTIONS", "/plain/a")
            #expect(reply.status == 200 && reply.body.isEmpty)
            #expect(reply.headers["access-control-allow-origin"] == "*")
            #expect(reply.headers["access-control-allow-headers"]?.hasPrefix("X-Sender, ") == true)
            #expect(reply.headers["access-control-allow-headers"]?.contains("Parse") == false)
        }
    }

    @Test(arguments: [
        ("FOO / HTTP/1.1\r\nHost: x\r\n\r\n", "ERR 501 unknownMethod"),
        ("CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n", "ERR 405 unknownMethod"),
        ("GET / HTTP/9.9\r\nHost: x\r\n\r\n", "ERR 505 unknownVersion"),
        ("GET nonsense HTTP/1.1\r\nHost: x\r\n\r\n", "ERR 400 malformed"),
        ("GET /plain/a HTTP/1.1\r\n\r\n", "ERR 400 malformed"),
        ("GET /plain/\(String(repeating: "a", count: 1500)) HTTP/1.1\r\nHost: x\r\n\r\n", "ERR 414 addressTooLong"),
        (
            "GET /plain/a HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 2000))\r\n\r\n",
            "ERR 431 headersTooLarge"
        ),
        (
            "POST /plain/a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
            "ERR 501 unknownCoding"
        ),
        (
            "POST /plain/a HTTP/1.1\r\nHost: x\r\nX-Sender: mallory\r\nContent-Length: 5\r\n\r\n",
            "ERR 401 unauthorized"
        ),
        ("POST /plain/a HTTP/1.1\r\nHost: x\r\nContent-Length: 101\r\n\r\n", "ERR 413 bodyNotAdmitted"),
        (
            "POST /plain/a HTTP/1.1\r\nHost: x\r\nX-Sender: ann\r\nContent-Length: 1001\r\n\r\n",
            "ERR 413 bodyTooLarge"
        ),
    ])
    func refusalsHaveTheFormOfTheProtocol(_ bytes: String, _ line: String) async throws {
        let limits: (inout RelataServer.Configuration) -> Void = {
            $0.limits.bodySize = 1000
            $0.limits.headerSize = 1000
            $0.limits.requestLineSize = 1000
        }
        try await serving(Plain(), limits) { server in
            let (reply, isClosed) = try await Self.answer(to: bytes, server)
            #expect(reply.text == line)
            #expect(reply.headers["content-type"] == Self.text)
            #expect(isClosed)
        }
    }

    @Test func timeoutsHaveTheFormOfTheProtocol() async throws {
        let limits: (inout RelataServer.Configuration) -> Void = {
            $0.limits.requestTime = .milliseconds(100)
            $0.limits.transferTime = .seconds(2)
        }
        try await serving(Plain(), limits) { server in
            let slow = try await server.request("GET", "/plain/wait")
            #expect(slow.text == "ERR 503 timedOut" && slow.headers["content-type"] == Self.text)
            #expect(slow.headers["retry-after"] == "1")
            let (late, isClosed) = try await Self.answer(
                to: "POST /plain/a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n", server)
            #expect(late.text == "ERR 408 timedOut" && late.headers["content-type"] == Self.text)
            #expect(isClosed)
        }
    }

    @Test func laterRefusalsHaveTheFormOfTheProtocol() async throws {
        try await serving(Plain(), { $0.limits.totalBodySize = $0.limits.bodySize }) { server in
            let body = [UInt8](repeating: 32, count: 5)
            for (coding, line) in [("br", "ERR 415 unknownCoding"), ("gzip", "ERR 400 damagedBody")] {
                let reply = try await server.request(
                    "POST", "/plain/a", headers: ["Content-Encoding": coding], body: body)
                #expect(reply.text == line && reply.headers["content-type"] == Self.text)
            }
            let nothing = try await server.request("GET", "/elsewhere")
            #expect(nothing.text == "ERR 404 notFound" && nothing.headers["content-type"] == Self.text)
        }
    }

    @Test func aReplyWithoutMemoryIsRefusedInTheFormOfTheProtocol() async throws {
        let limits: (inout RelataServer.Configuration) -> Void = {
            $0.limits.bodySize = 1000
            $0.limits.totalBodySize = 1000
        }
        // The protocol declares a small limit for its replies.
        try await serving(Plain(), limits) { server in
            let read = try await server.request("GET", "/plain/large")
            #expect(read.text == "ERR 503 noRoom" && read.headers["retry-after"] == "1")
            let done = try await server.request("POST", "/plain/done")
            #expect(done.text == "ERR 400 noRoom" && done.headers["retry-after"] == nil)
        }
    }

    @Test func theKindsOfRequestsOfAProtocolAreCountedSeparately() async throws {
        try await serving { server in
            for path in ["echo", "echo", "server", "made-up"] { _ = try await server.request("GET", "/plain/\(path)") }
            _ = try await server.request("GET", "/plain")
            _ = try await server.request("GET", "/livez")
            let text = try await server.request("GET", "/metrics").text
            for (route, count) in [("echo", 2), ("other", 3), ("server", 1)] {
                #expect(
                    text.contains("relata_requests_total{method=\"GET\",route=\"\(route)\",status=\"2xx\"} \(count)\n"),
                    "\(route)")
            }
            #expect(!text.contains("made-up"))
        }
    }

    @Test func theServersPagesReportTheStateOfTheProtocol() async throws {
        let served = Plain()
        try await serving(served) { server in
            #expect(try await server.request("GET", "/readyz").text == #"{"status":"ok"}"#)
            served.isBroken.store(true, ordering: .relaxed)
            let broken = try await server.request("GET", "/readyz")
            #expect(broken.status == 503)
            #expect(broken.text == #"{"status":"error","reason":"the \"tape\"\nis out/torn"}"#)
            #expect(try await server.request("GET", "/livez").status == 200)
            #expect(served.closeCount.load(ordering: .relaxed) == 0)
        }
        #expect(served.closeCount.load(ordering: .relaxed) == 1)
    }
}
#endif
