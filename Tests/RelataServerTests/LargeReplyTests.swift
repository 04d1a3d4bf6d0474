#if Server
import Foundation
import RelataParse
import ServerClient
import TestSupport
import Testing

@testable import RelataServer

/// Replies that clients don't read, or read slowly.
struct LargeReplyTests {
    @Test(arguments: ["keep-alive", "close"])
    func clientsThatStopReadingAreClosedAndTheirMemoryIsFreed(_ connection: String) async throws {
        let body = [UInt8](repeating: 32, count: 19_000_000)
        try await TestServer.running(
            { $0.limits.transferTime = .milliseconds(300) },
            service: { _ in WireReply(status: 200, body: body) }
        ) { server in
            try await blocking {
                let slow = try server.connect()
                try slow.send(ServerConnection.bytes("GET", "/parse/x", headers: ["Connection": connection]))
                blockUntil { server.heldReplyBytes != 0 }
                #expect(server.heldReplyBytes > body.count)
                // At one kilobyte a second, this would take five hours.
                blockUntil { server.heldReplyBytes == 0 }
                #expect(server.heldReplyBytes == 0)
                #expect(throws: ServerConnection.Failure.closed) { try slow.receive() }
            }
        }
    }

    @Test func steadilyReadRepliesMayExceedTheTimeLimit() async throws {
        let body = [UInt8](repeating: 32, count: 8_000_000)
        try await TestServer.running(
            { $0.limits.transferTime = .seconds(2) },
            service: { _ in WireReply(status: 200, body: body) }
        ) { server in
            let count = try await blocking {
                let connection = try server.connect()
                try connection.send(ServerConnection.bytes("GET", "/parse/x"))
                for _ in 0..<100 {
                    // Each check reads 16 KB.
                    #expect(try !connection.isClosedByServer())
                    usleep(60_000)
                }
                return try connection.receive().body.count
            }
            #expect(count == body.count)
        }
    }

    @Test func repliesToManyClientsDoNotAddUpWithoutBound() async throws {
        let body = [UInt8](repeating: 32, count: 8_000_000)
        try await TestServer.running(
            {
                $0.limits.bodySize = 1_000_000
                $0.limits.totalBodySize = 20_000_000
            },
            maximumReply: 8_000_000,
            service: { request in
                var reply = WireReply(status: 200, body: request.path == "/small" ? [123, 125] : body)
                reply.isOfRead = request.method == "GET"
                return reply
            }
        ) { server in
            let (refusals, small, taken, later) = try await blocking {
                let slow = try (0..<2).map { _ in try server.connect() }
                for connection in slow { try connection.send(ServerConnection.bytes("GET", "/parse/x")) }
                blockUntil { server.heldReplyBytes >= 2 * body.count }
                let refusals = try ["GET", "POST"].map { try server.connect().request($0, "/parse/x") }
                let small = try server.connect().request("GET", "/parse/small").status
                let taken = try slow.map { try $0.receive().body.count }
                blockUntil { server.heldReplyBytes == 0 }
                return (refusals, small, taken, try server.connect().request("GET", "/parse/x").body.count)
            }
            // A change that was made must not be repeated, and clients repeat requests after a status of 500 or more.
            #expect(refusals.map(\.status) == [503, 400])
            for refusal in refusals {
                #expect(refusal.code == ParseError.Code.requestLimitExceeded.rawValue)
            }
            #expect(refusals.map { $0.headers["retry-after"] } == ["1", nil])
            #expect(small == 200 && later == body.count)
            #expect(taken == [body.count, body.count])
        }
    }

    @Test func slowReadersOfFilesDoNotDelayOtherReplies() async throws {
        let body = [UInt8](repeating: 32, count: 8_000_000)
        try await TestServer.running(
            {
                $0.limits.bodySize = 1_000_000
                $0.limits.totalBodySize = 20_000_000
                $0.files["/"] = StaticFiles(["large.txt": body])
            },
            maximumReply: 8_000_000,
            service: { _ in WireReply(status: 200, body: body) }
        ) { server in
            let (refused, other, taken) = try await blocking {
                let slow = try server.connect()
                try slow.send(ServerConnection.bytes("GET", "/large.txt"))
                blockUntil { server.heldFileBytes >= body.count }
                let refused = try server.connect().request("GET", "/large.txt").status
                let other = try server.connect().request("GET", "/parse/x").body.count
                return (refused, other, try slow.receive().body.count)
            }
            #expect(refused == 503)
            #expect(other == body.count && taken == body.count)
        }
    }

    @Test func theLargestReplyIsSentEvenWithLittleMemory() async throws {
        let body = [UInt8](repeating: 32, count: 3_000_000)
        try await TestServer.running(
            {
                $0.limits.bodySize = 1000
                $0.limits.totalBodySize = 1000
            },
            maximumReply: 3_000_000,
            service: { _ in WireReply(status: 200, body: body) }
        ) { server in
            let reply = try await server.request("GET", "/parse/x")
            #expect(reply.body.count == body.count)
        }
    }

    @Test func largeRepliesToPipelinedRequestsArriveInOrder() async throws {
        try await TestServer.running(service: { request in
            WireReply(status: 200, body: [UInt8](repeating: 32, count: 100_000) + Array(request.path.utf8))
        }) { server in
            let ends = try await blocking {
                let connection = try server.connect(timeout: 20)
                try connection.send((0..<20).flatMap { ServerConnection.bytes("GET", "/parse/\($0)") })
                return try (0..<20).map { _ in
                    String(decoding: try connection.receive().body.dropFirst(100_000), as: UTF8.self)
                }
            }
            #expect(ends == (0..<20).map { "/\($0)" })
        }
    }

    @Test func aClientThatEndsItsSideGetsTheWholeLastReply() async throws {
        let body = [UInt8](repeating: 32, count: 8_000_000)
        try await TestServer.running(service: { _ in WireReply(status: 200, body: body) }) { server in
            let count = try await blocking {
                let connection = try server.connect()
                try connection.send(ServerConnection.bytes("GET", "/parse/x", headers: ["Connection": "close"]))
                blockUntil { server.heldReplyBytes != 0 }
                connection.finish()
                usleep(200_000)
                return try connection.receive().body.count
            }
            #expect(count == body.count)
        }
    }

    /// Small replies aren't sent one by one, and the system buffers only as much as the client reads.
    @Test(arguments: [6, 9, 10, 12])
    func aClientThatEndsItsSideGetsAllEarlierReplies(_ count: Int) async throws {
        let body = [UInt8](repeating: 32, count: 15_900)
        try await TestServer.running(service: { _ in WireReply(status: 200, body: body) }) { server in
            let sizes = try await blocking {
                let connection = try server.connect(timeout: 20, receiveBuffer: 8192)
                for _ in 0..<count {
                    try connection.send(ServerConnection.bytes("GET", "/parse/x"))
                    usleep(20_000)
                }
                connection.finish()
                usleep(200_000)
                return try (0..<count).map { _ in try connection.receive().body.count }
            }
            #expect(sizes == Array(repeating: body.count, count: count))
        }
    }
}
#endif
