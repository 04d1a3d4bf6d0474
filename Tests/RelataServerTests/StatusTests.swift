#if Server
import Foundation
import Logging
import Metrics
import RelataEngine
import RelataParse
import RelataRecords
import ServerClient
import Synchronization
import Testing

@testable import RelataServer

/// The status, metrics and log of a server.
struct StatusTests {
    @Test func aServerIsReadyWhileItsStoreAnswers() async throws {
        let broken = Switch()
        try await TestServer.running(check: {
            if broken.isSet { throw ParseError(.internalServerError, "gone") }
        }) { server in
            let ready = try await server.request("GET", "/readyz")
            #expect(ready.status == 200)
            broken.set()
            let broken = try await server.request("GET", "/readyz")
            #expect(broken.status == 503)
            #expect(try broken.json == ["status": "error", "reason": "gone"])
            #expect(try await server.request("GET", "/livez").status == 200)
        }
    }

    @Test func aServerWithAFullDiskIsNotReadyUntilThereIsRoom() async throws {
        let folder = try ServerFolder()
        let store = try ParseStore.open(folder.path("full.sqlite"))
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        let server = try RelataServer(
            store, keys: ServerKeys(applicationID: "app", masterKey: "master"), configuration: configuration)
        let keys = ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": "master"]
        let large = Array(#"{"title": "\#(String(repeating: "x", count: 50_000))"}"#.utf8)
        @Sendable func limit(_ pages: Int) async throws {
            try await store.records.pool.alone { try $0.execute("PRAGMA max_page_count = \(pages)") }
        }
        try await TestServer.running(server) { server in
            let first = try await server.request(
                "POST", "/parse/classes/Book", headers: keys, body: Array(#"{"title": "A"}"#.utf8))
            #expect(first.status == 201, "\(first.text)")
            #expect(try await server.request("GET", "/readyz").status == 200)
            // SQLite raises the limit to the number of existing pages, so there is no room for more.
            try await limit(1)
            let refused = try await server.request("POST", "/parse/classes/Book", headers: keys, body: large)
            #expect(refused.status == 503, "\(refused.text)")
            for _ in 0..<2 {
                let full = try await server.request("GET", "/readyz")
                let json = try full.json
                #expect(full.status == 503 && json["status"]?.string == "error", "\(full.text)")
                #expect(json["reason"]?.string?.contains("disk is full") == true, "\(full.text)")
                #expect(json["database"]?["status"]?.string == "error", "\(full.text)")
            }
            #expect(try await server.request("GET", "/livez").status == 200)
            #expect(try await server.request("GET", "/parse/classes/Book", headers: keys).status == 200)
            try await limit(100_000)
            let ready = try await server.request("GET", "/readyz")
            let json = try ready.json
            #expect(ready.status == 200 && json["status"]?.string == "ok" && json["reason"] == nil, "\(ready.text)")
            let again = try await server.request("POST", "/parse/classes/Book", headers: keys, body: large)
            #expect(again.status == 201, "\(again.text)")
        }
    }

    @Test(arguments: ["/", "/parse"])
    func theServersOwnPagesDoNotDependOnTheMount(_ mount: String) async throws {
        try await TestServer.running({ $0.mount = mount }) { server in
            for path in ["/livez", "/readyz"] {
                let reply = try await server.request("GET", path)
                #expect(reply.status == 200)
                #expect(try reply.json == ["status": "ok"], "\(path)")
            }
            let metrics = try await server.request("GET", "/metrics")
            #expect(metrics.text.contains(#"relata_requests_total{method="GET",route="server",status="2xx"} 2"#))
            let prefix = mount == "/" ? "" : mount
            for path in ["/health", "/livez/x"] {
                let reply = try await server.request("GET", prefix + path)
                #expect(try reply.json["path"] == .string(path))
            }
        }
    }

    @Test func requestsAreCountedByTheirRoutes() async throws {
        try await TestServer.running(service: { request in
            WireReply(status: request.method == "POST" ? 201 : request.path.hasSuffix("9") ? 404 : 200, [:])
        }) { server in
            for id in 0..<10 { _ = try await server.request("GET", "/parse/classes/Book/\(id)") }
            _ = try await server.request("POST", "/parse/classes/Book", body: Array("{}".utf8))
            _ = try await server.request("GET", "/parse/classes/Book")
            _ = try await server.request("PATCH", "/parse/made/up/by/somebody")
            let text = try await server.request("GET", "/metrics").text
            for line in [
                #"relata_requests_total{method="GET",route="object",status="2xx"} 9"#,
                #"relata_requests_total{method="GET",route="object",status="4xx"} 1"#,
                #"relata_requests_total{method="POST",route="objects",status="2xx"} 1"#,
                #"relata_requests_total{method="GET",route="objects",status="2xx"} 1"#,
                #"relata_requests_total{method="other",route="other",status="2xx"} 1"#,
                #"relata_request_duration_seconds_count{route="object"} 10"#,
                #"relata_request_duration_seconds_bucket{route="object",le="+Inf"} 10"#,
                "relata_received_bytes_total 2", "relata_requests_running 1", "# TYPE relata_requests_total counter",
                "# TYPE relata_request_duration_seconds histogram",
            ] {
                #expect(text.contains(line + "\n"), "\(line)")
            }
            #expect(!text.contains("made"))
        }
    }

    @Test func prometheusCanReadEveryLineOfTheMetrics() async throws {
        try await TestServer.running { server in
            for path in ["/parse/classes/A", "/parse/batch", "/x"] { _ = try await server.request("GET", path) }
            let reply = try await server.request("GET", "/metrics")
            #expect(reply.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let sample = try Regex(
                #"[a-zA-Z_:][a-zA-Z0-9_:]*(\{[a-z_]+="[^"\\]*"(,[a-z_]+="[^"\\]*")*\})? [0-9.e+-]+|\+Inf"#)
            for line in reply.text.split(separator: "\n") where !line.hasPrefix("# TYPE ") {
                #expect(try sample.wholeMatch(in: line) != nil, "\(line)")
            }
        }
    }

    @Test func connectionsAreCountedWhileTheyAreOpen() async throws {
        try await TestServer.running { server in
            /// Whether this many connections are counted, including this request's. The server's count may lag.
            func isCounted(_ count: Int) async throws -> Bool {
                for _ in 0..<3000 {
                    let text = try await server.request("GET", "/metrics").text
                    if text.contains("relata_connections \(count)\n") { return true }
                    try await Task.sleep(for: .milliseconds(20))
                }
                return false
            }
            let idle = try await blocking { Held(try (0..<3).map { _ in try server.connect() }) }
            #expect(try await isCounted(4))
            idle.close()
            #expect(try await isCounted(1))
        }
    }

    @Test func metricsAreShownOnlyToTheirAudience() async throws {
        try await TestServer.running({ $0.metricsAudience = .nobody }) { server in
            let reply = try await server.request("GET", "/metrics")
            #expect(reply.status == 404)
        }
    }

    @Test func tooManyLabelsAreCountedTogether() {
        let metrics = PrometheusMetrics()
        for number in 0..<PrometheusMetrics.maximumSeries + 50 {
            Counter(label: "visits", dimensions: [("page", "\(number)")], factory: metrics).increment()
        }
        let lines = metrics.text().split(separator: "\n")
        #expect(lines.count == PrometheusMetrics.maximumSeries + 2)
        #expect(lines.contains(#"visits_total{overflow="true"} 50"#))
    }

    @Test func namesAndLabelsOfOtherLibrariesAreMadeValid() {
        let metrics = PrometheusMetrics()
        Counter(label: "http.server/2", dimensions: [("a-b", "say \"hi\"\n\\")], factory: metrics).increment(by: 3)
        Gauge(label: "9lives", factory: metrics).record(2.5)
        #expect(metrics.text().contains(#"http_server_2_total{a_b="say \"hi\"\n\\"} 3"#))
        #expect(metrics.text().contains("_9lives 2.5\n"))
    }

    @Test func aLineIsLoggedForEachRequestWithItsID() async throws {
        let log = LogRecorder()
        try await TestServer.running({ $0.requestLogLevel = .info }, logger: log.logger(.info)) { server in
            _ = try await server.request(
                "GET", "/parse/classes/Book?where=secret",
                headers: ["X-Request-Id": "abc", "X-Parse-Master-Key": "secret"])
        }
        let lines = log.lines.filter { $0.contains("request=abc") }
        #expect(lines.count == 1)
        #expect(lines.first?.contains(#/^info GET /parse/classes/Book 200 \d+\.\d ms /#) == true, "\(lines)")
        #expect(lines.first?.contains("status=200") == true)
        #expect(!log.lines.contains { $0.contains("secret") })
    }

    @Test func theCommentOfAQueryIsLogged() async throws {
        let log = LogRecorder()
        let service: TestServer.Service = { request in
            var reply = WireReply([:])
            if !request.query.isEmpty { reply.comment = "slow page" }
            return reply
        }
        try await TestServer.running(
            { $0.requestLogLevel = .info }, logger: log.logger(.info), service: service
        ) { server in
            for query in ["?comment=", ""] {
                _ = try await server.request("GET", "/parse/classes/Book\(query)", headers: ["X-Request-Id": "abc"])
            }
        }
        let lines = log.lines.filter { $0.contains("request=abc") }
        #expect(lines.count == 2)
        #expect(lines.map { $0.contains("comment=slow page") } == [true, false])
    }

    @Test func anErrorIsLoggedAsOneShortLine() {
        struct Wordy: Error, CustomStringConvertible {
            let description = "first\nsecond\r\n\u{1B}[31m" + String(repeating: "é", count: 5000)
        }
        let line = RequestResponder.line(Wordy())
        #expect(line.hasPrefix("first second   [31mé"))
        #expect(line.utf8.count <= 2050)
        #expect(line.allSatisfy { !$0.isNewline })
    }

    @Test func nothingIsLoggedForRequestsBelowTheLevel() async throws {
        let log = LogRecorder()
        try await TestServer.running(logger: log.logger(.info)) { server in
            _ = try await server.request("GET", "/parse/classes/Book")
        }
        #expect(log.lines.isEmpty)
    }

    @Test func aLineOfTextBeginsWithTheTimeAndLevel() {
        var handler = TextLogHandler()
        handler[metadataKey: "request"] = "abc"
        let event = LogEvent(
            level: .info, message: "GET /parse/classes/Book 200 1.2 ms", metadata: ["peer": "::1", "a": "b\nc"],
            source: nil, file: "", function: "", line: 0)
        let words = handler.line(of: event).split(separator: " ", maxSplits: 1)
        #expect(words.first?.contains(#/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/#) == true, "\(words)")
        #expect(words.last == "info GET /parse/classes/Book 200 1.2 ms a=b c peer=::1 request=abc")
    }

    @Test func aLineOfJSONContainsTheMessageAndItsMetadata() throws {
        var handler = JSONLogHandler(label: "relata")
        handler[metadataKey: "request"] = "abc"
        let event = LogEvent(
            level: .warning, message: "two\nlines \"quoted\"", metadata: ["list": ["a", "b"]], source: nil, file: "",
            function: "", line: 0)
        let line = handler.line(of: event)
        #expect(!line.contains("\n"))
        let json = try JSONParser.parse(line)
        #expect(json["level"] == "warning")
        #expect(json["message"] == "two\nlines \"quoted\"")
        #expect(json["request"] == "abc")
        #expect(json["list"] == ["a", "b"])
    }
}

/// A switch shared by closures.
private final class Switch: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .relaxed) }
    func set() { value.store(true, ordering: .relaxed) }
}

/// Connections that only stay open.
private final class Held: @unchecked Sendable {
    private var connections: [ServerConnection]

    init(_ connections: [ServerConnection]) { self.connections = connections }

    func close() { connections = [] }
}

/// Records log messages.
final class LogRecorder: Sendable {
    private let kept = Mutex<[String]>([])

    var lines: [String] { kept.withLock { $0 } }

    func logger(_ level: Logger.Level) -> Logger {
        var logger = Logger(label: "test") { _ in Handler(recorder: self) }
        logger.logLevel = level
        return logger
    }

    private struct Handler: LogHandler {
        let recorder: LogRecorder
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            let all = metadata.merging(event.metadata ?? [:]) { $1 }
            let pairs = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            recorder.kept.withLock {
                $0.append("\(event.level) \(event.message) \(pairs.joined(separator: " "))")
            }
        }
    }
}
#endif
