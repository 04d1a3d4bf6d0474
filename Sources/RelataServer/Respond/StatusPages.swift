#if Server
import Foundation
import NIOCore

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
        if let problem = await served.problem() {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .withoutEscapingSlashes
            let reason = (try? encoder.encode(problem)).map { String(decoding: $0, as: UTF8.self) } ?? "null"
            return Self.page(#"{"status":"error","reason":\#(reason)}"#, status: 503)
        }
        return isStopping ? Self.page(#"{"status":"stopping"}"#, status: 503) : Self.page(#"{"status":"ok"}"#)
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
