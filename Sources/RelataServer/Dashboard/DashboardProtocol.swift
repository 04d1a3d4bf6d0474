#if Server
import Logging
import RelataCore
import RelataParse

/// The requests of the dashboard's pages: signing in, Parse's protocol with all rights for signed-in users, and
/// information that Parse's protocol doesn't have.
struct DashboardProtocol: ParseForm {
    private let service: ParseService
    /// The service of clients, which has the files and their addresses.
    private let clients: ParseService
    /// The master key of the service, which only this process knows. In a dashboard that only reads, so does the key.
    private let serviceKey: String
    private let sessions: LoginSessions
    private let changes: RecentChanges
    private let slow: SlowRequests
    private let audit: AuditLog
    private let metrics: PrometheusMetrics
    private let routesOfTransfers: TransferRoutes
    private let dashboard: RelataServer.Dashboard
    private let logger: Logger
    /// Cookies don't know ports: two servers on one machine have each their own.
    private let cookieName = "relata-\(ServerKeys.newKey().prefix(6))"
    private let cookieAttributes: String
    let maximumReply: Int
    let maximumThreads: Int

    static let mount = RelataServer.Dashboard.mount + "/api"
    private static let serviceMount = "/parse"
    private static let pageTokenHeader = "x-relata-page-token"
    private static let viewHeader = "x-relata-view-as"
    private static let maximumLogin = 4096
    /// The path of requests that only read, although they have a body.
    private static let comparison = "/schema/comparison"
    private static let deployment = "/schema/deployment"

    private static let maximumPiece = 4 * 1024 * 1024

    /// - Parameters:
    ///   - clients: The service of the store's clients.
    ///   - audit: The log of changes.
    ///   - slow: The slow requests of the whole server.
    ///   - metrics: The server's metrics.
    init(
        _ store: ParseStore, _ options: ParseService.Options, clients: ParseService, sessions: LoginSessions,
        dashboard: RelataServer.Dashboard, audit: AuditLog, configuration: RelataServer.Configuration,
        slow: SlowRequests, metrics: PrometheusMetrics, logger: Logger
    ) {
        var options = options
        options.mount = Self.mount + Self.serviceMount
        // Objects are shown as they are stored, without the addresses of their files, which the protocol adds.
        options.files = nil
        // A user who signed in to the dashboard has the master key.
        options.rateLimits = []
        options.isAudited = true
        let key = ServerKeys.newKey()
        var keys = ParseKeys(applicationID: "dashboard")
        let isKey: ParseKeys.Check = { ConstantTime.areEqual($0, key) }
        if dashboard.isReadOnly { keys.isReadOnlyMasterKey = isKey } else { keys.isMasterKey = isKey }
        service = ParseService(store, keys: keys, options: options)
        serviceKey = key
        self.clients = clients
        self.sessions = sessions
        changes = RecentChanges(store)
        self.slow = slow
        self.audit = audit
        self.metrics = metrics
        routesOfTransfers = TransferRoutes(
            transfers: Transfers(), store: store,
            pieceSize: min(Self.maximumPiece, configuration.limits.bodySize, options.maximumReply),
            maximumImport: dashboard.maximumImport, isReadOnly: dashboard.isReadOnly)
        self.dashboard = dashboard
        self.logger = logger
        cookieAttributes = "; HttpOnly; SameSite=Strict" + (configuration.tls == nil ? "" : "; Secure")
        maximumReply = options.maximumReply
        maximumThreads = store.maximumThreads
    }

    var headerNames: [String] {
        ["cookie", Self.pageTokenHeader, Self.viewHeader, "sec-fetch-site", "content-type", "x-parse-request-id"]
    }

    /// Pages of other origins have nothing to do here.
    var preflight: ServerReply { ServerReply(status: 204, contentType: "text/plain") }

    var routes: [String] { ["dashboard"] }

    func route(of path: Substring) -> String { "dashboard" }

    func maximumBody(path: String, headers: [String: String]) throws(ServerRefusal) -> Int? {
        switch path {
        case "/session", "/login": return Self.maximumLogin
        default:
            _ = try session(headers)
            return nil
        }
    }

    /// An uploaded file is stored while it arrives.
    func maximumStream(method: String, path: String, headers: [String: String]) throws(ServerRefusal) -> Int? {
        guard method == "POST", path.hasPrefix("/files/") else { return nil }
        _ = try session(headers)
        return clients.maximumFile
    }

    /// Delivers pending notices for webhooks when the server stops.
    func work(report: @escaping @Sendable (any Error) -> Void) async {
        while !Task.isCancelled { try? await Task.sleep(for: .seconds(86_400)) }
        await service.stopWebhooks()
    }

    // MARK: Answers

