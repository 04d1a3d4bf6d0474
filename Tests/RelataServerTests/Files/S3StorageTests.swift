#if Server
import Crypto
import Foundation
import RelataCore
import RelataParse
import ServerClient
import Synchronization
import Testing

@testable import RelataServer

/// Contents of files in a store with S3's interface.
@Suite(.enabled(if: ObjectStore.isThere, "moto can't be had from the Python Package Index"))
struct S3StorageTests {
    private static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 256) }
    }

    /// A stream of pieces that don't fit the parts.
    private static func stream(_ bytes: [UInt8], failing: Bool = false) -> ByteStream {
        let pieces = Pieces(
            stride(from: 0, to: bytes.count, by: 333).map { Array(bytes[$0..<min($0 + 333, bytes.count)]) })
        return ByteStream {
            if let piece = pieces.next() { return piece }
            if failing { throw ParseError(.fileSaveError, "broken off") }
            return nil
        }
    }

    private final class Pieces: Sendable {
        private let rest: Mutex<[[UInt8]]>
        init(_ pieces: [[UInt8]]) { rest = Mutex(pieces.reversed()) }
        func next() -> [UInt8]? { rest.withLock { $0.popLast() } }
    }

    private static func read(_ storage: S3Storage, _ id: String, _ range: Range<Int>) async throws -> [UInt8]? {
        guard let stream = try await storage.read(id, range) else { return nil }
        var all: [UInt8] = []
        while let piece = try await stream.next() { all += piece }
        return all
    }

    @Test(arguments: [1, 1999, 2000, 2001, 4000, 9001])
    func aContentIsStoredAndReadBack(size: Int) async throws {
        let storage = try ObjectStore.storage()
        let bytes = Self.bytes(size)
        let stored = try await storage.store(Self.stream(bytes))
        let id = SHA256.hash(data: bytes).hexText
        #expect(stored == StoredContent(id: id, size: size))
        #expect(try await ObjectStore.names(storage) == ["\(id.prefix(2))/\(id)"])
        #expect(try await Self.read(storage, id, 0..<size) == bytes)
        #expect(try await Self.read(storage, id, size / 2..<size) == Array(bytes[(size / 2)...]))
        #expect(try await Self.read(storage, id, 0..<1) == [bytes[0]])
        #expect(try await Self.read(storage, id, 0..<0) == [])
        #expect(try await Self.read(storage, String(id.reversed()), 0..<1) == nil)
        #expect(try await Self.read(storage, "../secret", 0..<1) == nil)
        // The same bytes are the same content.
        #expect(try await storage.store(Self.stream(bytes)) == stored)
        #expect(try await ObjectStore.names(storage).count == 1)
    }

    @Test func aContentIsDeletedUnlessItWasStoredAgain() async throws {
        let storage = try ObjectStore.storage()
        let id = try await storage.store(Self.stream(Self.bytes(10))).id
        #expect(try await !storage.delete(id, unlessStoredSince: Date(timeIntervalSinceNow: -60)))
        #expect(try await Self.read(storage, id, 0..<1) != nil)
        #expect(try await storage.delete(id, unlessStoredSince: Date(timeIntervalSinceNow: 60)))
        #expect(try await Self.read(storage, id, 0..<1) == nil)
        #expect(try await storage.delete(id, unlessStoredSince: Date(timeIntervalSinceNow: -60)))
    }

    @Test func aBrokenUploadLeavesNothing() async throws {
        let storage = try ObjectStore.storage()
        for size in [100, 5000] {
            await #expect(throws: ParseError.self) {
                try await storage.store(Self.stream(Self.bytes(size), failing: true))
            }
        }
        #expect(try await ObjectStore.names(storage).isEmpty)
        let uploads = try await storage.bucket.send(
            S3Bucket.Request(method: .GET, key: "", query: [("uploads", "")]), expecting: [200])
        #expect(!String(decoding: uploads.body, as: UTF8.self).contains(storage.place.prefix))
    }

    private static func failure(_ storage: S3Storage) async -> String {
        do {
            return "stored as \(try await storage.store(ByteStream([1])).id)"
        } catch {
            return "\(error as? FileStorageError ?? FileStorageError("another error: \(error)"))"
        }
    }

    @Test func errorsNameTheFix() async throws {
        #expect(
            await Self.failure(try ObjectStore.storage { $0.secretKey = "wrong" }).contains("check AWS_ACCESS_KEY_ID"))
        #expect(await Self.failure(try ObjectStore.storage { $0.bucket = "others" }).contains("create the bucket"))
        let port = try await WebhookServer.running({ _ in nil }) { $0.port }
        let down = await Self.failure(try ObjectStore.storage { $0.endpoint = "http://127.0.0.1:\(port)" })
        #expect(down.contains("can't be used: it can't be reached") && down.contains("--s3-endpoint"), "\(down)")
    }

    @Test func clientsUploadAndDownloadByTheServer() async throws {
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        var options = ParseService.Options()
        options.files = FileOptions(storage: try ObjectStore.storage())
        let keys = ServerKeys(applicationID: "app", masterKey: "master")
        let server = try RelataServer(
            try ParseStore.open(nil), keys: keys, options: options, configuration: configuration)
        let bytes = Self.bytes(10_000)
        let headers = ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": "master"]
        let name = try await TestServer.running(server) { server in
            let made = try await server.request("POST", "/parse/files/all.bin", headers: headers, body: bytes)
            #expect(made.status == 201, "\(made.text)")
            let name = try #require(try made.json["name"]?.string)
            let all = try await server.request("GET", "/parse/files/app/\(name)")
            #expect(all.status == 200 && all.body == bytes)
            let part = try await server.request("GET", "/parse/files/app/\(name)", headers: ["Range": "bytes=100-2999"])
            #expect(part.status == 206 && part.body == Array(bytes[100..<3000]))
            return name
        }
        #expect(name.hasSuffix("_all.bin"))
    }

    @Test func aFailingStorageLeavesNothingHalfDone() async throws {
        let port = try await WebhookServer.running({ _ in nil }) { $0.port }
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        var options = ParseService.Options()
        options.files = FileOptions(
            storage: try ObjectStore.storage { $0.endpoint = "http://127.0.0.1:\(port)" })
        let keys = ServerKeys(applicationID: "app", masterKey: "master")
        let records = try ParseStore.open(nil)
        let server = try RelataServer(records, keys: keys, options: options, configuration: configuration)
        try await TestServer.running(server) { server in
            let headers = ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": "master"]
            let reply = try await server.request("POST", "/parse/files/a.txt", headers: headers, body: [1])
            #expect(reply.status == 503 && reply.code == 1 && reply.text.contains("try again"), "\(reply.text)")
        }
    }
}

