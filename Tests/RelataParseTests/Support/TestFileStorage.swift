import Foundation
import RelataCore
import RelataParse
import Synchronization
import Testing

/// Stores contents in memory, named after their bytes.
final class TestFileStorage: FileStorage {
    private struct Content {
        let bytes: [UInt8]
        var time = Date()
    }

    private let contents = Mutex<[String: Content]>([:])

    /// The stored contents.
    var texts: [String] {
        contents.withLock { $0.values.map { String(decoding: $0.bytes, as: UTF8.self) }.sorted() }
    }

    /// Makes all contents older.
    func age(by seconds: Double) {
        contents.withLock { for id in $0.keys { $0[id]?.time.addTimeInterval(-seconds) } }
    }

    func store(_ bytes: ByteStream) async throws -> StoredContent {
        var all: [UInt8] = []
        while let piece = try await bytes.next() { all += piece }
        let content = Content(bytes: all)
        let id = Data(all).base64EncodedString()
        contents.withLock { $0[id] = content }
        return StoredContent(id: id, size: all.count)
    }

    func read(_ id: String, _ range: Range<Int>) async throws -> ByteStream? {
        contents.withLock { $0[id] }.map { ByteStream(Array($0.bytes[range])) }
    }

    func delete(_ id: String, unlessStoredSince time: Date) async throws -> Bool {
        contents.withLock { contents in
            if let content = contents[id], content.time < time { contents[id] = nil }
            return contents[id] == nil
        }
    }
}

extension TestServer {
    /// A server with users and files.
    static func withFiles(
        mode: ParseStore.Mode = .development, path: String? = nil, storage: TestFileStorage = TestFileStorage(),
        _ configure: (inout FileOptions) -> Void = { _ in },
        options: (inout ParseService.Options) -> Void = { _ in }
    ) throws -> TestServer {
        var files = FileOptions(storage: storage)
        files.publicURL = "https://example.com/parse/"
        configure(&files)
        return try TestServer.withUsers(mode: mode, path: path) {
            $0.files = files
            options(&$0)
        }
    }

    /// A downloaded file.
    struct File: Sendable {
        let status: Int
        let type: String?
        let headers: [String: String]
        let text: String
    }

    /// Uploads a file.
    func upload(
        _ name: String, _ text: String, as person: Person? = nil, headers: [String: String] = [:], isMaster: Bool? = nil
    ) async throws -> Reply {
        var fields = ["x-parse-application-id": "app"]
        if isMaster ?? (person == nil) { fields["x-parse-master-key"] = "master" }
        fields.merge(person?.headers ?? [:]) { $1 }
        var request = WireRequest(method: "POST", path: "/files/\(name)", headers: fields.merging(headers) { $1 })
        request.stream = ByteStream(Array(text.utf8))
        let reply = await service.respond(to: request) { print("failed: \($0)") }
        return Reply(status: reply.status, json: try JSONParser.parse(reply.body), location: reply.location)
    }

    /// Downloads a file, without keys.
    func download(_ name: String, app: String = "app", headers: [String: String] = [:]) async throws -> File {
        let request = WireRequest(method: "GET", path: "/files/\(app)/\(name)", headers: headers)
        let reply = await service.respond(to: request) { print("failed: \($0)") }
        var bytes = reply.body
        while let piece = try await reply.file?.bytes.next() { bytes += piece }
        return File(
            status: reply.status, type: reply.file?.contentType, headers: reply.headers,
            text: String(decoding: bytes, as: UTF8.self))
    }

    /// Signs up an anonymous user.
    func signUpAnonymously() async throws -> Person {
        let reply = try await send(
            "POST", "/users", ["authData": ["anonymous": ["id": "0123456789"]]], isMaster: false)
        return Person(
            id: try #require(reply["objectId"]?.string), token: try #require(reply["sessionToken"]?.string))
    }
}
