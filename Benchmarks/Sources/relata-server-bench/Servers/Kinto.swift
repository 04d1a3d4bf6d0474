#if Server
import BenchmarkReport
import Foundation

/// Kinto, a server for JSON objects written in Python.
final class Kinto: Sendable {
    /// The storage of its objects.
    enum Backend: Sendable {
        case memory
        /// In the database at that address.
        case postgresql(String)
    }

    static let memoryName = "Kinto"
    static let postgresqlName = "Kinto PostgreSQL"
    /// The same target for both backends: either may be the faster one.
    static let targets: [Target] = [.faster(10, than: memoryName), .faster(10, than: postgresqlName)]

    private static let collection = "/v1/buckets/library/collections/books"
    /// The collection for new objects, so that the other one keeps its size: larger collections are slower to list.
    private static let growing = "/v1/buckets/library/collections/new"

    private let server: ServerProcess
    let name: String
    let get: HTTPCall
    let create: HTTPCall
    let list: HTTPCall
    var port: Int { server.port }

    /// Starts it and gives it books.
    init(python: String, _ backend: Backend, _ directory: WorkDirectory, books: [String]) throws {
        name = backend.name
        Report.say("starting \(name) …")
        let settings = try directory.file("\(backend.module).ini")
        try Self.settings(backend).write(toFile: settings, atomically: true, encoding: .utf8)
        let program = try directory.file("serve.py")
        try Self.program.write(toFile: program, atomically: true, encoding: .utf8)
        server = try ServerProcess(
            URL(filePath: python), [program, settings], log: try directory.file("\(backend.module).log"))
        let connection = try ServerConnection(port: server.port)
        for path in ["/v1/buckets/library", Self.collection, Self.growing] {
            _ = try connection.answer(HTTPCall(method: "PUT", paths: [path], bodies: ["{}"]))
        }
        var ids: [String] = []
        for start in stride(from: 0, to: books.count, by: 100) {
            let requests = (start..<min(start + 100, books.count)).map { number in
                ids.append("book-\(number)")
                return #"{"path": "\#(Self.collection)/records/book-\#(number)", "body": {"data": \#(books[number])}}"#
            }
            let body =
                #"{"defaults": {"method": "PUT"}, "requests": [\#(requests.joined(separator: ", "))]}"#
            _ = try connection.answer(HTTPCall(method: "POST", paths: ["/v1/batch"], bodies: [body]))
        }
        get = HTTPCall(paths: ids.map { "\(Self.collection)/records/\($0)" })
        create = HTTPCall(
            method: "POST", paths: ["\(Self.growing)/records"], bodies: books.map { #"{"data": \#($0)}"# })
        list = HTTPCall(paths: ["\(Self.collection)/records?_limit=100"])
    }

    private static func settings(_ backend: Backend) -> String {
        var lines = [
            "[app:main]", "use = egg:kinto", "kinto.bucket_create_principals = system.Everyone",
            "kinto.bucket_write_principals = system.Everyone", "kinto.batch_max_requests = 100",
            "kinto.includes =", "kinto.userid_hmac_secret = relata", "multiauth.policies = basicauth",
        ]
        for part in ["storage", "cache", "permission"] {
            lines.append("kinto.\(part)_backend = kinto.core.\(part).\(backend.module)")
            if case .postgresql(let address) = backend { lines.append("kinto.\(part)_url = \(address)") }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// Serves with waitress, like `kinto start`, and ends with the process that started it.
    private static let program = """
        import logging, os, sys, threading, warnings
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        from pyramid.paster import get_app
        from waitress.server import create_server
        threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
        app = get_app(sys.argv[1])
        for backend in (app.registry.storage, app.registry.cache, app.registry.permission):
            backend.initialize_schema()
        server = create_server(app, host="127.0.0.1", port=0)
        print(server.effective_port, flush=True)
        server.run()

        """
}

extension Kinto.Backend {
    fileprivate var name: String {
        switch self {
        case .memory: Kinto.memoryName
        case .postgresql: Kinto.postgresqlName
        }
    }

    /// Kinto's name for it.
    fileprivate var module: String {
        switch self {
        case .memory: "memory"
        case .postgresql: "postgresql"
        }
    }
}
#endif
