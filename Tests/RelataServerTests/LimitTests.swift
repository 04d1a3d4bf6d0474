#if Server
import Foundation
import RelataParse
import ServerClient
import TestSupport
import Testing

@testable import RelataServer

/// The limits on clients' requests and times.
struct LimitTests {
    @Test func aBodyOfTheLargestSizeIsAccepted() async throws {
        try await TestServer.running({ $0.limits.bodySize = 100_000 }) { server in
            let body = [UInt8](repeating: 32, count: 100_000)
            let reply = try await server.request("POST", "/parse/x", body: body)
            #expect(reply.status == 200)
            #expect(try reply.json["length"] == 100_000)
        }
    }

    @Test func aBodyThatIsDeclaredTooLargeIsRefusedBeforeItIsSent() async throws {
        try await TestServer.running({ $0.limits.bodySize = 100_000 }) { server in
            let (reply, isClosed) = try await blocking {
                let connection = try server.connect()
                try connection.send("POST /parse/x HTTP/1.1\r\nHost: x\r\nContent-Length: 100001\r\n\r\n")
                return (try connection.receive(), try connection.isClosedByServer())
            }
            #expect(reply.status == 413)
            #expect(reply.code == ParseError.Code.objectTooLarge.rawValue)
            #expect(isClosed)
        }
    }

    @Test func aClientThatContinuesToSendStillGetsTheRefusal() async throws {
        try await TestServer.running({ $0.limits.bodySize = 100_000 }) { server in
            let reply = try await blocking {
                let connection = try server.connect()
                try connection.send("POST /parse/x HTTP/1.1\r\nHost: x\r\nContent-Length: 4000000\r\n\r\n")
                try connection.send([UInt8](repeating: 32, count: 4_000_000))
                return try connection.receive()
            }
            #expect(reply.status == 413)
        }
    }

    @Test func bodiesOfManyClientsDoNotAddUpWithoutBound() async throws {
        try await TestServer.running({
            $0.limits.bodySize = 100_000
            // Buffers have sizes of powers of two, so this is enough for two bodies.
            $0.limits.totalBodySize = 300_000
        }) { server in
            let (refusal, small, later) = try await blocking {
                let half = ServerConnection.bytes("POST", "/parse/x", body: [UInt8](repeating: 32, count: 100_000))
                let slow = try (0..<2).map { _ in try server.connect() }
                for connection in slow { try connection.send(Array(half.dropLast(1))) }
                func large() throws -> ServerReplyText {
                    try server.connect().request("POST", "/parse/x", body: [UInt8](repeating: 32, count: 90_000))
                }
                // If the server hadn't read the others yet, one of them could be refused instead.
                blockUntil { server.heldBodyBytes >= 2 * 99_999 }
                let refusal = try large()
                let small = try server.connect().request("POST", "/parse/x", body: [UInt8](repeating: 32, count: 1000))
                for connection in slow {
                    try connection.send(" ")
                    _ = try connection.receive()
                }
                // A request may exist for a moment after its reply.
                blockUntil { server.heldBodyBytes == 0 }
                return (refusal, small.status, try large().status)
            }
            #expect(refusal.status == 503)
            #expect(refusal.code == ParseError.Code.requestLimitExceeded.rawValue)
            #expect(refusal.headers["retry-after"] == "1")
            #expect(small == 200 && later == 200)
        }
    }

