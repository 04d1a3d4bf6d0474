#if PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataEngine
@testable import RelataPostgres
import Synchronization
import Testing

/// Readers of a replica while the primary's position is unknown.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct ReplicaPositionTests {
    /// Calls a closure with a connection of a reader.
    private static func reading<Result>(_ body: (PostgresDriver) throws -> Result) throws -> Result {
        let engine = try PostgresEngine(url: PostgresURL(PrivateCluster.shared.url()))
        let connection = try engine.connect(.reading, waits: true)
        defer { try? connection.close() }
        return try body(try #require(connection.driver as? PostgresDriver))
    }

    /// Has the primary's position be unknown, as a connection does that was lost after a commit.
    private static func lose(_ reads: ReplicaReads) throws {
        try reading { driver in
            try driver.close()
            reads.notePosition(driver)
        }
    }

    @Test(.timeLimit(.minutes(20))) func replicaReadsWaitForThePrimarysPosition() async throws {
        let primary = try SilentServer()
        let reads = ReplicaReads(
            try PostgresURL(PrivateCluster.shared.url()), of: try PostgresURL(primary.url), patience: .seconds(5))
        try Self.lose(reads)
        let firstReader = Thread.run { try Self.reading { try reads.wait($0) } }
        // Now the first one waits for the primary.
        let asked = await primary.accept()
        let secondReader = Thread.run {
            defer { primary.knock() }
            try Self.reading { try reads.wait($0) }
        }
        let askedAgain = await primary.accept()
        primary.stop()
        for connection in [asked, askedAgain] { close(connection) }
        for reader in [firstReader, secondReader] {
            await #expect(throws: RelataError.self) { try await reader.value }
        }
    }

    @Test func readersContinueOnceThePrimaryAnswers() throws {
        let url = try PostgresURL(PrivateCluster.shared.url())
        let reads = ReplicaReads(url, of: url, patience: .seconds(5))
        try Self.lose(reads)
        try Self.reading { reader in
            try reads.wait(reader)
            #expect(reader.replayed > 0, "the primary's position is known")
        }
    }
}

/// A server that takes connections and says nothing.
private final class SilentServer: Sendable {
    private let descriptor: Int32
    private let port: UInt16

    init() throws {
        #if canImport(Darwin)
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = Self.address(port: 0)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, size) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, pointer, &size) == 0
            }
        }
        try #require(isBound)
        port = UInt16(bigEndian: address.sin_port)
    }

    var url: String { "postgresql://postgres@127.0.0.1:\(port)/postgres" }

    private static func address(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    /// The next connection.
    func accept() async -> Int32 {
        let descriptor = descriptor
        return (try? await Thread.run { Self.accepted(descriptor) }.value) ?? -1
    }

    private static func accepted(_ descriptor: Int32) -> Int32 {
        #if canImport(Darwin)
        Darwin.accept(descriptor, nil, nil)
        #else
        Glibc.accept(descriptor, nil, nil)
        #endif
    }

    /// Connects, so that somebody who waits for a connection gets one.
    func knock() {
        #if canImport(Darwin)
        let knocking = socket(AF_INET, SOCK_STREAM, 0)
        #else
        let knocking = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var address = Self.address(port: port)
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(knocking, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        close(knocking)
    }

    /// Takes no more connections.
    func stop() { close(descriptor) }
}
#endif
