import Foundation
import RelataCore
import RelataEngine

/// Answers requests of Parse's REST protocol from a store. It doesn't depend on HTTP, except for methods and statuses.
///
/// ```swift
/// let service = ParseService(try ParseStore.open("library.sqlite"), keys: ParseKeys(applicationID: "library"))
/// let reply = await service.respond(to: WireRequest(method: "GET", path: "/classes/Book", headers: headers))
/// ```
public final class ParseService: Sendable {
    /// The options for answering requests.
    public struct Options: Sendable {
        /// The path at which the protocol is served. Paths in batches may begin with it.
        public var mount = "/parse"
        /// The default limit of a query.
        public var defaultLimit = 100
        /// The maximum number of objects in a query's result; `nil` for no limit.
        public var maximumLimit: Int?
        /// The maximum number of requests in a batch; `nil` for no limit besides the size of its body.
        public var maximumBatch: Int?
        /// The maximum size of a reply, in bytes.
        public var maximumReply = 64 * 1024 * 1024
        /// The names that no member of an object may have in a request that writes.
        public var prohibitedNames = ProhibitedNames()
        /// Whether a class may have several fields of the type GeoPoint, which Parse's own server refuses.
        public var allowsSeveralGeoPoints = false
        /// Whether clients may choose the ids of new objects.
        public var allowsCustomObjectIDs = false
        /// Whether only requests with the master key change classes. Use can create classes without it.
        public var needsMasterKeyForSchemas = true
        /// The number of seconds that the reply to a request with an id is kept, for clients that send it again.
        public var requestLifetime = 300.0
        /// The largest reply that is stored for a repeated request. If the reply is larger, the repeated request is
        /// refused.
        public var maximumKeptReply = 1024 * 1024
        /// The total size of stored replies of more than 256 bytes each. The oldest are removed first.
        public var maximumKeptReplies = 64 * 1024 * 1024
        /// The files that are accepted, and their storage; `nil` for no files.
        public var files: FileOptions?
        /// Hashes passwords and tokens; `nil` for a store without users.
        public var secrets: (any SecretHashing)?
        /// The number of seconds that a user's session lasts.
        public var sessionLifetime = 365.0 * 24 * 3600
        /// Whether each use of a session extends it to the lifetime of a new one.
        public var extendsSessions = false
        /// The options for mail to users; `nil` for no mail.
        public var mail: MailOptions?
        /// The rules for users' passwords.
        public var passwords = PasswordOptions()
        /// The rules for locking an account after wrong passwords; `nil` for never.
        public var lockout: LockoutOptions?
        /// The other services by which users sign in, such as Apple and Google.
        public var signIn: [SignInProvider] = []
        /// The maximum size of a request's body, in bytes, if its keys aren't in header fields.
        public var maximumBodyWithoutKeys = 1024 * 1024
        /// The limits on clients' requests; none by default.
        public var rateLimits: [RateLimit] = []
        /// The functions that clients may call, and the jobs.
        public var code = CloudCode()
        /// The options for functions and triggers that other servers answer; `nil` for no webhooks. A store of an app's
        /// models has none.
        public var webhooks: WebhookOptions?
        /// Whether clients may follow queries over a WebSocket: see `Documentation/LiveQueries.md`.
        public var allowsLiveQueries = true
        /// The maximum number of a client's live queries.
        public var maximumLiveQueries = 1000
        /// The maximum number of objects that all live queries follow: each is kept in memory while it meets the
        /// conditions.
        public var maximumLiveObjects = 1_000_000
        /// The maximum number of bytes of events that wait for a slow client before it is disconnected.
        public var maximumLiveBacklog = 4 * 1024 * 1024
        /// The number of seconds that a live query is kept after its client disconnects, so that the client can resume
        /// it.
        public var liveResumeTime = 60.0
        /// The longest time, in seconds, that a live query may take to evaluate a step of changes. A query that takes
        /// longer in two consecutive steps is ended, because all others wait for it. The app's closures about live
        /// queries have the same limit.
        public var maximumLiveTime = 5.0

        /// Called after a column was converted because a client wrote a number that it couldn't hold. A server logs it by
        /// default.
        public var didConvert: (@Sendable (FieldConversion) -> Void)?

        /// Whether replies contain the record for an audit.
        package var isAudited = false
        /// Whether signing up begins a session.
        package var beginsSessions = true

        /// The defaults.
        public init() {}

        /// The options that a store can have.
        fileprivate func allowed(for store: ParseStore) -> Options {
            var options = self
            if store.models != nil {
                options.webhooks = nil
                // Models have hooks of their own.
                options.code.saves = [:]
                // They have no installations.
                options.code.sendPush = nil
            }
            options.code.allowsWebhooks = options.webhooks != nil
            return options
        }
    }

    let store: ParseStore
    let keys: ParseKeys
    let options: Options
    let decoy = DecoyHash()
    let liveQueries: LiveQueries
    let leavingContents = LeavingContents()
    /// The protocol's address for clients.
    package let address: PublicAddress
    let queue: MailQueue?
    /// The webhooks that are notified of events.
    let notices: NoticeQueue?
    let renewals = SessionRenewals()
    let counter = EventCounter()
    let budget: RequestBudget?

