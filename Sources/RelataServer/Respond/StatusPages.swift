#if Server
import NIOCore
import RelataParse

/// What those who run a server ask it: whether it lives, whether it is ready, and how it is.
struct StatusPages: Sendable {
    /// Where they are.
    static let paths: [Substring] = ["/livez", "/readyz", "/metrics"]

    private let metrics: ServerMetrics
    private let audience: RelataServer.MetricsAudience
    private let check: @Sendable () async throws -> Void

    init(
        _ metrics: ServerMetrics, audience: RelataServer.MetricsAudience,
        check: @escaping @Sendable () async throws -> Void
    ) {
        self.metrics = metrics
        self.audience = audience
        self.check = check
    }

    /// What is at a path; `nil` where the store must be asked first.
    func page(at path: Substring, method: String, from peer: SocketAddress?) -> ServerReply? {
        let isRead = method == "GET" || method == "HEAD"
        switch path {
        case "/livez" where isRead: return ServerReply(WireReply(["status": "ok"]))
        case "/readyz" where isRead: return nil
        case "/metrics" where isRead && isAllowed(peer):
            return ServerReply(
                status: 200, contentType: "text/plain; version=0.0.4; charset=utf-8", body: Array(metrics.text().utf8))
        default: return ServerReply(ParseError(.commandUnavailable, "there is nothing here", status: 404))
        }
    }

    /// Whether the store answers: `/readyz`.
    func readiness(isStopping: Bool) async -> ServerReply {
        do {
            try await check()
            return ServerReply(WireReply(status: isStopping ? 503 : 200, ["status": isStopping ? "stopping" : "ok"]))
        } catch {
            return ServerReply(
                WireReply(status: 503, ["status": "error", "reason": .string(ParseError(error).message)]))
        }
    }

    private func isAllowed(_ peer: SocketAddress?) -> Bool {
        switch audience {
        case .everyone: true
        case .nobody: false
        case .loopback:
            peer?.ipAddress.map { $0.hasPrefix("127.") || $0 == "::1" || $0.hasPrefix("::ffff:127.") } ?? false
        }
    }
}
#endif
