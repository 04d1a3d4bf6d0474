import Foundation
import RelataParse
import Synchronization
import Testing

/// Webhooks in this process: each address has an answer.
final class TestWebhooks: WebhookSender {
    typealias Answer = @Sendable (JSONValue) async throws -> JSONValue

    private struct State {
        var answers: [String: Answer] = [:]
        var calls: [(url: String, body: JSONValue, id: String)] = []
        var reports: [String] = []
    }

    private let state = Mutex(State())

    func problem(with url: String) -> String? { url.hasPrefix("http") ? nil : "it must be an address" }

    func send(_ request: WebhookRequest) async throws -> WebhookReply {
        let body = try JSONParser.parse(request.body)
        let answer = state.withLock { state in
            state.calls.append((request.url, body, request.id))
            return state.answers[request.url]
        }
        guard let answer else { throw WebhookError("nobody is there", isTemporary: true) }
        return WebhookReply(body: Array(JSONWriter.text(try await answer(body)).utf8))
    }

    /// Sets the answer of an address.
    func answer(_ url: String, _ answer: @escaping Answer) { state.withLock { $0.answers[url] = answer } }

    /// The requests to an address.
    func calls(_ url: String) -> [JSONValue] { state.withLock { $0.calls.filter { $0.url == url }.map(\.body) } }

    /// The ids of the calls of an address.
    func ids(_ url: String) -> [String] { state.withLock { $0.calls.filter { $0.url == url }.map(\.id) } }

    func report(_ error: any Error) { state.withLock { $0.reports.append("\(error)") } }

    /// The errors that were reported.
    var reports: [String] { state.withLock { $0.reports } }

    /// Waits until an address was asked that often.
    func wait(for count: Int, at url: String) async throws {
        for _ in 0..<4000 {
            if calls(url).count >= count { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw TestServer.Refused(reply: "\(url) was called \(calls(url).count) times, and not \(count)")
    }

    /// Waits until that many errors were reported.
    func waitForReports(_ count: Int) async throws {
        for _ in 0..<4000 {
            if reports.count >= count { return }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw TestServer.Refused(reply: "\(reports.count) errors were reported, and not \(count)")
    }
}

extension TestServer {
    /// A server with users and webhooks.
    static func withWebhooks(
        path: String? = nil, _ configure: (inout ParseService.Options) -> Void = { _ in }
    ) throws -> (server: TestServer, hooks: TestWebhooks) {
        let hooks = TestWebhooks()
        let server = try withUsers(path: path) { options in
            var webhooks = WebhookOptions(hooks)
            webhooks.retries = [0, 0]
            webhooks.report = { hooks.report($0) }
            options.webhooks = webhooks
            configure(&options)
        }
        return (server, hooks)
    }

    /// Registers a webhook for a trigger, at the address `http://hook/TRIGGER`.
    func register(_ trigger: String, _ className: String) async throws {
        let reply = try await send(
            "POST", "/hooks/triggers",
            [
                "className": .string(className), "triggerName": .string(trigger),
                "url": .string("http://hook/\(trigger)"),
            ])
        try #require(reply.status == 200, "\(reply.json)")
    }
}