    /// Serves a store.
    public init(_ store: ParseStore, keys: ParseKeys, options: Options = Options()) {
        self.store = options.secrets.map(store.withUsers) ?? store
        self.keys = keys
        let options = options.allowed(for: store)
        self.options = options
        let address = PublicAddress(options.files?.publicURL ?? options.mount)
        self.address = address
        let hasFiles = options.files != nil && store.models == nil
        budget = RequestBudget(options.rateLimits, self.store)
        liveQueries = LiveQueries(self.store, keys: keys, budget: budget, options: options) {
            hasFiles ? FileURLs(at: address, keys, options) : nil
        }
        queue = options.mail.map { MailQueue($0) }
        notices = options.webhooks.map { Self.notices($0) }
    }

    /// Answers a request. Every failure is a reply too, in Parse's form.
    ///
    /// - Parameter report: Called with errors whose details the client doesn't get.
    public func respond(
        to request: WireRequest, report: @Sendable (any Error) -> Void = { _ in }
    ) async -> WireReply {
        await respond(to: request, as: nil, report: report)
    }

    /// The store with the rights of a user, a role or nobody, for code on the server outside a request.
    ///
    /// ```swift
    /// let notes = try await service.acting(as: .user(id)).find("Note")
    /// ```
    public func acting(as subject: AccessSubject) -> CloudStore {
        CloudStore(service: self, caller: Caller(subject: subject))
    }

    /// Answers a request with the rights of another caller, if it only reads; any other is refused with 119.
    ///
    /// - Parameter subject: The caller; `nil` for the sender of the request.
    package func respond(
        to request: WireRequest, as subject: AccessSubject?, report: @Sendable (any Error) -> Void
    ) async -> WireReply {
        // A health check may come without keys.
        if request.path == "/health" || request.path == "/health/" { return WireReply(["status": "ok"]) }
        var audited: AuditedCall?
        do {
            if let file = try await download(request, as: subject) { return file }
            var call = try ParseCall(
                request, keys: keys, limit: options.maximumBodyWithoutKeys, hasUsers: hasUsers, hasFiles: hasFiles,
                signing: options.files?.signing, code: options.code)
            if let subject { try call.read(as: subject) }
            if options.isAudited { audited = AuditedCall(call, mount: options.mount) }
            try await budget?.take(call, mount: options.mount, from: request.address)
            var reply = try await call.path.first == "files" ? files(call, request.stream) : answer(call)
            if hasFiles { reply.body = fileURLs.adding(to: reply.body, besides: call.caller.unprovenFiles) }
            await renewSession(of: call, report)
            reply.isOfRead = reply.isOfRead || call.method == .get
            if call.method == .get { reply.comment = try QueryAdvice.comment(of: call) }
            guard reply.body.count <= options.maximumReply else { throw ParseError.replyTooLarge(options.maximumReply) }
            reply.audited = audited
            return reply
        } catch {
            var reply = WireReply(ParseError(error, report: report))
            if let error = error as? TooManyRequests { reply.headers["retry-after"] = "\(error.seconds)" }
            reply.audited = audited
            return reply
        }
    }

    /// The maximum size of a request's body, before any of it is read; `nil` for the limit of all requests.
    ///
    /// - Parameters:
    ///   - path: The path below the mount.
    ///   - headers: The header fields by their names in lower case.
    /// - Throws: ``ParseError/unauthorized`` for a request that is refused regardless of its body.
    public func maximumBody(path: String, headers: [String: String]) throws(ParseError) -> Int? {
        if path == "/health" || path == "/health/" { return options.maximumBodyWithoutKeys }
        if options.mail != nil, path.hasPrefix("/apps/") { return Self.maximumForm }
        return try keys.rights(headers) == nil ? options.maximumBodyWithoutKeys : nil
    }

    // MARK: Routes

    /// Checks a path before anything else of a request is read.
    ///
    /// - Throws: ``ParseError`` for an unknown path, or one of a disabled feature.
    static func checkPath(
        _ path: [String], hasUsers: Bool, hasFiles: Bool, code: CloudCode
    ) throws(ParseError) {
        let isOfUsers =
            hasUsers && path.first.map { UserRoute.names.contains($0) || UserRoute.mails[$0] != nil } == true
        if hasFiles, path.first == "files", path.count <= 2 { return }
        if code.allowsWebhooks, path.first == "hooks", try isOfHooks(path) { return }
        if !isOfUsers, let error = DisabledFeature.error(for: path, hasPush: code.sendPush != nil) { throw error }
        let count = path.count
        let isKnown =
            switch path.first {
            case _ where isOfUsers: count <= 2
            case "classes": (2...3).contains(count)
            case "batch", "serverInfo", "config", "push": count == 1
            case "schemas": count <= 2
            case "purge", "aggregate", "functions": count == 2
            case "jobs", "events", "installations": count <= 2
            case "cloud_code": path == ["cloud_code", "jobs", "data"]
            default: false
            }
        guard isKnown else { throw nothing(at: "/" + path.joined(separator: "/")) }
        if path[0] == "functions", code.functions[path[1]] == nil, !code.allowsWebhooks {
            throw DisabledFeature.noFunction(path[1])
        }
        if path[0] == "jobs", count == 2, code.jobs[path[1]] == nil { throw DisabledFeature.noJob }
        if ["functions", "jobs", "cloud_code", "events", "installations"].contains(path[0]) { return }
        if count > 1, !hasUsers, InternalClasses.ofClients.contains(path[1]) { throw ParseError.usersAreOff }
        if count > 1, path[0] != "batch", let error = DisabledFeature.error(forClass: path[1]) { throw error }
    }

