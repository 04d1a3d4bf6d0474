#if Server
import NIOCore
import RelataCore
import RelataParse

/// Pages for operating a server: liveness, readiness and metrics.
struct StatusPages: Sendable {
    /// The paths of the pages.
    static let paths: [Substring] = ["/livez", "/readyz", "/metrics"]

    private let metrics: ServerMetrics
    private let audience: RelataServer.MetricsAudience
    private let served: any ServedProtocol

    init(_ metrics: ServerMetrics, audience: RelataServer.MetricsAudience, served: any ServedProtocol) {
        self.metrics = metrics
        self.audience = audience
        self.served = served
    }

    /// The page at a path; `nil` if the protocol must answer first.
    func page(at path: Substring, method: String, from peer: SocketAddress?) -> ServerReply? {
        let isRead = method == "GET" || method == "HEAD"
        switch path {
        case "/livez" where isRead: return Self.page(#"{"status":"ok"}"#)
        case "/readyz" where isRead: return nil
        case "/metrics" where isRead && isAllowed(peer):
            return Self.page(metrics.text(), as: "text/plain; version=0.0.4; charset=utf-8")
        default: return served.render(.nothingHere)
        }
    }

    /// Whether the protocol answers: `/readyz`.
    func readiness(isStopping: Bool) async -> ServerReply {
        let health = await served.health()
        var json: JSONObject = [
            "status": health.problem != nil ? "error" : isStopping ? "stopping" : "ok"
        ]
        if let problem = health.problem { json["reason"] = .string(problem) }
        for part in health.parts {
            var status: JSONObject = ["status": part.problem == nil ? "ok" : "error"]
            if let problem = part.problem { status["reason"] = .string(problem) }
            json[part.name] = .object(status)
        }
        return Self.page(
            JSONWriter.text(.object(json)), status: health.problem != nil || isStopping ? 503 : 200)
    }

    private static func page(
        _ text: String, as contentType: String = ServerReply.json, status: Int = 200
    ) -> ServerReply {
        var reply = ServerReply(status: status, contentType: contentType, body: Array(text.utf8))
        reply.isOfRead = true
        return reply
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
