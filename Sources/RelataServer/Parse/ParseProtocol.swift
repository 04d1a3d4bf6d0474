#if Server
import Foundation
import Logging
import Relata
import RelataCore
import RelataParse

extension RelataServer {
    /// A server for the models of a store, which clients see as classes they can't change.
    ///
    /// - Parameters:
    ///   - store: The store. It is closed with the server.
    ///   - keys: The keys that clients must send.
    ///   - options: The options for answering requests. The mount is that of the server.
    ///   - configuration: The configuration of the server.
    ///   - metrics: The server's metrics.
    ///   - logger: The log.
    ///   - configure: Sets the hooks before and after clients save and delete objects.
    /// - Throws: `RelataError` for an invalid configuration, for keys with different rights that are equal, and for
    ///   files of HTTPS that can't be read.
    public convenience init(
        _ store: Store, keys: ServerKeys, options: ParseService.Options = ParseService.Options(),
        configuration: Configuration = Configuration(), metrics: PrometheusMetrics = PrometheusMetrics(),
        logger: Logger = Logger(label: "relata"), hooks configure: (inout ModelHooks) throws -> Void = { _ in }
    ) throws {
        try self.init(
            ParseStore.serving(store, configure), keys: keys, options: options, configuration: configuration,
            metrics: metrics, logger: logger)
    }

    /// A server for a store of Parse's classes.
    ///
    /// - Throws: `RelataError` for an invalid configuration, for keys with different rights that are equal, and for
    ///   files of HTTPS that can't be read.
    public convenience init(
        _ store: ParseStore, keys: ServerKeys, options: ParseService.Options = ParseService.Options(),
        configuration: Configuration = Configuration(), metrics: PrometheusMetrics = PrometheusMetrics(),
        logger: Logger = Logger(label: "relata")
    ) throws {
        try keys.checkDifferent()
        var options = options
        options.mount = Mount(configuration.mount).path
        if options.secrets == nil { options.secrets = ScryptSecrets() }
        if options.webhooks == nil { options.webhooks = WebhookOptions(HTTPWebhooks()) }
        try options.check()
        if options.webhooks?.report == nil {
            options.webhooks?.report = { logger.error("a webhook failed", metadata: ["error": "\($0)"]) }
        }
        if options.mail?.report == nil {
            options.mail?.report = { logger.error("a mail wasn't sent", metadata: ["error": "\($0)"]) }
        }
        if options.code.report == nil {
            options.code.report = { logger.error("the app's code failed", metadata: ["error": "\($0)"]) }
        }
        if options.didConvert == nil {
            options.didConvert = { conversion in
                logger.notice(
                    "a column was converted for a client's number",
                    metadata: [
                        "class": "\(conversion.className)", "field": "\(conversion.field)",
                        "from": "\(conversion.oldType)", "to": "\(conversion.newType)",
                    ])
            }
        }
        let audit = AuditLog(configuration.dashboard?.auditFile, logger: logger)
        options.isAudited = audit.hasFile
        let ring = KeyRing(keys)
        let served = ParseProtocol(store, ring.parseKeys, options, audit, logger)
        let rotation = KeyRotation(ring: ring) { await served.keysChanged() }
        guard let dashboard = configuration.dashboard else {
            try self.init(
                protocol: served, and: [], sessions: nil, rotation: rotation, slow: nil,
                configuration: configuration,
                metrics: metrics, logger: logger)
            return
        }
        guard ![Dashboard.mount, DashboardProtocol.mount].contains(options.mount) else {
            throw RelataError.invalidUse("the mount \(options.mount) is the dashboard's: choose another")
        }
        let sessions = LoginSessions(ring)
        var withFiles = configuration
        withFiles.files[Dashboard.mount] = Dashboard.files
        let slow = SlowRequests()
        let pages = DashboardProtocol(
            store, options, clients: served.service, sessions: sessions, dashboard: dashboard, audit: audit,
            configuration: configuration, slow: slow, metrics: metrics, logger: logger)
        try self.init(
            protocol: served, and: [MountedProtocol(mount: Mount(DashboardProtocol.mount), served: pages)],
            sessions: sessions, rotation: rotation, slow: slow, configuration: withFiles,
            metrics: metrics, logger: logger)
    }

    /// The store with the rights of a user, a role or nobody, for code on the server outside a request.
    ///
    /// ```swift
    /// let notes = try await server.acting(as: .user(id)).find("Note")
    /// ```
    ///
    /// - Throws: `RelataError` for a server of another protocol than Parse's.
    public func acting(as subject: AccessSubject) throws -> CloudStore {
        guard let served = served as? ParseProtocol else {
            throw RelataError.invalidUse("this server's protocol isn't Parse's: it has no users")
        }
        return served.service.acting(as: subject)
    }
}

/// Parse's protocol on a store.
private struct ParseProtocol: ParseForm {
    private let store: ParseStore
    let service: ParseService
    private let hasPublicURL: Bool
    let maximumReply: Int
    private let allowsLiveQueries: Bool
    let headerNames: [String]
    private let audit: AuditLog
    private let logger: Logger

