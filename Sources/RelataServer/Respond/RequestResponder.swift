#if Server
import Logging
import NIOCore
import RelataParse
import Synchronization

/// Answers requests: those below the mount by the protocol, others by files, a few by the server itself.
final class RequestResponder: Sendable {
    let metrics: ServerMetrics
    /// The executor that answers requests.
    let executor: RequestExecutor
    /// The memory for the bodies of requests.
    let bodies: BodyBudget
    /// The memory for replies that clients haven't received yet.
    let replies: BodyBudget
    /// The memory for files, which need no keys: slow downloads don't take the memory of protocols.
    let files: BodyBudget
    /// The header fields that are read.
    let fields: HeaderFields
    private let served: any ServedProtocol
    private let routes: RequestRoutes
    let limits: RelataServer.Limits
    private let encoder: ReplyEncoder
    private let origins: AllowedOrigins
    private let status: StatusPages
    private let slow: SlowRequests?
    private let proxies: AddressRanges
    private let unreadProxies = Mutex(UnreadProxies())
    private let ids = RequestIDs()
    private let logger: Logger
    private let requestLogLevel: Logger.Level
    private let isStopping = Atomic(false)

    /// - Parameters:
    ///   - served: The protocol. It is asked whether the server is ready, and how refusals look.
    ///   - others: Protocols with their own paths. Their requests are answered on the same threads.
    ///   - slow: Records slow requests.
    init(
        _ served: any ServedProtocol, and others: [MountedProtocol] = [], _ configuration: RelataServer.Configuration,
        slow: SlowRequests? = nil, metrics: PrometheusMetrics, logger: Logger
    ) {
        self.served = served
        let protocols = [MountedProtocol(mount: Mount(configuration.mount), served: served)] + others
        self.metrics = ServerMetrics(metrics, routes: protocols.flatMap(\.served.routes))
        // Two more for requests of the server itself.
        executor = RequestExecutor(threads: min(max(served.maximumThreads, 1), 1024) + 2)
        fields = HeaderFields(kept: Array(Set(protocols.flatMap(\.served.headerNames).map { $0.lowercased() })))
        self.logger = logger
        self.slow = slow
        routes = RequestRoutes(protocols, configuration)
        limits = configuration.limits
        bodies = BodyBudget(limit: configuration.limits.bodyMemory)
        replies = BodyBudget(limit: configuration.limits.replyMemory(largest: served.maximumReply))
        files = BodyBudget(limit: configuration.limits.fileMemory(largest: served.maximumReply))
        origins = AllowedOrigins(configuration.allowedOrigins)
        encoder = ReplyEncoder(origins)
        status = StatusPages(self.metrics, audience: configuration.metricsAudience, served: served)
        requestLogLevel = configuration.requestLogLevel
        proxies = configuration.trustedProxies
    }

    /// From now on, replies announce that the connection closes.
    func stop() { isStopping.store(true, ordering: .relaxed) }

    /// Decides how to take the body of a request that begins to arrive.
    ///
    /// - Throws: the refusal of a request, regardless of its body.
    func admission(
        _ method: String, _ target: RequestTarget, _ headers: RequestHeaders
    ) throws(ServerRefusal) -> RequestAssembler.AdmittedBody {
        // Files and the server's own pages read no body.
        guard case .served(let asked) = routes.destination(of: target.path) else {
            return .init(limit: min(limits.bodySize, BodyBudget.freeSize))
        }
        let path = String(asked.path)
        if let limit = try asked.served.maximumStream(method: method, path: path, headers: headers.kept) {
            let coding = headers.contentEncoding?.lowercased() ?? "identity"
            guard coding == "identity" else {
                throw ServerRefusal(
                    .unknownCoding, "this body must not be encoded: send it without Content-Encoding", status: 415)
            }
            return .init(limit: limit, isPiped: true)
        }
        return .init(
            limit: try asked.served.maximumBody(path: path, headers: headers.kept) ?? limits.bodySize)
    }

    /// Begins a request, and answers it if that never has to wait for other requests. `nil` for a request that
    /// ``answer(_:from:)`` must answer.
    func answerAtOnce(_ request: ReceivedRequest, from peer: SocketAddress?) -> EncodedReply? {
        metrics.requestBegan()
        let destination = routes.destination(of: request.target.path)
        let reply: ServerReply
        if request.method == "OPTIONS" {
            if case .served(let asked) = destination {
                reply = asked.served.preflight
            } else {
                reply = served.preflight
            }
        } else if case .server = destination,
            let page = status.page(at: request.target.path, method: request.method, from: peer)
        {
            reply = page
        } else {
            return nil
        }
        var route: String?
        if case .served(let asked) = destination { route = asked.route }
        return finish(request, route, reply, id: request.headers.requestID ?? ids.next(), peer)
    }

