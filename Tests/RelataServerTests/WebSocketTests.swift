#if Server
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import RelataServer
@testable import ServerClient

/// A request can turn its connection into a WebSocket if the protocol allows it.
struct WebSocketTests {
    /// Repeats the messages of clients with the key.
    private final class Echo: ServedProtocol {
        let headerNames = ["x-key"]
        let endCount = Atomic(0)

        func webSocket(for request: ServerRequest) async throws(ServerRefusal) -> WebSocketSession? {
            guard request.path.hasPrefix("/socket") else { return nil }
            guard request.headers["x-key"] == "right" else {
                throw ServerRefusal(.unauthorized, "wrong key", status: 401)
            }
            return { [self] socket in
                defer { endCount.add(1, ordering: .relaxed) }
                for await message in socket.messages {
                    switch message {
                    case .text("enough"): return
                    case .text("fail"): throw CancellationError()
                    case .text("busy"): try await Task.sleep(for: .seconds(7))
                    case .text("flood"):
                        while true { try await socket.send(.binary([UInt8](repeating: 0, count: 10_000))) }
                    default: try await socket.send(message)
                    }
                }
            }
        }

        func respond(to request: ServerRequest, report: @Sendable (any Error) -> Void) async -> ServerReply {
            ServerReply(contentType: "text/plain", body: Array("no socket".utf8))
        }

        func render(_ refusal: ServerRefusal) -> ServerReply {
            ServerReply(status: refusal.status, contentType: "text/plain", body: Array(refusal.message.utf8))
        }
    }

    private func serving<Result: Sendable>(
        _ served: Echo = Echo(), _ configure: (inout RelataServer.Configuration) -> Void = { _ in },
        _ body: @escaping @Sendable (TestServer) async throws -> Result
    ) async throws -> Result {
        var configuration = RelataServer.Configuration()
        configuration.mount = "/"
        configuration.port = 0
        configuration.stopsOnSignals = false
        configure(&configuration)
        return try await TestServer.running(try RelataServer(protocol: served, configuration: configuration), body)
    }

    /// Does the same with a WebSocket, on a thread that may block.
    private func talking<Result: Sendable>(
        _ configure: (inout RelataServer.Configuration) -> Void = { _ in },
        _ body: @escaping @Sendable (ServerConnection) throws -> Result
    ) async throws -> Result {
        try await serving(Echo(), configure) { server in try await blocking { try body(server.socket()) } }
    }

    // MARK: Opening

    @Test func messagesAreAnsweredInOrder() async throws {
        try await talking { socket in
            try socket.send(frame: .text, Array("Grüße".utf8))
            try socket.send(frame: .binary, [0, 255, 1])
            try socket.send(frame: .text, [])
            #expect(try socket.receiveFrame() == Frame(.text, Array("Grüße".utf8)))
            #expect(try socket.receiveFrame() == Frame(.binary, [0, 255, 1]))
            #expect(try socket.receiveFrame() == Frame(.text, []))
        }
    }

    @Test func theReplyProvesThatTheServerReadTheKey() async throws {
        try await serving { server in
            let reply = try await blocking { try server.connect().upgrade() }
            #expect(reply.status == 101)
            #expect(reply.headers["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
            #expect(reply.headers["upgrade"] == "websocket" && reply.headers["connection"] == "upgrade")
            #expect(reply.headers["x-request-id"] != nil)
        }
    }

    @Test func aMessageDirectlyAfterTheRequestIsRead() async throws {
        try await serving { server in
            try await blocking {
                let socket = try server.connect()
                let early = ServerConnection.frame(.text, Array("early".utf8))
                // An earlier request is answered first.
                let first = ServerConnection.bytes("GET", "/other")
                try socket.send(first + ServerConnection.upgrade() + early)
                #expect(try socket.receive().text == "no socket")
                #expect(try socket.receive().status == 101)
                #expect(try socket.receiveFrame() == Frame(.text, Array("early".utf8)))
            }
        }
    }

    @Test func theProtocolDecidesWhoMayOpenASocketAndWhere() async throws {
        try await serving { server in
            let (stranger, elsewhere) = try await blocking {
                (
                    try server.connect().upgrade(headers: ["X-Key": "wrong", "Sec-WebSocket-Version": "8"]),
                    try server.connect().upgrade("/other")
                )
            }
            #expect(stranger.status == 401 && stranger.text == "wrong key")
            #expect(elsewhere.status == 200 && elsewhere.text == "no socket")
        }
    }

    @Test func otherVersionsAndInvalidKeysAreRefused() async throws {
        try await serving { server in
            try await blocking {
                let version = try server.connect().upgrade(headers: ["Sec-WebSocket-Version": "8"])
                #expect(version.status == 426 && version.headers["sec-websocket-version"] == "13")
                for key in ["", "c2hvcnQ=", "no base64 at all, I'd say"] {
                    #expect(try server.connect().upgrade(headers: ["Sec-WebSocket-Key": key]).status == 400)
                }
            }
        }
    }

