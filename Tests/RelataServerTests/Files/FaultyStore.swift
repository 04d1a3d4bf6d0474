#if Server
import Foundation
import NIOHTTP1
import RelataParse
import Synchronization

@testable import RelataServer

/// A store with S3's interface that fails when a test wants it to.
final class FaultyStore: Sendable {
    private struct State {
        var objects: [String: [UInt8]] = [:]
        /// The parts of uploads that aren't complete, by the names of the objects.
        var uploads: [String: [[UInt8]]] = [:]
        var fault: (@Sendable (WebhookServer.Call) -> WebhookServer.Answer?)?
    }

    private let state = Mutex(State())

    /// Runs `body` with a storage in a running store. The storage has small parts.
    static func running<Result: Sendable>(
        _ body: (FaultyStore, S3Storage) async throws -> Result
    ) async throws -> Result {
        let store = FaultyStore()
        return try await WebhookServer.running({ store.answer($0) }) { server in
            var place = S3Storage.Place(bucket: "files", accessKey: "key", secretKey: "secret")
            place.endpoint = "http://127.0.0.1:\(server.port)"
            var storage = try S3Storage(place)
            (storage.partSize, storage.pieceSize) = (2000, 700)
            storage.bucket.retries = [0.01]
            return try await body(store, storage)
        }
    }

    /// The contents of all objects, as text.
    var texts: [String] { state.withLock { $0.objects.values.map { String(decoding: $0, as: UTF8.self) }.sorted() } }
    /// The number of uploads that aren't complete.
    var uploads: Int { state.withLock { $0.uploads.count } }

    /// Fails from now on.
    ///
    /// - Parameter fault: The answer for a request; `nil` for the right one. `nil` itself to work again.
    func fail(_ fault: (@Sendable (WebhookServer.Call) -> WebhookServer.Answer?)?) {
        state.withLock { $0.fault = fault }
    }

    /// An answer of a store that is too busy.
    static let busy = WebhookServer.Answer(status: .serviceUnavailable, body: "<Error><Code>SlowDown</Code></Error>")

    /// Changes the last byte of each object.
    func damage() {
        state.withLock { state in
            state.objects = state.objects.mapValues { bytes in
                var damaged = bytes
                if let last = damaged.indices.last { damaged[last] ^= 1 }
                return damaged
            }
        }
    }

    private func answer(_ call: WebhookServer.Call) -> WebhookServer.Answer? {
        let parts = call.path.split(separator: "?", maxSplits: 1).map(String.init)
        let (key, query) = (parts.first ?? "", parts.count > 1 ? parts[1] : "")
        return state.withLock { state in
            if let answer = state.fault?(call) { return answer }
            switch call.method {
            case "POST" where query == "uploads=":
                state.uploads[key] = []
                return WebhookServer.Answer(body: "<Result><UploadId>1</UploadId></Result>")
            case "POST":
                state.objects[key] = state.uploads.removeValue(forKey: key)?.flatMap(\.self)
                return WebhookServer.Answer(body: "<Result></Result>")
            case "PUT" where !query.isEmpty:
                state.uploads[key]?.append(call.body)
                return WebhookServer.Answer(headers: ["ETag": "\"1\""], body: "")
            case "PUT":
                let source = call.headers.first(name: "x-amz-copy-source")
                state.objects[key] = source.map { state.objects[$0] ?? [] } ?? call.body
                return WebhookServer.Answer(body: "<Result></Result>")
            case "DELETE":
                if query.isEmpty { state.objects[key] = nil } else { state.uploads[key] = nil }
                return WebhookServer.Answer(status: .noContent, body: "")
            default:
                guard let bytes = state.objects[key] else {
                    return WebhookServer.Answer(status: .notFound, body: "<Error><Code>NoSuchKey</Code></Error>")
                }
                let range = (call.headers.first(name: "range") ?? "bytes=0-0").dropFirst(6).split(separator: "-")
                    .compactMap { Int($0) }
                guard range.count == 2, range[0] < bytes.count else {
                    return WebhookServer.Answer(
                        status: .rangeNotSatisfiable, body: "<Error><Code>InvalidRange</Code></Error>")
                }
                let end = min(range[1] + 1, bytes.count)
                return WebhookServer.Answer(
                    status: .partialContent,
                    headers: ["Content-Range": "bytes \(range[0])-\(end - 1)/\(bytes.count)"],
                    body: String(decoding: bytes[range[0]..<end], as: UTF8.self))
            }
        }
    }
}
#endif