    /// Answers a request whose work has begun.
    func answer(_ request: ReceivedRequest, from peer: SocketAddress?) async -> EncodedReply {
        let id = request.headers.requestID ?? ids.next()
        switch routes.destination(of: request.target.path) {
        case .served(let asked): return await answer(request, asked, id: id, peer)
        case .files(let files, let rest): return answer(request, files, rest, id: id, peer)
        case .server: return finish(request, nil, await status.readiness(isStopping: isEnding), id: id, peer)
        }
    }

    /// Answers a request with a file.
    private func answer(
        _ request: ReceivedRequest, _ files: StaticFiles, _ path: Substring, id: String, _ peer: SocketAddress?
    ) -> EncodedReply {
        do throws(ServerRefusal) {
            let (reply, share) = try files.reply(
                to: request.method, path: path, target: request.target.path, known: request.headers.ifNoneMatch,
                room: self.files, limit: served.maximumReply)
            return finish(request, nil, reply, share: share, id: id, peer)
        } catch {
            return finish(request, nil, reply(to: error), id: id, peer)
        }
    }

    /// Answers a request of a protocol.
    private func answer(
        _ request: ReceivedRequest, _ asked: ServedPath, id: String, _ peer: SocketAddress?
    ) async -> EncodedReply {
        var protocolRequest = ServerRequest(
            // HEAD gets the reply to GET, without the body.
            method: request.method == "HEAD" ? "GET" : request.method, path: String(asked.path),
            query: String(request.target.query), headers: request.headers.kept)
        protocolRequest.peer = client(of: request, from: peer)
        protocolRequest.stream = request.pipe?.stream
        // Only a reply with a body has ranges.
        if request.method == "HEAD" { protocolRequest.headers["range"] = nil }
        do throws(ServerRefusal) {
            if let upgrade = try await upgrade(request, protocolRequest, by: asked.served, id: id) {
                record(request, asked.route, ServerReply(status: 101, contentType: ""), sent: 0, id, peer)
                return EncodedReply(bytes: ByteBuffer(), isKeptAlive: false, upgrade: upgrade)
            }
            let (body, share) = try decoded(request)
            defer { withExtendedLifetime(share) {} }
            protocolRequest.body = body
            let reply = await asked.served.respond(to: protocolRequest) { report($0, id: id) }
            return finish(request, asked.route, reply, id: id, peer)
        } catch {
            return finish(request, asked.route, reply(to: error), id: id, peer)
        }
    }

    /// The address of the client, as named by trusted proxies.
    private func client(of request: ReceivedRequest, from peer: SocketAddress?) -> String? {
        let client = proxies.forwardedAddress(of: peer?.ipAddress, forwarded: request.headers.forwardedFor)
        if case .unknown(let proxy) = client, unreadProxies.withLock({ $0.isNews(proxy) }) {
            logger.warning(
                "a trusted proxy sends no valid address in X-Forwarded-For: its clients are unknown",
                metadata: ["proxy": "\(proxy)", "field": "\((request.headers.forwardedFor ?? "").prefix(128))"])
        }
        return client.text
    }

    /// Writes a reply as bytes, counts it and logs it.
    ///
    /// - Parameter share: The reply's share so far of the memory for all replies.
    private func finish(
        _ request: ReceivedRequest, _ route: String?, _ reply: ServerReply, share: BodyBudget.Share? = nil, id: String,
        _ peer: SocketAddress?
    ) -> EncodedReply {
        func encode(_ reply: ServerReply) -> EncodedReply {
            encoder.encode(
                reply, to: request.headers, id: id, isHead: request.method == "HEAD",
                // The rest of a body can't be distinguished from the next request.
                isKeptAlive: request.isKeptAlive && !isEnding && request.pipe?.isWhole != false)
        }
        var (reply, encoded) = (reply, encode(reply))
        let size = encoded.bytes.readableBytes
        if size > BodyBudget.freeSize {
            let share = share ?? BodyBudget.Share(of: replies)
            if share.grow(to: size) {
                encoded.share = share
            } else {
                reply = self.reply(to: .noRoomForReply(ofRead: reply.isOfRead))
                encoded = encode(reply)
            }
        }
        record(request, route, reply, sent: encoded.bytes.readableBytes, id, peer)
        return encoded
    }

    /// Counts a request, and logs it.
    private func record(
        _ request: ReceivedRequest, _ route: String?, _ reply: ServerReply, sent: Int, _ id: String,
        _ peer: SocketAddress?
    ) {
        let time = NIODeadline.now() - request.arrival
        metrics.requestEnded(
            route, method: request.method, status: reply.status, time: time,
            received: request.received,
            sent: sent + (request.method == "HEAD" ? 0 : reply.stream?.size ?? 0))
        // Files and the server's own pages ask no store.
        if let slow, route != nil {
            slow.note(
                method: request.method, path: request.target.path, query: request.target.query, status: reply.status,
                duration: time)
        }
        if logger.logLevel <= requestLogLevel { log(request, reply, id, time, peer) }
    }

