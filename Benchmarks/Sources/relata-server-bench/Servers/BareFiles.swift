#if Server
import BenchmarkReport
import Foundation
import Hummingbird
import Logging

/// The limit for files: routes of Hummingbird that write a body to a file, sync it to the disk as Relata does, and send
/// that file.
enum BareFiles {
    /// Serves until the process ends.
    static func serve(_ path: String, started: @escaping @Sendable (Int) -> Void) async throws {
        let router = Router()
        let files = FileIO(threadPool: .singleton)
        router.post("/file") { request, context in
            try await files.writeFile(contents: request.body, path: path, context: context)
            let descriptor = open(path, O_RDONLY)
            defer { close(descriptor) }
            guard descriptor >= 0, fsync(descriptor) == 0 else { throw Failure("\(path) can't be written") }
            return Response(status: .created, body: .init(byteBuffer: ByteBuffer(string: "{}")))
        }
        router.get("/file") { _, context in
            Response(status: .ok, body: try await files.loadFile(path: path, context: context))
        }
        var logger = Logger(label: "bare")
        logger.logLevel = .critical
        let application = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { started($0.localAddress?.port ?? 0) }, logger: logger)
        try await application.runService()
    }
}
#endif
