#if Server
import Foundation
import NIOHTTP1
import RelataCore
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// A store with S3's interface that damages contents, or becomes unavailable.
struct FaultyStoreTests {
    private static let text = String(repeating: "0123456789", count: 500)

    private static func read(_ storage: S3Storage, _ id: String, _ range: Range<Int>) async throws -> String? {
        guard let stream = try await storage.read(id, range) else { return nil }
        var all: [UInt8] = []
        while let piece = try await stream.next() { all += piece }
        return String(decoding: all, as: UTF8.self)
    }

    /// The error of a call as text; its result if it succeeded.
    private static func failure(_ body: () async throws -> some Any) async -> String {
        do {
            return "no error but \(try await body())"
        } catch {
            return "\(error as? FileStorageError ?? FileStorageError("another error: \(error)"))"
        }
    }

    @Test(arguments: [100, 5000])
    func aDamagedContentIsNotReadToItsEnd(size: Int) async throws {
        try await FaultyStore.running { store, storage in
            let text = String(Self.text.prefix(size))
            let id = try await storage.store(ByteStream(Array(text.utf8))).id
            #expect(try await Self.read(storage, id, 0..<size) == text)
            store.damage()
            let failure = await Self.failure { try await Self.read(storage, id, 0..<size) }
            #expect(failure.contains("has other bytes at \(id.prefix(2))/\(id) than were stored"), "\(failure)")
            #expect(failure.contains("restore them from a copy"), "\(failure)")
            // A part can't be compared with anything.
            #expect(try await Self.read(storage, id, 0..<50) == String(text.prefix(50)))
        }
    }

    @Test func aContentThatIsTooShortIsAnError() async throws {
        try await FaultyStore.running { store, storage in
            let id = try await storage.store(ByteStream(Array("hello".utf8))).id
            let failure = await Self.failure { try await Self.read(storage, id, 0..<9) }
            #expect(failure.contains("sent 5 bytes of \(id.prefix(2))/\(id) instead of 9"), "\(failure)")
        }
    }

    /// A large upload fails at its beginning, in a part, at its end, or when it gets its name.
    @Test(arguments: ["uploads=", "partNumber=2", "uploadId=1", "copy"])
    func anUploadToAStoreThatGoesDownLeavesNothing(step: String) async throws {
        try await FaultyStore.running { store, storage in
            store.fail { call in
                guard call.method != "DELETE" else { return nil }
                guard step == "copy" else {
                    let isPart = call.path.contains("partNumber=")
                    let isThere = call.path.contains(step) && (step != "uploadId=1" || !isPart)
                    return isThere ? FaultyStore.busy : nil
                }
                // The store sends the status before the result.
                return call.headers.contains(name: "x-amz-copy-source")
                    ? WebhookServer.Answer(body: "<Error><Code>InternalError</Code></Error>") : nil
            }
            let failure = await Self.failure { try await storage.store(ByteStream(Array(Self.text.utf8))) }
            #expect(
                failure.contains("(\(step == "copy" ? "InternalError" : "SlowDown")): try again later"), "\(failure)")
            #expect(store.texts.isEmpty && store.uploads == 0)
            store.fail(nil)
            let stored = try await storage.store(ByteStream(Array(Self.text.utf8)))
            #expect(stored.size == 5000 && store.texts == [Self.text])
        }
    }

    @Test func aServerWhoseStoreGoesDownContinuesWhenItIsBack() async throws {
        try await FaultyStore.running { store, storage in
            var configuration = RelataServer.Configuration()
            configuration.port = 0
            configuration.stopsOnSignals = false
            var options = ParseService.Options()
            options.files = FileOptions(storage: storage)
            options.files?.contentLifetime = 0
            let log = LogRecorder()
            let server = try RelataServer(
                try ParseStore.open(nil), keys: ServerKeys(applicationID: "app", masterKey: "master"),
                options: options, configuration: configuration, logger: log.logger(.error))
            let headers = ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": "master"]
            try await TestServer.running(server) { server in
                func upload(_ text: String) async throws -> ServerReplyText {
                    try await server.request("POST", "/parse/files/a.txt", headers: headers, body: Array(text.utf8))
                }
                let name = try #require(try await upload(Self.text).json["name"]?.string)
                // The store becomes unavailable in the middle of a download.
                store.fail { call in
                    call.method == "GET" && call.headers.first(name: "range")?.hasPrefix("bytes=0-") == true
                        ? nil : FaultyStore.busy
                }
                let begun = try await blocking {
                    let connection = try server.connect()
                    try connection.send("GET /parse/files/app/\(name) HTTP/1.1\r\nHost: x\r\n\r\n")
                    return try connection.receiveAll()
                }
                #expect(begun.contains("content-length: 5000") && begun.hasSuffix(Self.text.prefix(700)), "\(begun)")
                #expect(log.lines.contains { $0.contains("(SlowDown): try again later") }, "\(log.lines)")
                store.fail { _ in FaultyStore.busy }
                let refused = try await upload("other")
                #expect(refused.status == 503 && refused.code == 1, "\(refused.text)")
                let away = try await server.request("GET", "/parse/files/app/\(name)")
                #expect(away.status == 503 && away.text.contains("try again later"), "\(away.text)")
                #expect(store.texts == [Self.text])
                // A file is deleted at once, and its content as soon as possible.
                let gone = try await server.request("DELETE", "/parse/files/\(name)", headers: headers)
                #expect(gone.status == 200, "\(gone.text)")
                store.fail(nil)
                #expect(try await server.request("GET", "/parse/files/app/\(name)").status == 404)
                let again = try #require(try await upload("other").json["name"]?.string)
                #expect(try await server.request("GET", "/parse/files/app/\(again)").text == "other")
            }
        }
    }
}
#endif
