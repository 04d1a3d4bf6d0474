#if Server
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// An app's code on a running server.
struct CodeTests {
    private func withServer(
        path: String? = nil, timeout: Double = 60, _ code: CloudCode,
        _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        configuration.limits.requestTime = .seconds(timeout)
        var options = ParseService.Options()
        options.secrets = ScryptSecrets(cost: 10)
        options.code = code
        let keys = ServerKeys(applicationID: "app", masterKey: "master")
        let server = try RelataServer(
            try ParseStore.open(path), keys: keys, options: options, configuration: configuration)
        try await TestServer.running(server, body)
    }

    private static func send(
        _ server: TestServer, _ method: String, _ path: String, _ body: JSONValue? = nil, isMaster: Bool = false,
        headers: [String: String] = [:]
    ) async throws -> ServerReplyText {
        var fields = ["X-Parse-Application-Id": "app", "Content-Type": "application/json"]
        if isMaster { fields["X-Parse-Master-Key"] = "master" }
        return try await server.request(
            method, "/parse" + path, headers: fields.merging(headers) { $1 },
            body: body.map { Array(JSONWriter.text($0).utf8) } ?? [])
    }

    @Test func clientsCallFunctions() async throws {
        var code = CloudCode()
        code.headerNames = ["X-Shop"]
        code.function("hello") { call in
            [
                "who": call["who"] ?? .null, "shop": .string(call.headers["x-shop"] ?? ""),
                "context": .object(call.context),
            ]
        }
        code.function("fail") { _ in throw ServerConnection.Failure.refused }
        try await withServer(code) { (server) async throws in
            let reply = try await Self.send(
                server, "POST", "/functions/hello", ["who": "world"],
                headers: ["X-Shop": "7", "X-Parse-Cloud-Context": "{\"a\":1}", "X-Other": "1"])
            #expect(
                try reply.status == 200 && reply.json == ["result": ["who": "world", "shop": "7", "context": ["a": 1]]])
            let failed = try await Self.send(server, "POST", "/functions/fail", [:])
            #expect(failed.status == 400 && failed.code == 141 && !failed.text.contains("refused"), "\(failed.text)")
            let large = String(repeating: "x", count: 100_000)
            let echoed = try await Self.send(server, "POST", "/functions/hello", ["who": .string(large)])
            #expect(try echoed.json["result"]?["who"] == .string(large))
            let metrics = try await server.request("GET", "/metrics")
            #expect(metrics.text.contains("route=\"functions\""))
        }
    }

    @Test func aFunctionThatTakesTooLongIsCancelled() async throws {
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        var code = CloudCode()
        code.function("slow") { _ in
            defer { ended.yield() }
            try await Task.sleep(for: .seconds(60))
            return 1
        }
        try await withServer(timeout: 0.2, code) { (server) async throws in
            let reply = try await Self.send(server, "POST", "/functions/slow", [:])
            #expect(reply.status == 503 && reply.code == 124, "\(reply.text)")
            _ = await ends.first { _ in true }
        }
    }

    @Test func aStoppingServerRecordsItsJobsAsFailed() async throws {
        let folder = try ServerFolder()
        let path = folder.path("store.sqlite")
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        var code = CloudCode()
        code.job("tidy") { _ in
            started.yield()
            try await Task.sleep(for: .seconds(60))
        }
        try await withServer(path: path, code) { (server) async throws in
            let reply = try await Self.send(server, "POST", "/jobs/tidy", [:], isMaster: true)
            #expect(reply.status == 200 && reply.headers["x-parse-job-status-id"]?.isEmpty == false, "\(reply.text)")
            _ = await starts.first { _ in true }
        }
        try await withServer(path: path, CloudCode()) { (server) async throws in
            let reply = try await Self.send(server, "GET", "/classes/_JobStatus", isMaster: true)
            let status = try #require(try reply.json["results"]?.array?.first, "\(reply.text)")
            #expect(
                status["status"] == "failed" && status["jobName"] == "tidy" && status["finishedAt"] != nil, "\(status)")
        }
    }

    @Test func aServerRunsScheduledJobs() async throws {
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        var code = CloudCode()
        code.job("tidy", schedule: .every(seconds: 1)) { _ in started.yield() }
        try await withServer(code) { (_) async throws in _ = await starts.first { _ in true } }
        code.job("never", schedule: .every(seconds: 0)) { _ in }
        await #expect(throws: (any Error).self) { try await withServer(code) { _ in } }
    }

    @Test func eventsAreStoredWhenTheServerStops() async throws {
        let folder = try ServerFolder()
        let path = folder.path("store.sqlite")
        try await withServer(path: path, CloudCode()) { (server) async throws in
            #expect(try await Self.send(server, "POST", "/events/AppOpened", [:]).json == [:])
        }
        try await withServer(path: path, CloudCode()) { (server) async throws in
            let reply = try await Self.send(server, "GET", "/events", isMaster: true)
            let event = try #require(try reply.json["results"]?.array?.first, "\(reply.text)")
            #expect(event["name"] == "AppOpened" && event["count"] == 1)
        }
    }

    @Test func appsReadTheConfigurationParameters() async throws {
        try await withServer(CloudCode()) { (server) async throws in
            let body: JSONValue = ["params": ["welcome": "hi", "secret": 1], "masterKeyOnly": ["secret": true]]
            #expect(try await Self.send(server, "PUT", "/config", body).status == 403)
            #expect(try await Self.send(server, "PUT", "/config", body, isMaster: true).json == ["result": true])
            #expect(try await Self.send(server, "GET", "/config").json == ["params": ["welcome": "hi"]])
        }
    }
}
#endif
