#if Server
import Foundation
import Logging
import RelataParse
import Synchronization
import TestSupport
import Testing

@testable import RelataServer
@testable import ServerClient

/// A server in this process, on a free port, for the time of a test.
struct TestServer {
    let port: Int
    private let server: RelataServer

    typealias Service = @Sendable (WireRequest) async -> WireReply

    /// Runs `body` while a server answers with `service`, then stops it and waits for its end.
    static func running<Result: Sendable>(
        _ configure: (inout RelataServer.Configuration) -> Void = { _ in },
        check: @escaping @Sendable () async throws -> Void = {},
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, threads: Int = 6,
        maximumReply: Int = 64 * 1024 * 1024, service: @escaping Service = echo,
        _ body: @escaping @Sendable (TestServer) async throws -> Result
    ) async throws -> Result {
        var configuration = RelataServer.Configuration()
        configure(&configuration)
        configuration.port = 0
        configuration.stopsOnSignals = false
        let form = TestForm(maximumThreads: threads, maximumReply: maximumReply, check: check, service: service)
        let server = try RelataServer(protocol: form, configuration: configuration, logger: logger)
        return try await running(server, body)
    }

    /// Does the same with a server that the test made.
    static func running<Result: Sendable>(
        _ server: RelataServer, _ body: @escaping @Sendable (TestServer) async throws -> Result
    ) async throws -> Result {
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let running = Task {
            defer { continuation.finish() }
            try await server.run { continuation.yield($0.port) }
        }
        guard let port = await ports.first(where: { _ in true }) else {
            try await running.value
            throw ServerConnection.Failure.refused
        }
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(TestServer(port: port, server: server)))
        } catch {
            result = .failure(error)
        }
        await server.stop()
        try await running.value
        return try result.get()
    }

    /// Begins to stop the server, and doesn't wait for its end.
    func stop() async { await server.stop() }

    /// Waits until the server has begun to stop, which happens some time after the request.
    func waitUntilStopping() async { await waitUntil { server.responder.isEnding } }

    /// The bytes of large bodies that the server holds.
    var heldBodyBytes: Int { server.responder.bodies.held }
    /// The bytes of large replies that clients haven't read yet.
    var heldReplyBytes: Int { server.responder.replies.held }
    /// The bytes of files that clients haven't read yet.
    var heldFileBytes: Int { server.responder.files.held }

    func connect(timeout: Double = 120, receiveBuffer: Int32? = nil) throws -> ServerConnection {
        try ServerConnection(port: port, timeout: timeout, receiveBuffer: receiveBuffer)
    }

    /// Sends one request on a separate connection, on a thread that may block.
    func request(
        _ method: String, _ path: String, headers: [String: String] = [:], body: [UInt8] = []
    ) async throws -> ServerReplyText {
        try await blocking { try connect().request(method, path, headers: headers, body: body) }
    }

    /// Replies with the content of the request.
    static let echo: Service = { request in
        WireReply([
            "method": .string(request.method), "path": .string(request.path), "query": .string(request.query),
            "headers": .object(JSONObject(request.headers.map { ($0, .string($1)) })),
            "length": .integer(Int64(request.body.count)),
            "body": .string(String(decoding: request.body.prefix(1000), as: UTF8.self)),
        ])
    }
}

/// A protocol of Parse's form with a test's service.
private struct TestForm: ParseForm {
    let maximumThreads: Int
    let maximumReply: Int
    let check: @Sendable () async throws -> Void
    let service: TestServer.Service

    func respond(to request: ServerRequest, report: @Sendable (any Error) -> Void) async -> ServerReply {
        ServerReply(await service(WireRequest(request)))
    }

    func problem() async -> String? {
        do {
            try await check()
            return nil
        } catch {
            return ParseError(error).message
        }
    }
}

extension ServerReplyText {
    /// The body as JSON.
    var json: JSONValue { get throws { try JSONParser.parse(body) } }
    /// The code of an error in Parse's form.
    var code: Int? { (try? json)?["code"]?.integer.map(Int.init) }
}

/// Runs code that waits for sockets on a separate thread, because Swift's threads are few, and the server needs them.
func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        let thread = Thread { continuation.resume(with: Swift.Result { try body() }) }
        thread.stackSize = 1 << 20
        thread.start()
    }
}

/// A folder that is deleted with the object.
final class ServerFolder: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("relata-server-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Writes a file that only its owner may read, as files of keys have to be.
    func write(_ text: String, to path: String) throws {
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
}
#endif
