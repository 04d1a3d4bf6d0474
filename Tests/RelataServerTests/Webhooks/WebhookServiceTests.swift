#if Server
import Foundation
import RelataParse
import ServerClient
import TestSupport
import Testing

#if PostgreSQL
import PostgresCluster
#endif

@testable import RelataServer

/// Webhooks of a server as it is run, by HTTP.
struct WebhookServiceTests {
    /// Runs `body` with a server on each engine.
    private func onEveryEngine(
        timeout: Duration = .seconds(5), _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await running(nil, timeout, body)
        #if PostgreSQL
        if PrivateCluster.isInstalled {
            let database = try PrivateCluster.shared.makeDatabase()
            try await running(database.url, timeout, body)
            withExtendedLifetime(database) {}
        }
        #endif
    }

    private func running(
        _ path: String?, _ timeout: Duration, _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        var options = ParseService.Options()
        options.secrets = ScryptSecrets(cost: 10)
        var sender = HTTPWebhooks()
        sender.allowsPrivateAddresses = true
        sender.timeout = timeout
        sender.key = "key"
        options.webhooks = WebhookOptions(sender)
        options.webhooks?.retries = [0.01, 0.01]
        let keys = ServerKeys(applicationID: "app", masterKey: "master")
        let server = try RelataServer(
            try ParseStore.open(path), keys: keys, options: options, configuration: configuration)
        try await TestServer.running(server, body)
    }

    private static func send(
        _ server: TestServer, _ method: String, _ path: String, _ body: JSONValue? = nil
    ) async throws -> ServerReplyText {
        try await server.request(
            method, "/parse" + path,
            headers: [
                "X-Parse-Application-Id": "app", "X-Parse-Master-Key": "master", "Content-Type": "application/json",
            ], body: body.map { Array(JSONWriter.text($0).utf8) } ?? [])
    }

    private static func register(_ trigger: String, _ url: String, _ server: TestServer) async throws {
        let reply = try await send(
            server, "POST", "/hooks/triggers",
            ["className": "Book", "triggerName": .string(trigger), "url": .string(url)])
        try #require(reply.status == 200, "\(reply.text)")
    }

    @Test func clientsSaveObjectsThatAWebhookAllows() async throws {
        let hooks: @Sendable (WebhookServer.Call) -> WebhookServer.Answer? = { call in
            if call.json["triggerName"] == "afterSave" { return .success() }
            var object = call.json["object"]?.object ?? [:]
            if object["title"] == "bad" {
                return .init(status: .badRequest, body: #"{"error": {"code": 142, "error": "bad"}}"#)
            }
            object["by"] = call.json["ip"]
            return .success(.object(object))
        }
        try await onEveryEngine { server in
            try await WebhookServer.running(hooks) { webhooks in
                try await Self.register("beforeSave", webhooks.url("/before"), server)
                try await Self.register("afterSave", webhooks.url("/after"), server)
                let reply = try await Self.send(server, "POST", "/classes/Book", ["title": "Dune"])
                #expect(try reply.status == 201 && reply.json["by"] == "127.0.0.1", "\(reply.text)")
                let refused = try await Self.send(server, "POST", "/classes/Book", ["title": "bad"])
                #expect(try refused.json == ["code": 142, "error": "bad"], "\(refused.text)")
                await waitUntil { webhooks.calls.contains { $0.path == "/after" } }
                let told = try #require(webhooks.calls.first { $0.path == "/after" })
                #expect(told.json["object"]?["title"] == "Dune" && told.headers["x-parse-webhook-key"] == ["key"])
                #expect(webhooks.calls.filter { $0.path == "/after" }.count == 1)
            }
        }
    }

    @Test func aHangingWebhookDelaysNoOtherRequest() async throws {
        try await onEveryEngine(timeout: .milliseconds(300)) { server in
            try await WebhookServer.running({ _ in nil }) { webhooks in
                try await Self.register("beforeSave", webhooks.url(), server)
                let waiting = Task { try await Self.send(server, "POST", "/classes/Book", ["title": "Dune"]) }
                await waitUntil { !webhooks.calls.isEmpty }
                // Other requests write while the webhook hangs.
                let other = try await Self.send(server, "POST", "/classes/Note", ["title": "x"])
                #expect(other.status == 201, "\(other.text)")
                let reply = try await waiting.value
                #expect(
                    reply.status == 503 && reply.code == 141 && reply.text.contains("beforeSave of Book"),
                    "\(reply.text)")
                let found = try await Self.send(server, "GET", "/classes/Book")
                #expect(try found.json == ["results": []])
            }
        }
    }

