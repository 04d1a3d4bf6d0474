#if Server
import BenchmarkReport
import Foundation
import Hummingbird
import Logging
import Metrics
import RelataParse
import RelataServer

/// The servers that this program runs if it is started as one of them.
enum ServerChild {
    static func run(_ arguments: [String]) async throws {
        endWithParent()
        switch (arguments.first, arguments.count) {
        case ("relata", 2): try await serve(.open(arguments[1]))
        case ("relata", 3): try await serve(.open(arguments[1]), files: arguments[2])
        case ("followed", 3): try await serveFollowed(.open(arguments[1]), clients: Int(arguments[2]) ?? 0)
        case ("bare", 2): try await serveBare(Int(arguments[1]) ?? 0)
        case ("bare-sockets", 2): try await BareSockets.serve(Int(arguments[1]) ?? 0, started: say)
        case ("bare-files", 2): try await BareFiles.serve(arguments[1], started: say)
        default: throw Failure("no server is called so: \(arguments.joined(separator: " "))")
        }
    }

    /// Ours, as `relata serve` starts it.
    ///
    /// - Parameter files: The folder of the files, if there are any.
    private static func serve(_ store: ParseStore, files: String? = nil) async throws {
        let metrics = PrometheusMetrics()
        MetricsSystem.bootstrap(metrics)
        LoggingSystem.bootstrap { label in StreamLogHandler.standardError(label: label) }
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        let keys = ServerKeys(
            applicationID: SampleLibrary.applicationID, clientKey: SampleLibrary.clientKey, masterKey: "master")
        var options = ParseService.Options()
        options.files = try files.map { FileOptions(storage: try FolderStorage($0)) }
        options.files?.maximumSize = 1 << 31
        let server = try RelataServer(
            store, keys: keys, options: options, configuration: configuration, metrics: metrics)
        try await server.run { address in say(address.port) }
    }

    /// The same, with clients of live queries in its own process.
    private static func serveFollowed(_ store: ParseStore, clients count: Int) async throws {
        let service = ParseService(store, keys: ParseKeys(applicationID: SampleLibrary.applicationID))
        try await service.add(0)
        try await LiveClients(service, count: count).takeEverything()
        try await serve(store)
    }

    /// The limit: routes of Hummingbird that answer every request with the same bytes.
    private static func serveBare(_ size: Int) async throws {
        let router = Router()
        let body = ByteBuffer(repeating: UInt8(ascii: "x"), count: size)
        let fields: HTTPFields = [.contentType: "application/json; charset=utf-8"]
        router.get("/parse/classes/:class/:id") { _, _ in
            Response(status: .ok, headers: fields, body: .init(byteBuffer: body))
        }
        router.post("/parse/classes/:class") { request, _ in
            _ = try await request.body.collect(upTo: 1 << 20)
            return Response(status: .created, headers: fields, body: .init(byteBuffer: body))
        }
        var logger = Logger(label: "bare")
        logger.logLevel = .critical
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { say($0.localAddress?.port ?? 0) }, logger: logger)
        try await application.runService()
    }

    @Sendable private static func say(_ port: Int) {
        print(port)
        fflush(nil)
    }

    /// The process that started this one holds the other end of its input.
    private static func endWithParent() {
        Thread.detachNewThread {
            while let data = try? FileHandle.standardInput.read(upToCount: 1024), !data.isEmpty {}
            exit(0)
        }
    }
}
#endif
