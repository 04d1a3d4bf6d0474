import Foundation
import RelataCore
import Testing

@testable import RelataParse

/// The parts of a server and their problems.
struct PartsTests {
    private static func problems(_ server: TestServer) async -> [String: Bool] {
        Dictionary(
            uniqueKeysWithValues: await server.service.parts().map { ($0.name, $0.problem != nil) })
    }

    @Test func anUnreachableMailServerIsReportedUntilItReturns() async throws {
        let (server, mails) = try TestServer.withMail { $0.mail?.retries = [] }
        #expect(await Self.problems(server) == ["mail": false])
        _ = try await server.signUp("mei", ["email": "mei@example.org"])
        mails.fail(with: MailError("away", isTemporary: true))
        _ = try await server.send(
            "POST", "/requestPasswordReset", ["email": "mei@example.org"], isMaster: false)
        for _ in 0..<2000 where await Self.problems(server) != ["mail": true] {
            try await Task.sleep(for: .milliseconds(5))
        }
        #expect(await Self.problems(server) == ["mail": true])
        // The mail server is probed from time to time.
        #expect(await server.service.probeMail() == nil)
        #expect(await Self.problems(server) == ["mail": false])
    }

    @Test func probeResultsAreLoggedOnceUntilTheyChange() async throws {
        struct Away: MailSender {
            func send(_ mail: Mail) async throws {}
            func probe() async throws { throw MailError("away") }
        }
        let server = try TestServer.withUsers {
            $0.mail = MailOptions(
                Away(), appName: "Library", publicURL: "https://books.example.org/parse")
        }
        #expect(await server.service.probeMail() != nil)
        #expect(await server.service.probeMail() == nil)
        #expect(await Self.problems(server) == ["mail": true])
    }

    @Test func aStorageThatCannotStoreIsReportedWithoutItsReason() async throws {
        struct Full: FileStorage {
            struct Reason: Error {}
            let isFull: Bool

            func store(_ bytes: ByteStream) async throws -> StoredContent { throw Reason() }
            func read(_ id: String, _ range: Range<Int>) async throws -> ByteStream? { nil }
            func delete(_ id: String, unlessStoredSince time: Date) async throws -> Bool { true }
            func check() async throws { if isFull { throw Reason() } }
        }
        let full = try TestServer.withUsers { $0.files = FileOptions(storage: Full(isFull: true)) }
        let parts = await full.service.parts()
        // The health of a server is public.
        #expect(parts.map(\.name) == ["files"] && parts.first?.problem == "files can't be stored at the moment")
        let other = try TestServer.withUsers { $0.files = FileOptions(storage: Full(isFull: false)) }
        #expect(await Self.problems(other) == ["files": false])
    }
}