    @Test func concurrentRequestsCallAWebhookAtOnce() async throws {
        try await onEveryEngine { server in
            try await WebhookServer.running({ .success($0.json["params"]?["n"] ?? .null) }) { webhooks in
                _ = try await Self.send(
                    server, "POST", "/hooks/functions", ["functionName": "echo", "url": .string(webhooks.url())])
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<40 {
                        group.addTask {
                            let reply = try await Self.send(
                                server, "POST", "/functions/echo", ["n": .integer(Int64(number))])
                            #expect(try reply.json == ["result": .integer(Int64(number))], "\(reply.text)")
                        }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }

    @Test(arguments: ["no JSON", "[]", "{}", "7", ""])
    func anInvalidReplyDeniesTheSave(body: String) async throws {
        try await running(nil, .seconds(5)) { server in
            try await WebhookServer.running({ _ in .init(body: body) }) { webhooks in
                try await Self.register("beforeSave", webhooks.url(), server)
                let reply = try await Self.send(server, "POST", "/classes/Book", ["title": "Dune"])
                #expect(reply.status == 400 && reply.code == 141, "\(reply.text)")
            }
        }
    }

    @Test func thisMachineIsRefusedByDefault() async throws {
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        let keys = ServerKeys(applicationID: "app", masterKey: "master")
        let server = try RelataServer(try ParseStore.open(nil), keys: keys, configuration: configuration)
        try await TestServer.running(server) { server in
            try await WebhookServer.running({ _ in .success() }) { webhooks in
                let refused = try await Self.send(
                    server, "POST", "/hooks/functions", ["functionName": "a", "url": .string(webhooks.url())])
                #expect(refused.code == 143 && refused.text.contains("--private-webhooks"), "\(refused.text)")
                _ = try await Self.send(
                    server, "POST", "/hooks/functions",
                    ["functionName": "a", "url": .string(webhooks.url(host: "localhost"))])
                let reply = try await Self.send(server, "POST", "/functions/a", [:])
                #expect(reply.status == 400 && reply.code == 141 && !reply.text.contains("127.0.0.1"), "\(reply.text)")
                #expect(webhooks.calls.isEmpty)
            }
        }
    }

    @Test func theWebhookOfTheGuideWorks() async throws {
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        let server = try RelataServer(protocol: TitleWebhook(secret: "secret"), configuration: configuration)
        try await TestServer.running(server) { server in
            func call(_ object: JSONObject, secret: String, at time: Date = Date()) async throws -> WebhookReply {
                var sender = HTTPWebhooks()
                sender.allowsPrivateAddresses = true
                sender.secret = secret
                sender.now = { time }
                let body = JSONWriter.text(["triggerName": "beforeSave", "object": .object(object)])
                return try await sender.send(
                    WebhookRequest(
                        url: "http://127.0.0.1:\(server.port)/parse/book", body: Array(body.utf8), id: "1"))
            }
            let right = try await call(["title": "Dune"], secret: "secret")
            #expect(try JSONParser.parse(right.body) == ["success": ["title": "DUNE"]])
            let refused = try await call([:], secret: "secret")
            #expect(try JSONParser.parse(refused.body)["error"]?["code"] == 142)
            #expect(try await call(["title": "Dune"], secret: "other").status == 401)
            #expect(
                try await call(["title": "Dune"], secret: "secret", at: Date(timeIntervalSinceNow: -600)).status == 401)
        }
    }
}
#endif
