#if Server
import Foundation
import RelataParse
import ServerClient
import TestEngines
import Testing

@testable import RelataServer

/// A suite about the dashboard over HTTP, as its pages and others call it.
protocol DashboardSuite {}

/// The requests of a signed-in page.
struct DashboardPage: Sendable {
    let server: TestServer
    let cookie: String
    let token: String

    var headers: [String: String] { ["Cookie": cookie, "X-Relata-Page-Token": token] }

    func request(
        _ method: String, _ path: String, _ body: JSONValue? = nil, headers: [String: String] = [:]
    ) async throws -> ServerReplyText {
        try await send(method, path, body.map { Array(JSONWriter.text($0).utf8) } ?? [], headers: headers)
    }

    func send(
        _ method: String, _ path: String, _ body: [UInt8], headers: [String: String] = [:]
    ) async throws -> ServerReplyText {
        try await server.request(
            method, "/dashboard/api" + path, headers: self.headers.merging(headers) { $1 }, body: body)
    }
}

extension DashboardSuite {
    /// Runs `body` with a server, on the test's engine.
    func running<Result: Sendable>(
        isReadOnly: Bool = false, allowedOrigins: [String] = ["*"], auditFile: String? = nil,
        maximumImport: Int = 1024 * 1024, options: ParseService.Options = ParseService.Options(),
        _ body: @escaping @Sendable (TestServer, RelataServer) async throws -> Result
    ) async throws -> Result {
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        configuration.allowedOrigins = allowedOrigins
        var dashboard = RelataServer.Dashboard(name: "library", isReadOnly: isReadOnly, auditFile: auditFile)
        dashboard.maximumImport = maximumImport
        configuration.dashboard = dashboard
        let server = try RelataServer(
            try ParseStore.open(TestDatabases.newPath()),
            keys: ServerKeys(applicationID: "app", clientKey: "client", masterKey: "master"),
            options: options, configuration: configuration)
        return try await TestServer.running(server) { try await body($0, server) }
    }

    func signIn(
        _ server: TestServer, _ key: String = "master", headers: [String: String] = [:]
    ) async throws -> ServerReplyText {
        try await server.request(
            "POST", "/dashboard/api/login", headers: headers, body: Array(JSONWriter.text(["key": .string(key)]).utf8))
    }

    func page(
        _ server: TestServer, _ key: String = "master", headers: [String: String] = [:]
    ) async throws -> DashboardPage {
        let reply = try await signIn(server, key, headers: headers)
        #expect(reply.status == 200, "\(reply.text)")
        let cookie = try #require(reply.headers["set-cookie"]?.split(separator: ";").first)
        return DashboardPage(
            server: server, cookie: String(cookie), token: try #require(reply.json["pageToken"]?.string))
    }
}
#endif
