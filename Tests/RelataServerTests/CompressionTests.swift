#if Server
import Foundation
import RelataParse
import ServerClient
import Synchronization
import TestSupport
import Testing

@testable import RelataServer

struct CompressionTests {
    private static let text = String(repeating: "The Left Hand of Darkness. ", count: 1000)

    @Test func compressedDataIsUnpackedUnchanged() throws {
        for count in [0, 1, 100, 5000, 200_000] {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7 * 31) }
            guard let compressed = Gzip.compressed(bytes) else { continue }
            #expect(compressed.count < bytes.count)
            #expect(try Gzip.decompressed(compressed, limit: count) == bytes)
        }
        #expect(Gzip.compressed(Array(Self.text.utf8)) != nil)
    }

    @Test func incompressibleDataIsLeftUnchanged() {
        var random = SystemRandomNumberGenerator()
        #expect(Gzip.compressed((0..<2000).map { _ in UInt8.random(in: 0...255, using: &random) }) == nil)
    }

    @Test func moreThanTheLimitIsNeverUnpacked() throws {
        let bomb = try #require(Gzip.compressed([UInt8](repeating: 0, count: 50_000_000)))
        #expect(bomb.count < 300_000)
        #expect(throws: Gzip.Failure.tooLarge) { try Gzip.decompressed(bomb, limit: 1_000_000) }
        let exact = try #require(Gzip.compressed([UInt8](repeating: 7, count: 10_000)))
        #expect(try Gzip.decompressed(exact, limit: 10_000).count == 10_000)
        #expect(throws: Gzip.Failure.tooLarge) { try Gzip.decompressed(exact, limit: 9_999) }
    }

    /// A debug build took 25 s to fill the buffer with zeros, one by one.
    @Test func unpackingALargeBodyIsFast() throws {
        let large = try #require(Gzip.compressed([UInt8](repeating: 0, count: 100_000_000)))
        let time = processorTime {
            #expect(throws: Gzip.Failure.tooLarge) { try Gzip.decompressed(large, limit: 99_000_000) }
        }
        #expect(time < 12)
    }

    @Test func damagedAndTruncatedDataIsRefused() throws {
        let compressed = try #require(Gzip.compressed(Array(Self.text.utf8)))
        let wrong: [[UInt8]] = [
            [], [1, 2, 3], Array(compressed.dropLast()), Array(compressed.prefix(20)), compressed + [0],
            Array(compressed.prefix(40)) + [255] + Array(compressed.dropFirst(41)),
        ]
        for bytes in wrong {
            #expect(throws: Gzip.Failure.damaged) { try Gzip.decompressed(bytes, limit: 1_000_000) }
        }
    }

    @Test func aCompressedBodyIsUnpackedForTheProtocol() async throws {
        let body = try #require(Gzip.compressed(Array(Self.text.utf8)))
        try await TestServer.running { server in
            let reply = try await server.request("POST", "/parse/x", headers: ["Content-Encoding": "gzip"], body: body)
            #expect(try reply.json["length"] == .integer(Int64(Self.text.utf8.count)))
        }
    }

    @Test func aBodyThatUnpacksTooLargeIsRefused() async throws {
        let bomb = try #require(Gzip.compressed([UInt8](repeating: 32, count: 5_000_000)))
        try await TestServer.running({ $0.limits.bodySize = 100_000 }) { server in
            let reply = try await server.request("POST", "/parse/x", headers: ["Content-Encoding": "gzip"], body: bomb)
            #expect(reply.status == 413)
            #expect(reply.code == ParseError.Code.objectTooLarge.rawValue)
            #expect(try await server.request("GET", "/livez").status == 200)
        }
    }

    @Test func unpackedBodiesCountTowardsTheLimitOfAllClients() async throws {
        let body = try #require(Gzip.compressed([UInt8](repeating: 32, count: 100_000)))
        #expect(body.count < 1000)
        let gate = Gate()
        try await TestServer.running(
            {
                $0.limits.bodySize = 100_000
                $0.limits.totalBodySize = 250_000
            },
            service: { request in
                while request.path == "/slow", !gate.isOpen.load(ordering: .relaxed) {
                    try? await Task.sleep(for: .milliseconds(5))
                }
                return WireReply(["length": .integer(Int64(request.body.count))])
            }
        ) { server in
            let (refusal, small, later) = try await blocking {
                func send(_ path: String, _ body: [UInt8]) throws -> ServerConnection {
                    let connection = try server.connect()
                    try connection.send(
                        ServerConnection.bytes("POST", path, headers: ["Content-Encoding": "gzip"], body: body))
                    return connection
                }
                let slow = try (0..<2).map { _ in try send("/parse/slow", body) }
                blockUntil { server.heldBodyBytes >= 200_000 }
                let refusal = try send("/parse/x", body).receive()
                let small = try send("/parse/x", Gzip.compressed([UInt8](repeating: 32, count: 5000)) ?? []).receive()
                gate.isOpen.store(true, ordering: .relaxed)
                for connection in slow { #expect(try connection.receive().json["length"] == 100_000) }
                // A request may exist for a moment after its reply.
                blockUntil { server.heldBodyBytes == 0 }
                return (refusal, small.status, try send("/parse/x", body).receive().status)
            }
            #expect(refusal.status == 503)
            #expect(refusal.code == ParseError.Code.requestLimitExceeded.rawValue)
            #expect(refusal.headers["retry-after"] == "1")
            #expect(small == 200 && later == 200)
        }
    }

    /// A gate at which requests wait.
    private final class Gate: Sendable {
        let isOpen = Atomic(false)
    }

    @Test func unknownAndWrongCodingsAreRefused() async throws {
        try await TestServer.running { server in
            let headers = [("br", 415), ("gzip, gzip", 415), ("gzip", 400), ("deflate", 400), ("identity", 200)]
            for (coding, status) in headers {
                let reply = try await server.request(
                    "POST", "/parse/x", headers: ["Content-Encoding": coding], body: Array("{}".utf8))
                #expect(reply.status == status, "\(coding)")
            }
        }
    }

    @Test func largeRepliesAreCompressedOnRequest() async throws {
        let body = Array(Self.text.utf8)
        try await TestServer.running(service: { request in
            WireReply(status: 200, body: request.path == "/small" ? Array("{}".utf8) : body)
        }) { server in
            let asked = try await server.request(
                "GET", "/parse/x", headers: ["Accept-Encoding": "deflate, gzip;q=0.5, br"])
            #expect(asked.headers["content-encoding"] == "gzip")
            #expect(asked.headers["vary"] == "accept-encoding")
            #expect(asked.body.count < body.count / 10)
            #expect(try Gzip.decompressed(asked.body, limit: 1_000_000) == body)
            for coding in ["deflate", "gzip;q=0", "identity"] {
                let plain = try await server.request("GET", "/parse/x", headers: ["Accept-Encoding": coding])
                #expect(plain.headers["content-encoding"] == nil)
                #expect(plain.headers["vary"] == "accept-encoding")
                #expect(plain.body == body)
            }
            let small = try await server.request("GET", "/parse/small", headers: ["Accept-Encoding": "gzip"])
            #expect(small.headers["content-encoding"] == nil)
            let head = try await server.request("HEAD", "/parse/x", headers: ["Accept-Encoding": "gzip"])
            #expect(head.headers["content-length"] == String(asked.body.count))
        }
    }

    @Test func consecutiveCompressedPartsAreOneBody() throws {
        let parts = ["The Left Hand", " of ", "Darkness"].map { Array(String(repeating: $0, count: 50).utf8) }
        let compressed = try parts.flatMap { try #require(Gzip.compressed($0)) }
        #expect(try Gzip.decompressed(compressed, limit: 10_000) == parts.flatMap { $0 })
        #expect(throws: Gzip.Failure.tooLarge) { try Gzip.decompressed(compressed, limit: 1000) }
        #expect(throws: Gzip.Failure.damaged) { try Gzip.decompressed(compressed + [31, 139, 8], limit: 10_000) }
    }
}
#endif
