// A server on Hummingbird: HTTP for any protocol, and Parse's from RelataParse, which only the files of `Parse` use.
// Everything in this target requires the trait `Server`, so that an app that only imports `Relata` builds none of it.

#if Server
import HummingbirdCore
import HummingbirdTLS
import Logging
import NIOCore
import NIOPosix
import RelataCore
import ServiceLifecycle
import Synchronization
import UnixSignals

/// Serves a store to Parse's clients, or any other protocol (``ServedProtocol``).
///
/// ```swift
/// let store = try await Store.open("library.sqlite", for: Book.self)
/// let server = try RelataServer(store, keys: KeyFile("library.keys").keys)
/// try await server.run()
/// ```
public final class RelataServer: Service {
    /// The configuration that the server was started with.
    public let configuration: Configuration
    /// The server's metrics; other parts of an app may use it as well.
    public let metrics: PrometheusMetrics

    let responder: RequestResponder
    private let channel: HTTPServerBuilder
    let logger: Logger
    let served: any ServedProtocol
    private let others: [MountedProtocol]
    /// The users of the dashboard; `nil` for none.
    let sessions: LoginSessions?
    /// Called when keys are replaced; `nil` for a protocol without keys.
    let rotation: KeyRotation?
    private let group = Mutex<ServiceGroup?>(nil)

    /// A server for any protocol.
    ///
    /// - Parameters:
    ///   - served: The protocol. It is closed with the server.
    ///   - configuration: The addresses that the server listens on, and the path that the protocol is below.
    ///   - metrics: The metrics to use.
    ///   - logger: The log.
    /// - Throws: `RelataError` for an invalid configuration, and for files of HTTPS that can't be read.
    public convenience init(
        protocol served: any ServedProtocol, configuration: Configuration = Configuration(),
        metrics: PrometheusMetrics = PrometheusMetrics(), logger: Logger = Logger(label: "relata")
    ) throws {
        try self.init(
            protocol: served, and: [], sessions: nil, rotation: nil, slow: nil,
            configuration: configuration, metrics: metrics,
            logger: logger)
    }

    /// - Parameters:
    ///   - others: Protocols with their own paths.
    ///   - sessions: The users of the dashboard.
    ///   - rotation: Called when keys are replaced.
    ///   - slow: Records slow requests.
    init(
        protocol served: any ServedProtocol, and others: [MountedProtocol], sessions: LoginSessions?,
        rotation: KeyRotation?, slow: SlowRequests?, configuration: Configuration,
        metrics: PrometheusMetrics, logger: Logger
    ) throws {
        try configuration.check()
        self.configuration = configuration
        self.metrics = metrics
        self.logger = logger
        self.served = served
        self.others = others
        self.sessions = sessions
        self.rotation = rotation
        responder = RequestResponder(
            served, and: others, configuration, slow: slow, metrics: metrics, logger: logger)
        let connection = ConnectionChannel(responder: responder, limits: configuration.limits)
        if let tls = try configuration.tls?.read() {
            let secure = try TLSChannel(connection, tlsConfiguration: tls)
            channel = HTTPServerBuilder { _ in secure }
        } else {
            channel = HTTPServerBuilder { _ in connection }
        }
    }

    // MARK: Running

    /// Serves until it is stopped: by SIGINT or SIGTERM, by ``stop()``, or because its task is cancelled.
    ///
    /// Running requests are finished, for as long as ``Configuration/stopTimeout`` allows. Then the protocol and its
    /// store are closed.
    ///
    /// - Throws: `RelataError` if the server can't listen on the address, and errors of closing.
    public func run() async throws { try await run { _ in } }

    /// Serves as ``run()``, and reports the address.
    ///
    /// - Parameter started: Called with the address once clients are served.
    /// - Throws: The errors of ``run()``.
    public func run(started: @escaping @Sendable (ServerAddress) -> Void) async throws {
        let listener = Listener(
            service: try makeService(started), responder: responder, configuration: configuration)
        var group = ServiceGroupConfiguration(
            services: [.init(service: listener, successTerminationBehavior: .gracefullyShutdownGroup)],
            gracefulShutdownSignals: configuration.stopsOnSignals ? [.sigint, .sigterm] : [], logger: quietLogger)
        group.maximumGracefulShutdownDuration = configuration.stopTimeout
        let serviceGroup = ServiceGroup(configuration: group)
        self.group.withLock { $0 = serviceGroup }
        let work = Task { [logger] in
            await withTaskGroup { group in
                for served in others.map(\.served) + [served] {
                    group.addTask { await served.work { RequestResponder.logWork($0, logger) } }
                }
            }
        }
        let result: Result<Void, any Error>
        do {
            result = .success(try await serviceGroup.run())
        } catch {
            result = .failure(error)
        }
        self.group.withLock { $0 = nil }
        work.cancel()
        await work.value
        // Each is closed, even if one before it failed.
        let closed = (others.map(\.served) + [served]).map { served in Result { try served.close() } }
        try result.get()
        for end in closed { try end.get() }
    }

    /// Ends ``run()``, like SIGTERM.
    public func stop() async {
        let group = group.withLock { $0 }
        await group?.triggerGracefulShutdown()
    }

    private func makeService(_ started: @escaping @Sendable (ServerAddress) -> Void) throws -> any Service {
        let connections = FileDescriptors.connections(wanted: configuration.limits.connections)
        if connections < configuration.limits.connections {
            logger.notice(
                "the system allows fewer connections than configured",
                metadata: ["connections": "\(connections)", "configured": "\(configuration.limits.connections)"])
        }
        let listening = ServerConfiguration(
            address: .hostname(configuration.host, port: configuration.port), backlog: 1024,
            availableConnectionsDelegate: MaximumAvailableConnections(connections, logger: quietLogger))
        return try channel.buildServer(
            configuration: listening, eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: quietLogger,
            responder: { _, _, _ in },
            onServerRunning: { [logger, configuration, others, served] channel in
                try? await channel.pipeline.addHandler(AcceptErrorHandler(logger), position: .first)
                let port = channel.localAddress?.port ?? configuration.port
                let address = ServerAddress(configuration, port: port)
                for served in others.map(\.served) + [served] { served.started(at: address) }
                started(address)
            })
    }

    /// Messages of other parts are for debugging only.
    private var quietLogger: Logger {
        var quiet = logger
        if quiet.logLevel > .debug { quiet.logLevel = .critical }
        return quiet
    }
}

/// The address on which a server listens.
public struct ServerAddress: Hashable, Sendable {
    /// The host as it was configured.
    public let host: String
    /// The port, also if any free one was requested.
    public let port: Int
    /// The address of the protocol: `http://127.0.0.1:1337/parse`.
    public let url: String
    /// The address without a path: `http://127.0.0.1:1337`.
    public let origin: String

    /// The address of the dashboard, if there is one: `http://127.0.0.1:1337/dashboard/`.
    public var dashboard: String { origin + RelataServer.Dashboard.mount + "/" }

    init(_ configuration: RelataServer.Configuration, port: Int) {
        host = configuration.host
        self.port = port
        let name = host.contains(":") ? "[\(host)]" : host
        origin = "\(configuration.tls == nil ? "http" : "https")://\(name):\(port)"
        url = origin + Mount(configuration.mount).path
    }
}
#endif