/// Requests that need no store.
struct S3SignatureTests {
    /// The example of Amazon's documentation of signatures.
    @Test func aSignatureEqualsThatOfAmazonsDocumentation() {
        let signature = S3Signature(
            accessKey: "AKIAIOSFODNN7EXAMPLE", secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            region: "us-east-1")
        let digest = SHA256.hash(data: [UInt8]()).hexText
        let text = signature.authorization(
            "GET", "/test.txt", query: "",
            headers: [
                "host": "examplebucket.s3.amazonaws.com", "range": "bytes=0-9", "x-amz-content-sha256": digest,
                "x-amz-date": "20130524T000000Z",
            ], digest: digest, at: "20130524T000000Z")
        #expect(
            text
                == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        )
        #expect(S3Signature.text(Date(timeIntervalSince1970: 1_369_353_600)) == "20130524T000000Z")
        #expect(S3Storage.date("Fri, 24 May 2013 00:00:00 GMT") == Date(timeIntervalSince1970: 1_369_353_600))
    }

    @Test func invalidPlacesAreRefused() {
        for change: (inout S3Storage.Place) -> Void in [
            { $0.bucket = "a" }, { $0.bucket = "a/b/c" }, { $0.bucket = "../files" }, { $0.prefix = "../" },
            { $0.prefix = "/a/" }, { $0.prefix = "a?b" }, { $0.region = "" }, { $0.accessKey = "" },
            { $0.accessKey = "a b" },
            { $0.secretKey = "" }, { $0.endpoint = "ftp://example.org" }, { $0.endpoint = "https://example.org/?a" },
            { $0.certificates = "/nowhere.pem" },
        ] {
            var place = S3Storage.Place(bucket: "files", accessKey: "key", secretKey: "secret")
            change(&place)
            #expect(throws: RelataError.self) { try S3Storage(place) }
        }
        #expect(throws: Never.self) {
            try S3Storage(S3Storage.Place(bucket: "files", accessKey: "key", secretKey: "s"))
        }
    }
}
#endif
