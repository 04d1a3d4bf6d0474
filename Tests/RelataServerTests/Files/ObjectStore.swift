#if Server
import Foundation
import RelataParse
import Testing

@testable import RelataServer

/// A store with S3's interface, of another maker, for all tests. It checks signatures, and ends with this process.
final class ObjectStore: Sendable {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../ObjectStore").standardizedFileURL

    /// The Python with the store installed; `nil` if it isn't available.
    private static let python: String? = {
        let place = folder.appending(path: "../../.build/objectstore").standardizedFileURL.path
        let process = Process()
        process.executableURL = folder.appending(path: "prepare")
        process.arguments = [place]
        let output = Pipe()
        process.standardOutput = output
        guard (try? process.run()) != nil else { return nil }
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? text.trimmingCharacters(in: .whitespacesAndNewlines) : nil
    }()

    /// Whether such a store exists, or can be installed.
    static var isThere: Bool { python != nil }

    /// The only one.
    static let shared = Result { try ObjectStore() }

    /// The bucket, and who may use it.
    private let place: S3Storage.Place
    /// Its end ends the store.
    private let input = Pipe()

    private init() throws {
        let process = Process()
        let python = try #require(Self.python)
        process.executableURL = URL(fileURLWithPath: python)
        process.arguments = [Self.folder.appending(path: "server.py").path]
        process.standardInput = input
        process.standardError = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var line = Data()
        while line.last != 0x0A {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            line += more
        }
        let json = try JSONParser.parse(Array(line))
        var place = S3Storage.Place(
            bucket: "files", accessKey: json["key"]?.string ?? "", secretKey: json["secret"]?.string ?? "")
        place.endpoint = try #require(json["endpoint"]?.string, "the store doesn't start")
        self.place = place
    }

    /// A part of the bucket for one test, with small parts.
    static func storage(_ configure: (inout S3Storage.Place) -> Void = { _ in }) throws -> S3Storage {
        var place = try shared.get().place
        place.prefix = UUID().uuidString + "/"
        configure(&place)
        var storage = try S3Storage(place)
        (storage.partSize, storage.pieceSize) = (2000, 700)
        storage.bucket.retries = [0.01]
        return storage
    }

    /// The names of all objects, without the storage's prefix.
    static func names(_ storage: S3Storage) async throws -> [String] {
        let reply = try await storage.bucket.send(
            S3Bucket.Request(method: .GET, key: "", query: [("list-type", "2")], limit: 1 << 20), expecting: [200])
        let prefix = storage.place.prefix
        return String(decoding: reply.body, as: UTF8.self).components(separatedBy: "<Key>").dropFirst().compactMap {
            $0.components(separatedBy: "</Key>").first
        }.filter { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }
}
#endif