    private static func isOfHooks(_ path: [String]) throws(ParseError) -> Bool {
        switch path.dropFirst().first {
        case "functions" where path.count <= 3, "triggers" where path.count <= 4: return true
        default: throw nothing(at: "/" + path.joined(separator: "/"))
        }
    }

    private static func nothing(at line: String) -> ParseError {
        ParseError(.commandUnavailable, "there is nothing at \(line.prefix(128))", status: 404)
    }

    /// Whether there are users.
    var hasUsers: Bool { store.secrets != nil }
    /// Whether there are files.
    var hasFiles: Bool { options.files != nil && store.models == nil }

    /// Answers a request, except one about files.
    func answer(_ call: ParseCall) async throws -> WireReply {
        if hasUsers, let route = try UserRoute(call) { return try await respond(to: route, call) }
        switch call.path.first {
        case "classes" where call.path.count > 1 && call.path[1] == InstallationClass.name, "installations":
            return try await installations(call)
        case "classes": return try await objects(call)
        case "batch": return try await batch(call)
        case "schemas": return try await schemas(call)
        case "purge": return try await purge(call)
        case "aggregate" where call.method == .get && call.path.count == 2:
            let request = try AggregateRequest(call.path[1], call)
            return try await store.read(as: call.caller) { try request.run(in: $0, self.options) }
        case "functions" where call.path.count == 2: return try await function(call)
        case "jobs" where call.path.count <= 2: return try await job(call)
        case "events" where call.path.count <= 2: return try await events(call)
        case "cloud_code": return try jobs(call)
        case "config" where call.path.count == 1: return try await config(call)
        case "push" where call.path.count == 1: return try await push(call)
        case "hooks" where options.webhooks != nil: return try await hooks(call)
        case "serverInfo": return try serverInfo(call)
        default: throw Self.unknown(call)
        }
    }

    /// Requests about objects of one class.
    func objects(_ call: ParseCall) async throws -> WireReply {
        switch try ObjectRoute(call, prohibited: options.prohibitedNames) {
        case .read(.deletionPlan(let className, let id)):
            return try await store.read(as: call.caller) { try $0.deletionPlan(className, id) }
        case .read(let read) where options.code.finds.isEmpty && !concernFinding:
            let reply = try await store.read(as: call.caller) { try read.run(in: $0, self.options) }
            // The reading may have shown that another process has registered a webhook.
            return concernFinding ? try await found(by: call) : reply
        case .read: return try await found(by: call)
        case .write(let write):
            return try await asking([write], call) { asked in
                let write = try asked.writes[0].get()
                return try await writing([write], call, asked, sharing: write.body != nil) { try $0.run(write) }
            }
        }
    }

    /// Answers a request that finds objects of one class.
    private func found(by call: ParseCall) async throws -> WireReply {
        let (className, id) = (call.path[1], call.path.count > 2 ? call.path[2] : nil)
        return try await finding(className, id, call) { call, condition in
            guard case .read(var read) = try ObjectRoute(call, prohibited: options.prohibitedNames) else {
                throw Self.unknown(call)
            }
            if case .get(let request) = read { read = .get(request.limited(to: condition)) }
            let request = read
            return try await store.read(as: call.caller) { try request.run(in: $0, self.options) }
        }
    }

    /// Features that come later, and paths that Parse doesn't have either.
    static func unknown(_ call: ParseCall) -> ParseError {
        DisabledFeature.error(for: call.path) ?? nothing(at: call.line)
    }

    private func serverInfo(_ call: ParseCall) throws(ParseError) -> WireReply {
        guard call.isMaster else { throw .masterKeyRequired }
        let changes = JSONValue.bool(store.models == nil)
        let hooks = JSONValue.bool(options.webhooks != nil)
        let push = JSONValue.bool(options.code.sendPush != nil)
        return WireReply([
            // The version of the protocol in replies: clients turn features on by it.
            "parseServerVersion": "7.3.0",
            "features": [
                "globalConfig": ["create": changes, "read": changes, "update": changes, "delete": changes],
                "hooks": ["create": hooks, "read": hooks, "update": hooks, "delete": hooks],
                "push": [
                    "immediatePush": push, "scheduledPush": false, "storedPushData": false, "pushAudiences": false,
                ],
                "schemas": [
                    "addField": changes, "removeField": changes, "addClass": changes, "removeClass": changes,
                    "clearAllDataFromClass": true, "exportClass": false, "editClassLevelPermissions": changes,
                    "editPointerPermissions": changes,
                ],
            ],
        ])
    }
}
