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
#endif