    /// The session of a request for a WebSocket; `nil` if the protocol has none for it and answers it like any other.
    private func upgrade(
        _ request: ReceivedRequest, _ asked: ServerRequest, by served: any ServedProtocol, id: String
    ) async throws(ServerRefusal) -> WebSocketUpgrade? {
        guard let head = request.webSocketHead else { return nil }
        guard let session = try await served.webSocket(for: asked) else { return nil }
        guard origins.admits(request.headers.origin) else {
            throw ServerRefusal(.unauthorized, "pages of this origin may not call this server", status: 403)
        }
        return try WebSocketUpgrade(head, id: id, responder: self, session: session)
    }

    /// A refusal in the protocol's form.
    private func reply(to refusal: ServerRefusal) -> ServerReply {
        var reply = served.render(refusal)
        if refusal.status == 503 { reply.headers.append(("retry-after", "1")) }
        if refusal.status == 405 { reply.headers.append(("allow", "GET, HEAD")) }
        if refusal.status == 426 { reply.headers += [("upgrade", "websocket"), ("sec-websocket-version", "13")] }
        return reply
    }

    /// Whether the server is stopping.
    var isEnding: Bool { isStopping.load(ordering: .relaxed) }

    /// Logs an error of a request whose details the client doesn't get.
    func report(_ error: any Error, id: String) {
        logger.error("a request failed", metadata: ["request": "\(id)", "error": "\(Self.line(error))"])
    }

    /// Logs an error outside of requests.
    static func logWork(_ error: any Error, _ logger: Logger) {
        logger.error("a task of the server itself failed", metadata: ["error": "\(line(error))"])
    }

    /// An error in one line of limited length.
    static func line(_ error: any Error) -> String {
        let text = String(decoding: "\(error)".utf8.prefix(2048), as: UTF8.self)
        return String(
            String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.generalCategory == .control ? " " : $0 }))
    }

    /// The decoded body, and its share of the memory for all bodies.
    private func decoded(
        _ request: ReceivedRequest
    ) throws(ServerRefusal) -> (body: [UInt8], share: BodyBudget.Share?) {
        let bytes = Array(request.body.readableBytesView)
        guard let coding = request.headers.contentEncoding?.lowercased(), coding != "identity", !bytes.isEmpty else {
            return (bytes, request.share)
        }
        guard ["gzip", "x-gzip", "deflate"].contains(coding) else {
            throw ServerRefusal(
                .unknownCoding, "bodies may be encoded as gzip or deflate, not \(coding.prefix(64))", status: 415)
        }
        let body: [UInt8]
        do throws(Gzip.Failure) {
            body = try Gzip.decompressed(bytes, limit: request.bodyLimit)
        } catch {
            switch error {
            case .tooLarge: throw .bodyTooLarge(request.bodyLimit, of: limits)
            case .damaged: throw ServerRefusal(.damagedBody, "the body isn't valid \(coding)", status: 400)
            }
        }
        guard body.count > BodyBudget.freeSize else { return (body, request.share) }
        let share = request.share ?? BodyBudget.Share(of: bodies)
        guard share.grow(to: request.body.storageCapacity + body.count) else { throw .noRoom }
        return (body, share)
    }

    /// The reply to a refused request. The connection is closed after it.
    func refuse(_ refusal: RequestAssembler.Refusal) -> EncodedReply {
        let error = refusal.error
        metrics.requestRefused(status: error.status)
        let id = ids.next()
        logger.debug(
            "request refused",
            metadata: ["request": "\(id)", "status": "\(error.status)", "reason": "\(error.message)"])
        return encoder.encode(
            reply(to: error), to: refusal.headers, id: id, isHead: refusal.isHead, isKeptAlive: false)
    }

    private func log(
        _ request: ReceivedRequest, _ reply: ServerReply, _ id: String, _ time: TimeAmount,
        _ peer: SocketAddress?
    ) {
        let microseconds = time.nanoseconds / 1000
        let milliseconds = "\(microseconds / 1000).\(microseconds % 1000 / 100)"
        // Queries and bodies may contain private data. A comment is meant for the log.
        var metadata: Logger.Metadata = [
            "request": "\(id)", "status": "\(reply.status)", "microseconds": "\(microseconds)",
            "received": "\(request.received)",
            "sent": "\(reply.stream?.size ?? reply.body.count)",
            "peer": "\(peer?.ipAddress ?? "")",
        ]
        if let comment = reply.comment { metadata["comment"] = "\(comment)" }
        logger.log(
            level: requestLogLevel,
            "\(request.method) \(request.target.path.prefix(512)) \(reply.status) \(milliseconds) ms",
            metadata: metadata)
    }
}

/// The proxies for which the log has already reported unknown clients.
private struct UnreadProxies {
    private static let maximumCount = 64

    private var proxies: Set<String> = []

    /// Whether a proxy must be logged, because it hasn't been logged yet.
    mutating func isNews(_ proxy: String) -> Bool {
        proxies.count < Self.maximumCount && proxies.insert(proxy).inserted
    }
}
#endif
