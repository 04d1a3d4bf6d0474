#if Server
import Foundation
import Metrics
import NIOCore

/// The server's own metrics.
final class ServerMetrics: Sendable {
    private static let methods = ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "other"]
    private static let kinds = ["1xx", "2xx", "3xx", "4xx", "5xx"]

    /// The route of requests for which the protocol has none.
    static let other = "other"

    private let registry: PrometheusMetrics
    /// The protocol's routes, followed by ``other`` and the route of the server's own pages.
    private let routes: [String]
    /// By route, method and kind of status.
    private let requests: [[[Counter]]]
    /// By route.
    private let durations: [Metrics.Timer]
    private let refused: Counter
    private let received: Counter
    private let sent: Counter
    private let running: Level
    private let connections: Level
    private let start = Date()

    /// - Parameter routes: Those of the protocol.
    init(_ registry: PrometheusMetrics, routes: [String]) {
        self.registry = registry
        self.routes = routes
        let routes = routes + [Self.other, "server"]
        requests = routes.map { route in
            Self.methods.map { method in
                Self.kinds.map { kind in
                    Counter(
                        label: "relata_requests",
                        dimensions: [("route", route), ("method", method), ("status", kind)], factory: registry
                    )
                }
            }
        }
        durations = routes.map { route in
            Metrics.Timer(label: "relata_request_duration", dimensions: [("route", route)], factory: registry)
        }
        refused = Counter(label: "relata_requests_refused", factory: registry)
        received = Counter(label: "relata_received_bytes", factory: registry)
        sent = Counter(label: "relata_sent_bytes", factory: registry)
        running = Level("relata_requests_running", registry)
        connections = Level("relata_connections", registry)
    }

    func connectionOpened() { connections.change(by: 1) }
    func connectionClosed() { connections.change(by: -1) }
    func requestBegan() { running.change(by: 1) }

    func requestRefused(status: Int) { refused.increment() }

    /// - Parameter route: `nil` for the server's own pages.
    func requestEnded(_ route: String?, method: String, status: Int, time: TimeAmount, received: Int, sent: Int) {
        running.change(by: -1)
        let number = route.map { routes.firstIndex(of: $0) ?? routes.count } ?? routes.count + 1
        let method = Self.methods.firstIndex(of: method) ?? Self.methods.count - 1
        requests[number][method][min(max(status / 100, 1), 5) - 1].increment()
        durations[number].recordNanoseconds(time.nanoseconds)
        if received > 0 { self.received.increment(by: received) }
        self.sent.increment(by: sent)
    }

    /// All metrics, in the text format of Prometheus.
    func text() -> String {
        Gauge(label: "relata_uptime_seconds", factory: registry).record(Date().timeIntervalSince(start))
        Self.measureMemory(registry)
        return registry.text()
    }

    /// Records the memory that the process uses now.
    static func measureMemory(_ registry: PrometheusMetrics) {
        guard let memory = residentMemory else { return }
        Gauge(label: "process_resident_memory_bytes", factory: registry).record(memory)
    }

    /// The memory of the process in bytes, if the system reports it.
    static var residentMemory: Int? {
        guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8) else { return nil }
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map {
            $0 * Int(sysconf(Int32(_SC_PAGESIZE)))
        }
    }

    /// A gauge, which goes up and down.
    private final class Level: Sendable {
        private let meter: Meter

        init(_ label: String, _ registry: PrometheusMetrics) { meter = Meter(label: label, factory: registry) }

        func change(by amount: Int) {
            if amount < 0 { meter.decrement(by: Double(-amount)) } else { meter.increment(by: Double(amount)) }
        }
    }
}
#endif