    @Test func pagesOfOtherOriginsCannotOpenASocket() async throws {
        try await serving(Echo(), { $0.allowedOrigins = ["https://example.com"] }) { server in
            let statuses = try await blocking {
                try ["https://evil.example", "https://example.com"].map {
                    try server.connect().upgrade(headers: ["Origin": $0]).status
                }
            }
            #expect(statuses == [403, 101])
        }
    }

    // MARK: Limits

    @Test func aMessageInPartsIsAssembledWithPingsBetween() async throws {
        try await talking { socket in
            try socket.send(frame: .text, Array("one ".utf8), isLast: false)
            try socket.send(frame: .ping, Array("there?".utf8))
            try socket.send(frame: .continuation, Array("two".utf8))
            #expect(try socket.receiveFrame() == Frame(.pong, Array("there?".utf8)))
            #expect(try socket.receiveFrame() == Frame(.text, Array("one two".utf8)))
        }
    }

    /// Forbidden messages, and the code of the close frame.
    static let breaches: [(name: String, code: Int, bytes: [UInt8])] = [
        ("a large message", 1009, [0x82, 0xFE, 0x03, 0xE9, 0, 0, 0, 0]),
        (
            "large parts", 1009,
            ServerConnection.frame(.binary, [UInt8](repeating: 1, count: 600), isLast: false)
                + ServerConnection.frame(.continuation, [UInt8](repeating: 1, count: 600))
        ),
        ("a frame without mask", 1002, [0x81, 0x01, 0x61]),
        ("an extension", 1002, [0xC1, 0x80, 0, 0, 0, 0]),
        ("an unknown kind", 1002, [0x83, 0x80, 0, 0, 0, 0]),
        ("a part of nothing", 1002, ServerConnection.frame(.continuation, [1])),
        ("a ping that is too long", 1002, ServerConnection.frame(.ping, [UInt8](repeating: 1, count: 126))),
        ("a ping in parts", 1002, ServerConnection.frame(.ping, [1], isLast: false)),
        ("text that is none", 1007, ServerConnection.frame(.text, [0xC3, 0x28])),
    ]

    @Test(arguments: breaches.indices)
    func aClientThatBreaksTheRulesGetsACodeAndIsClosed(_ index: Int) async throws {
        let breach = Self.breaches[index]
        try await talking({ $0.limits.messageSize = 1000 }) { socket in
            try socket.send(breach.bytes)
            #expect(try socket.receiveFrame().code == breach.code, "\(breach.name)")
            #expect(try socket.isClosedByServer())
        }
    }

    @Test func manyPingsDelayNobodyAndTakeNoMemory() async throws {
        try await serving { server in
            try await blocking {
                let (flooding, other) = (try server.socket(), try server.socket())
                let ping = ServerConnection.frame(.ping, Array("are you there".utf8))
                let pings = Array(repeating: ping, count: 2000).flatMap(\.self)
                for _ in 0..<5 {
                    try flooding.send(pings)
                    try other.send(frame: .text, Array("hello".utf8))
                    #expect(try other.receiveFrame().kind == .text)
                }
                // Only now does the client take the answers. The frames after the pings are read.
                try flooding.send(frame: .text, Array("hello".utf8))
                var frame = try flooding.receiveFrame()
                while frame.kind == .pong {
                    #expect(frame.bytes == Array("are you there".utf8))
                    frame = try flooding.receiveFrame()
                }
                #expect(frame.kind == .text)
            }
        }
    }

    @Test func aClientThatEndsItsSideIsClosed() async throws {
        let served = Echo()
        try await serving(served) { server in
            try await blocking {
                let socket = try server.socket()
                try socket.send(frame: .text, Array("hello".utf8))
                #expect(try socket.receiveFrame().kind == .text)
                // An incomplete frame.
                try socket.send([0x81, 0x85, 7, 77])
                socket.finish()
                #expect(try socket.isClosedByServer())
            }
        }
        #expect(served.endCount.load(ordering: .relaxed) == 1)
    }