    func respond(to request: ServerRequest, report: @Sendable (any Error) -> Void) async -> ServerReply {
        do throws(ServerRefusal) {
            switch (request.method, request.path) {
            case ("GET", "/session"): return reply(describing: (try? session(of: request, isOfPage: false)))
            case ("POST", "/login"): return try signIn(request)
            case ("POST", "/logout"):
                _ = try session(of: request)
                if let cookie = cookie(request.headers) { sessions.signOut(cookie) }
                return cookieReply("", "; Max-Age=0", session: nil)
            default:
                let session = try session(of: request)
                let subject = try subject(request.headers)
                if request.method != "GET", subject != nil {
                    throw ServerRefusal(.unauthorized, "a view as another user is read-only", status: 403)
                }
                if let reply = try moved(request, session) { return reply }
                if request.method != "GET", dashboard.isReadOnly, request.path != Self.comparison {
                    throw ServerRefusal(.unauthorized, "this dashboard only reads", status: 403)
                }
                if let reply = await files(request, session, as: subject, report: report) { return reply }
                if let reply = await schemaFile(request, session, report: report) { return reply }
                return await answer(request, session, as: subject, report: report)
            }
        } catch {
            return render(error)
        }
    }

    private func answer(
        _ request: ServerRequest, _ session: LoginSessions.Session, as subject: AccessSubject?,
        report: @Sendable (any Error) -> Void
    ) async -> ServerReply {
        let mount = Mount(Self.serviceMount)
        if let path = mount.rest(of: request.path[...]) {
            var forwarded = WireRequest(request)
            forwarded.path = String(path)
            forwarded.headers = request.headers.filter { ["content-type", "x-parse-request-id"].contains($0.key) }
            forwarded.headers["x-parse-application-id"] = "dashboard"
            forwarded.headers["x-parse-master-key"] = serviceKey
            let reply = await service.respond(to: forwarded, as: subject, report: report)
            // A request may be malformed, or change something although it is a GET.
            if request.method != "GET" || reply.audited != nil {
                let isBatch = path == "/batch" && reply.status == 200
                note(request, session, reply.status, isBatch ? AuditLog.details(of: request.body, reply.body) : [])
            }
            return ServerReply(reply)
        }
        guard request.method == "GET" else {
            return render(.nothingHere)
        }
        if let json = inside(request) { return ServerReply(WireReply(json)) }
        let inspection = await service.inspection(
            request.path, query: request.query, as: subject, report: report)
        return inspection.map { ServerReply($0) } ?? render(.nothingHere)
    }

    /// Answers a request about files.
    private func files(
        _ request: ServerRequest, _ session: LoginSessions.Session, as subject: AccessSubject?,
        report: @Sendable (any Error) -> Void
    ) async -> ServerReply? {
        // The list shows all files, regardless of who may read the objects that refer to them.
        guard subject == nil else { return nil }
        let reply = await clients.filesForDashboard(
            request.method, request.path, query: request.query,
            upload: (request.stream, request.headers["content-type"]), report: report)
        guard let reply else { return nil }
        if request.method != "GET" { note(request, session, reply.status) }
        return ServerReply(reply)
    }

    /// Answers a request about the classes as a file.
    private func schemaFile(
        _ request: ServerRequest, _ session: LoginSessions.Session, report: @Sendable (any Error) -> Void
    ) async -> ServerReply? {
        let answer = await service.schemaFileForDashboard(
            request.method, request.path, body: request.body, report: report)
        guard let answer else { return nil }
        if request.path == Self.deployment {
            note(request, session, answer.reply.status, AuditLog.details(answer.changes))
        }
        return ServerReply(answer.reply)
    }

    /// The caller whose view of the store a page shows; `nil` for the master key.
    ///
    /// - Throws: `ServerRefusal` 400 for an invalid name, because the page must not fall back to the rights of the
    ///   master key.
    private func subject(_ headers: [String: String]) throws(ServerRefusal) -> AccessSubject? {
        guard let name = headers[Self.viewHeader] else { return nil }
        if name == "nobody" { return .nobody }
        let parts = name.split(separator: ":", maxSplits: 1).map(String.init)
        switch (parts.first, parts.count) {
        case ("user", 2): return .user(parts[1])
        case ("role", 2): return .role(parts[1])
        default:
            throw ServerRefusal(.malformed, "\(Self.viewHeader) must be nobody, user:ID or role:NAME", status: 400)
        }
    }

    /// The state and the history of the server.
    private func inside(_ request: ServerRequest) -> JSONValue? {
        switch request.path {
        case "/changes": return changes.versions
        case "/feed":
            let parts = request.query.split(separator: "=")
            return changes.feed(after: parts.first == "after" ? parts.last.flatMap { Int($0) } ?? 0 : 0)
        case "/slow": return slow.json
        case "/audit": return audit.json
        case "/metrics":
            ServerMetrics.measureMemory(metrics)
            return ["text": .string(metrics.text())]
        default: return nil
        }
    }