    init(
        _ store: ParseStore, _ keys: ParseKeys, _ options: ParseService.Options, _ audit: AuditLog, _ logger: Logger
    ) {
        self.audit = audit
        self.store = store
        self.logger = logger
        service = ParseService(store, keys: keys, options: options)
        maximumReply = options.maximumReply
        allowsLiveQueries = options.allowsLiveQueries
        headerNames = WireRequest.headerNames + options.code.headerNames.map { $0.lowercased() }
        hasPublicURL = options.files?.publicURL != nil
    }

    var maximumThreads: Int { store.maximumThreads }

    func maximumBody(path: String, headers: [String: String]) throws(ServerRefusal) -> Int? {
        do throws(ParseError) {
            return try service.maximumBody(path: path, headers: headers)
        } catch {
            throw ServerRefusal(.unauthorized, error.message, status: error.status)
        }
    }

    func maximumStream(
        method: String, path: String, headers: [String: String]
    ) throws(ServerRefusal) -> Int? {
        do throws(ParseError) {
            return try service.maximumUpload(method: method, path: path, headers: headers)
        } catch {
            throw ServerRefusal(.unauthorized, error.message, status: error.status)
        }
    }

    func started(at address: ServerAddress) {
        if !hasPublicURL { service.address.url = address.url }
    }

    func work(report: @escaping @Sendable (any Error) -> Void) async {
        async let jobs: Void = tendJobs(report)
        async let events: Void = tendEvents(report)
        async let mail: Void = tendMail(report)
        await tendFiles(report)
        await jobs
        await events
        await mail
        await service.stopWebhooks()
    }

    private func tendEvents(_ report: @Sendable (any Error) -> Void) async {
        while !Task.isCancelled {
            try? await Task.sleep(for: .seconds(10))
            // The last counts are stored when the server stops, too.
            do {
                try await Task { try await service.tendEvents() }.value
            } catch {
                report(error)
            }
        }
    }

    private func tendMail(_ report: @escaping @Sendable (any Error) -> Void) async {
        // A mail server that doesn't answer must not delay the end of this server.
        let probing = Task { [service] in
            repeat {
                if let error = await service.probeMail() { report(error) }
            } while (try? await Task.sleep(for: .seconds(60))) != nil
        }
        while (try? await Task.sleep(for: .seconds(3600))) != nil {}
        probing.cancel()
    }

    private func tendJobs(_ report: @Sendable (any Error) -> Void) async {
        while !Task.isCancelled {
            var next = Date(timeIntervalSinceNow: 5)
            do {
                next = try await service.tendJobs()
            } catch {
                if !Task.isCancelled { report(error) }
            }
            try? await Task.sleep(for: .seconds(max(0.05, next.timeIntervalSinceNow)))
        }
        await service.stopJobs()
    }

    private func tendFiles(_ report: @Sendable (any Error) -> Void) async {
        while (try? await Task.sleep(for: .seconds(600))) != nil {
            do {
                try await service.tendFiles()
            } catch {
                report(error)
            }
        }
    }

    func respond(to request: ServerRequest, report: @Sendable (any Error) -> Void) async -> ServerReply {
        let peer = request.peer
        let request = WireRequest(request)
        if let page = await service.page(for: request, report: report) {
            return ServerReply(
                status: page.status, contentType: "text/html; charset=utf-8", body: Array(page.html.utf8),
                headers: AccountPage.headers)
        }
        let reply = await service.respond(to: request, report: report)
        if let audited = reply.audited { await note(audited, request, reply, peer: peer) }
        return ServerReply(reply)
    }

    /// Adds an entry with the caller and the requested change to the audit log.
    private func note(_ audited: AuditedCall, _ request: WireRequest, _ reply: WireReply, peer: String?) async {
        let isDone = audited.isBatch && reply.status == 200
        let details = isDone ? AuditLog.details(of: request.body, reply.body) : audited.rights
        audit.add(
            AuditLog.Entry(
                session: await service.sender(of: audited), peer: peer ?? "", action: audited.action,
                status: reply.status, details: details), isLogged: false)
    }

    func webSocket(for request: ServerRequest) async throws(ServerRefusal) -> WebSocketSession? {
        guard allowsLiveQueries, request.path.isEmpty || request.path == "/" else { return nil }
        return LiveQuerySession(service: service, address: request.peer) { [logger] error in
            logger.error("live queries failed", metadata: ["error": "\(error)"])
        }.run
    }

    /// Disconnects clients whose keys aren't valid any more.
    func keysChanged() async { await service.keysChanged() }

    func problem() async -> String? {
        do {
            try await store.check()
            return nil
        } catch {
            return ParseError(error).message
        }
    }

    func health() async -> ServerHealth {
        let problem = await problem()
        let parts = await service.parts().map { ServerHealth.Part($0.name, problem: $0.problem) }
        return ServerHealth(problem: problem, parts: [.init("database", problem: problem)] + parts)
    }

    func close() throws { try store.close() }
}
#endif