    @Test(arguments: 1...20) func framesOfAnyBytesAreAnsweredOrTheConnectionEnds(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...300, using: &random)
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        try await serving { server in
            try await blocking {
                let socket = try server.socket()
                try socket.send(bytes)
                socket.finish()
                // After any reply, the server ends the connection and serves others.
                _ = try? socket.receiveAll()
                let other = try server.socket()
                try other.send(frame: .text, Array("hello".utf8))
                #expect(try other.receiveFrame().kind == .text, "seed \(seed)")
            }
        }
    }

    @Test func onlyAClientThatAnswersPingsStaysConnected() async throws {
        try await talking({ $0.limits.idleTime = .milliseconds(300) }) { socket in
            for _ in 0..<3 {
                #expect(try socket.receiveFrame().kind == .ping)
                try socket.send(frame: .pong, [])
            }
            #expect(try socket.receiveFrame().kind == .ping)
            #expect(try socket.isClosedByServer())
        }
    }

    @Test func aClientWithWaitingMessagesIsNotClosed() async throws {
        // Long enough for a busy machine to answer a ping, and less than half of the time that its messages wait.
        try await talking({ $0.limits.idleTime = .seconds(3) }) { socket in
            let texts = ["busy", "a", "b", "c", "d"]
            try socket.send(texts.flatMap { ServerConnection.frame(.text, Array($0.utf8)) })
            var answers: [String] = []
            while answers.count < 4 {
                let frame = try socket.receiveFrame()
                if frame.kind == .ping { try socket.send(frame: .pong, []) }
                if frame.kind == .text { answers.append(String(decoding: frame.bytes, as: UTF8.self)) }
            }
            #expect(answers == ["a", "b", "c", "d"])
        }
    }

    @Test func aClientThatReadsNothingIsClosed() async throws {
        let served = Echo()
        try await serving(served, { $0.limits.idleTime = .milliseconds(300) }) { server in
            try await blocking {
                let socket = try server.socket()
                // Waiting messages don't keep the connection open.
                for text in ["flood", "a", "b", "c", "d"] { try socket.send(frame: .text, Array(text.utf8)) }
                // The session ends because sending fails.
                blockUntil { served.endCount.load(ordering: .relaxed) > 0 }
                socket.close()
            }
        }
    }

    // MARK: Closing

    @Test func closeFramesAreAnswered() async throws {
        let served = Echo()
        try await serving(served) { server in
            try await blocking {
                let socket = try server.socket()
                try socket.send(frame: .close, [0x0F, 0xA0])
                #expect(try socket.receiveFrame().code == 4000)
                #expect(try socket.isClosedByServer())
            }
        }
        #expect(served.endCount.load(ordering: .relaxed) == 1)
    }

    /// The data of close frames, and the code of the answer.
    static let closeFrames: [(code: Int?, rest: [UInt8], answer: Int)] = [
        (nil, [], 1000), (1000, [], 1000), (1001, Array("später".utf8), 1001), (1003, [], 1003), (1007, [], 1007),
        (1014, [], 1014), (3000, [], 3000), (4999, [], 4999),
        (nil, [3], 1002), (0, [], 1002), (999, [], 1002), (1004, [], 1002), (1005, [], 1002), (1006, [], 1002),
        (1015, [], 1002), (1016, [], 1002), (2999, [], 1002), (5000, [], 1002), (65535, [], 1002),
        (1000, [0xC3, 0x28], 1007), (4000, [0xED, 0xA0, 0x80], 1007), (1005, [0xFF], 1002),
    ]

    @Test func closeFramesThatBreakTheRulesAreAnsweredWithAnError() async throws {
        try await serving { server in
            try await blocking {
                for (code, rest, answer) in Self.closeFrames {
                    let socket = try server.socket()
                    let bytes = code.map { [UInt8($0 >> 8), UInt8($0 & 255)] } ?? []
                    try socket.send(frame: .close, bytes + rest)
                    #expect(try socket.receiveFrame().code == answer, "\(code ?? 0) \(rest)")
                    #expect(try socket.isClosedByServer())
                    socket.close()
                }
            }
        }
    }

    @Test func theEndOfASessionSendsACloseFrame() async throws {
        try await serving { server in
            try await blocking {
                for (word, code) in [("enough", 1000), ("fail", 1011)] {
                    let socket = try server.socket()
                    try socket.send(frame: .text, Array(word.utf8))
                    #expect(try socket.receiveFrame().code == code)
                    try socket.send(frame: .close, [])
                    #expect(try socket.isClosedByServer())
                }
            }
        }
    }

    @Test func theSessionsOfAStoppingServerEnd() async throws {
        let served = Echo()
        let (opened, open) = AsyncStream.makeStream(of: Void.self)
        let code = try await serving(served) { server in
            async let code = blocking {
                let socket = try server.socket()
                try socket.send(frame: .text, Array("hello".utf8))
                _ = try socket.receiveFrame()
                open.yield()
                let code = try socket.receiveFrame().code
                #expect(try socket.isClosedByServer())
                return code
            }
            _ = await opened.first { _ in true }
            await server.stop()
            return try await code
        }
        #expect(code == 1001)
        #expect(served.endCount.load(ordering: .relaxed) == 1)
    }

    @Test func webSocketsAreCountedAsConnections() async throws {
        try await serving { server in
            try await blocking {
                func count() throws -> Substring? {
                    let text = try server.connect().request("GET", "/metrics").text
                    #expect(text.contains(#"relata_requests_total{method="GET",route="other",status="1xx"} 1"#))
                    return text.split(separator: "\n").first { $0.hasPrefix("relata_connections ") }?.suffix(1)
                }
                let socket = try server.socket()
                // The WebSocket, and the connection of this request. Connections of earlier requests may still be open.
                try blockUntil { try count() == "2" }
                socket.close()
                try blockUntil { try count() == "1" }
            }
        }
    }
}
#endif