    /// Answers a request of an export or an import.
    private func moved(
        _ request: ServerRequest, _ session: LoginSessions.Session
    ) throws(ServerRefusal) -> ServerReply? {
        let audit = audit
        let entry = AuditLog.Entry(session: session.name, peer: request.peer ?? "", action: "", status: 200)
        let reply: ServerReply
        do {
            let answer = try routesOfTransfers.respond(to: request) { action, status in
                var ended = entry
                (ended.action, ended.status) = (action, status)
                audit.add(ended)
            }
            guard let answer else { return nil }
            reply = answer
        } catch let refusal as ServerRefusal {
            throw refusal
        } catch let refusal as Transfer.Refusal {
            reply = refusal.reply
        } catch {
            reply = ServerReply(WireReply(ParseError(error)))
        }
        // An import may have thousands of pieces.
        if request.method == "POST" { note(request, session, reply.status) }
        return reply
    }

    /// Records every request for a change: its user, its objects and its outcome.
    private func note(
        _ request: ServerRequest, _ session: LoginSessions.Session, _ status: Int, _ details: [String] = []
    ) {
        audit.add(
            AuditLog.Entry(
                session: session.name, peer: request.peer ?? "",
                action: "\(request.method) \(request.path.prefix(512))", status: status, details: details))
    }

    func close() throws { routesOfTransfers.transfers.close() }

    // MARK: Sessions

    private func signIn(_ request: ServerRequest) throws(ServerRefusal) -> ServerReply {
        try checkSite(request.headers)
        guard let key = (try? JSONParser.parse(request.body))?["key"]?.string, !key.isEmpty else {
            throw ServerRefusal(.malformed, "signing in takes the master key or a token", status: 400)
        }
        do throws(LoginSessions.Refusal) {
            let (session, cookie) = try sessions.signIn(key, from: request.peer ?? "")
            logger.notice(
                "dashboard: signed in", metadata: ["session": "\(session.name)", "peer": "\(request.peer ?? "")"])
            return cookieReply(cookie, session: session)
        } catch {
            logger.notice("dashboard: an attempt to sign in failed", metadata: ["peer": "\(request.peer ?? "")"])
            switch error {
            case .unknownKey:
                throw ServerRefusal(
                    .unauthorized, "this is neither the master key nor a valid token", status: 403)
            case .tooMany(let seconds):
                var reply = render(
                    ServerRefusal(.noRoom, "too many attempts: try again in \(seconds) seconds", status: 429))
                reply.headers.append(("retry-after", "\(seconds)"))
                return reply
            }
        }
    }

    /// The session of a request.
    ///
    /// - Parameter isOfPage: Whether it must be of the page that signed in.
    private func session(
        of request: ServerRequest, isOfPage: Bool = true
    ) throws(ServerRefusal) -> LoginSessions.Session {
        let session = try session(request.headers, isOfPage: isOfPage)
        guard sessions.admits(session, from: request.peer) else {
            throw ServerRefusal(.unauthorized, "the master key isn't accepted from this address", status: 401)
        }
        return session
    }

    /// The session of a request from any address.
    private func session(
        _ headers: [String: String], isOfPage: Bool = true
    ) throws(ServerRefusal) -> LoginSessions.Session {
        try checkSite(headers)
        guard let cookie = cookie(headers), let session = sessions.session(cookie) else {
            throw ServerRefusal(.unauthorized, "sign in first", status: 401)
        }
        guard !isOfPage || ConstantTime.areEqual(headers[Self.pageTokenHeader] ?? "", session.pageToken) else {
            throw ServerRefusal(.unauthorized, "the request isn't one of the dashboard's page", status: 403)
        }
        return session
    }

    /// Browsers send the origin of a request; others still need the cookie and the token.
    private func checkSite(_ headers: [String: String]) throws(ServerRefusal) {
        guard let site = headers["sec-fetch-site"], site != "same-origin" else { return }
        throw ServerRefusal(.unauthorized, "the request is from another page", status: 403)
    }

    private func cookie(_ headers: [String: String]) -> String? {
        for pair in (headers["cookie"] ?? "").split(separator: ";") {
            let pair = pair.drop { $0 == " " }
            if pair.hasPrefix(cookieName + "=") { return String(pair.dropFirst(cookieName.count + 1)) }
        }
        return nil
    }

    private func cookieReply(_ value: String, _ more: String = "", session: LoginSessions.Session?) -> ServerReply {
        var reply = reply(describing: session)
        // Without a path, the cookie is sent to all paths beside this one, under any name that a proxy uses.
        reply.headers.append(("set-cookie", "\(cookieName)=\(value)\(cookieAttributes)\(more)"))
        return reply
    }

    private func reply(describing session: LoginSessions.Session?) -> ServerReply {
        // Only signed-in users see the name of the store.
        guard let session else { return ServerReply(WireReply(["pageToken": .null])) }
        return ServerReply(
            WireReply([
                "pageToken": .string(session.pageToken), "name": .string(dashboard.name),
                "isReadOnly": .bool(dashboard.isReadOnly),
            ]))
    }
}

extension ServerReply {
    fileprivate init(_ reply: InspectionReply) {
        self.init(status: reply.status, contentType: reply.contentType, body: reply.body)
    }
}
#endif