    @Test func aBodyInChunksIsRefusedWhenItBecomesTooLarge() async throws {
        try await TestServer.running({ $0.limits.bodySize = 1000 }) { server in
            let reply = try await blocking {
                let connection = try server.connect()
                try connection.send("POST /parse/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
                for _ in 0..<3 { try connection.send("190\r\n\(String(repeating: " ", count: 400))\r\n") }
                return try connection.receive()
            }
            #expect(reply.status == 413)
        }
    }

    /// The chunk never arrives: it is refused for its declared size, long before the time limit.
    @Test(arguments: [
        ["", "FFFFFFFF\r\n"], ["", "3E9;x=y\r\n"], ["", "1F4\r\n\(String(repeating: "a", count: 500))\r\n1F5\r\n"],
        ["", "2\r\na", "b\r", "\n0003e", "7", "\r\n"], ["", "FFFFFFFFFFFFFFF0\r\n"],
        ["Transfer-Encoding: chunked\r\n\r", "\nFFFF\r\n"], ["Transfer-Encoding: chunked\r\n\r\nFFFF\r\n"],
    ])
    func aChunkThatIsDeclaredTooLargeIsRefusedBeforeItIsSent(_ parts: [String]) async throws {
        try await TestServer.running({ $0.limits.bodySize = 1000 }) { server in
            let reply = try await blocking {
                let connection = try server.connect(timeout: 20)
                var head = "POST /parse/x HTTP/1.1\r\nHost: x\r\n"
                if parts[0].isEmpty { head += "Transfer-Encoding: chunked\r\n\r\n" }
                try connection.send(head)
                for part in parts {
                    // The pause makes the server read most parts one by one. Without it, the reply would be the same.
                    usleep(20_000)
                    try connection.send(part)
                }
                return try connection.receive()
            }
            #expect(reply.status == 413)
        }
    }

    @Test func chunksThatContainTextLikeSizesAreAccepted() async throws {
        let text = "a\r\n\r\nFFFFFF\r\n\r\n"
        let body =
            "\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n3E8;ext\r\n\(String(repeating: "b", count: 1000))\r\n0\r\n\r\n"
        try await TestServer.running({ $0.limits.bodySize = 1100 }) { server in
            for length in [1, 7, 1000, 10_000] {
                let statuses = try await blocking {
                    let connection = try server.connect()
                    let request = "POST /parse/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body
                    // Two requests, cut into parts at any position.
                    var rest = Array((request + request).utf8)[...]
                    while !rest.isEmpty {
                        try connection.send(Array(rest.prefix(length)))
                        rest = rest.dropFirst(length)
                    }
                    return [try connection.receive().status, try connection.receive().status]
                }
                #expect(statuses == [200, 200], "\(length)")
            }
        }
    }

    @Test func tricklingBodiesTimeOut() async throws {
        try await TestServer.running({ $0.limits.transferTime = .milliseconds(300) }) { server in
            let reply = try await blocking {
                let connection = try server.connect(timeout: 0.05)
                try connection.send("POST /parse/x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
                var reply: ServerReplyText?
                // The body would be complete after 50 seconds. A client that sends to a closed connection may lose its
                // reply.
                for _ in 0..<900 where reply == nil {
                    try connection.send(" ")
                    do { reply = try connection.receive() } catch ServerConnection.Failure.timedOut {}
                }
                try blockUntil { try connection.isClosedByServer() }
                return reply
            }
            #expect(reply?.status == 408)
            #expect(reply?.code == ParseError.Code.timeout.rawValue)
        }
    }

    @Test func earlierBytesDoNotExtendAnIdleTimeout() async throws {
        try await TestServer.running({ $0.limits.transferTime = .seconds(3) }) { server in
            let reply = try await blocking {
                // Long enough for all to arrive on a busy machine. At one kilobyte a second, the amount sent at once
                // would be worth more than half an hour.
                let connection = try server.connect(timeout: 20)
                try connection.send("POST /parse/x HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n")
                try connection.send([UInt8](repeating: 32, count: 2_000_000))
                return try connection.receive()
            }
            #expect(reply.status == 408)
            await waitUntil { server.heldBodyBytes == 0 }
            #expect(server.heldBodyBytes == 0)
        }
    }

    @Test func steadilyArrivingBodiesMayExceedTheTimeLimit() async throws {
        try await TestServer.running({ $0.limits.transferTime = .seconds(2) }) { server in
            /// The status, and the longest time between two parts of the body.
            @Sendable func send() throws -> (status: Int?, gap: TimeInterval) {
                let connection = try server.connect()
                try connection.send("POST /parse/x HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n")
                var gap: TimeInterval = 0
                for _ in 0..<30 {
                    let start = Date()
                    // The server may have closed the connection already. Then sending fails.
                    try? connection.send([UInt8](repeating: 32, count: 1000))
                    usleep(100_000)
                    gap = max(gap, Date().timeIntervalSince(start))
                }
                return (try? connection.receive().status, gap)
            }
            // If the process was paused for a second, it sent nothing in that time.
            var reply = try await blocking(send)
            for _ in 0..<10 where reply.status != 200 && reply.gap > 1 { reply = try await blocking(send) }
            #expect(reply.status == 200, "\(reply.gap) s without a part")
        }
    }

    @Test func theCountedSizeOfABodyIsItsMemory() async throws {
        try await TestServer.running { server in
            let held = try await blocking {
                let connection = try server.connect()
                try connection.send("POST /parse/x HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n")
                try connection.send([UInt8](repeating: 32, count: 2_100_000))
                blockUntil { server.heldBodyBytes >= 2_100_000 }
                return server.heldBodyBytes
            }
            #expect(held == 4 << 20)
        }
    }

    @Test func aBodyOfTheLargestSizeFitsInTheLimitOfAllBodies() async throws {
        try await TestServer.running({
            $0.limits.bodySize = 100_000
            $0.limits.totalBodySize = 100_000
        }) { server in
            let reply = try await server.request("POST", "/parse/x", body: [UInt8](repeating: 32, count: 100_000))
            #expect(reply.status == 200)
        }
    }

    @Test func aClientThatNeverFinishesItsHeaderIsClosed() async throws {
        try await TestServer.running({ $0.limits.transferTime = .milliseconds(200) }) { server in
            let isClosed = try await blocking {
                let connection = try server.connect()
                try connection.send("GET /parse/health HTTP/1.1\r\nHost:")
                return try connection.isClosedByServer()
            }
            #expect(isClosed)
        }
    }

    @Test func anUnusedConnectionIsClosed() async throws {
        try await TestServer.running({ $0.limits.idleTime = .milliseconds(200) }) { server in
            let (status, isClosed) = try await blocking {
                let connection = try server.connect()
                return (try connection.request("GET", "/parse/health").status, try connection.isClosedByServer())
            }
            #expect(status == 200)
            #expect(isClosed)
        }
    }

    @Test func aRequestThatTakesTooLongIsAnsweredAndCancelled() async throws {
        let (cancellations, continuation) = AsyncStream.makeStream(of: Bool.self)
        try await TestServer.running(
            { $0.limits.requestTime = .milliseconds(200) },
            service: { _ in
                try? await Task.sleep(for: .seconds(20))
                continuation.yield(Task.isCancelled)
                return WireReply([:])
            }
        ) { server in
            let reply = try await server.request("GET", "/parse/health")
            #expect(reply.status == 503)
            #expect(reply.code == ParseError.Code.timeout.rawValue)
        }
        #expect(await cancellations.first { _ in true } == true)
    }

    @Test func clientsThatReadNoRepliesAreClosedWithoutDelayingOthers() async throws {
        let body = [UInt8](repeating: 32, count: 8_000_000)
        try await TestServer.running(
            { $0.limits.transferTime = .seconds(5) },
            service: { _ in WireReply(status: 200, body: body) }
        ) { server in
            let slow = try server.connect()
            try slow.send(ServerConnection.bytes("GET", "/parse/x") + ServerConnection.bytes("GET", "/parse/x"))
            #expect(try await server.request("GET", "/parse/x").body.count == body.count)
            #expect(try await server.request("GET", "/livez").status == 200)
        }
    }

    @Test func slowReadersGetTheWholeLargeReply() async throws {
        let body = [UInt8](repeating: 32, count: 8_000_000)
        try await TestServer.running(service: { _ in WireReply(status: 200, body: body) }) { server in
            let counts = try await blocking {
                let connection = try server.connect()
                try connection.send(
                    ServerConnection.bytes("GET", "/parse/x") + ServerConnection.bytes("GET", "/parse/x"))
                usleep(200_000)
                return try (0..<2).map { _ in try connection.receive().body.count }
            }
            #expect(counts == [body.count, body.count])
        }
    }

    @Test func connectionsAboveTheLimitWaitForOthersToEnd() async throws {
        try await TestServer.running({ $0.limits.connections = 4 }) { server in
            let served = try await blocking {
                let first = try (0..<8).map { _ in try server.connect(timeout: 3) }
                for connection in first { try connection.send(ServerConnection.bytes("GET", "/parse/health")) }
                let early = first.filter { (try? $0.receive().status) == 200 }.count
                for connection in first { connection.close() }
                let late = try server.connect().request("GET", "/parse/health").status
                return (early, late)
            }
            // The system accepts several connections at a time.
            #expect((4..<8).contains(served.0))
            #expect(served.1 == 200)
        }
    }

    @Test func manyIdleConnectionsLeaveRoomForMore() async throws {
        // Both ends of the connections are in this process.
        let count = IdleConnections.allowed(2000, ends: 2)
        // A busy machine may need long to open so many connections.
        try await TestServer.running({ $0.limits.idleTime = .seconds(600) }) { server in
            let times = try await blocking {
                let idle = try IdleConnections(count, port: server.port, path: "/parse/health")
                let times = try idle.times(100)
                try idle.askAgain(50)
                return times
            }
            #expect(times.count == 100, "\(count) connections")
        }
    }
}
#endif
