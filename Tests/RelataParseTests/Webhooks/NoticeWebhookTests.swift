import RelataParse
import Synchronization
import TestEngines
import Testing

/// Webhooks that are notified of events.
@Suite(.onEveryEngine) struct NoticeWebhookTests {
    private static let after = "http://hook/afterSave"

    @Test func noticesHaveTheStoredObject() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        for name in ["afterSave", "afterDelete"] {
            try await server.register(name, "Book")
            hooks.answer("http://hook/\(name)") { _ in ["success": true] }
        }
        let id = try await server.create("Book", ["title": "Dune", "count": 1])
        #expect(
            try await server.send("PUT", "/classes/Book/\(id)", ["count": ["__op": "Increment", "amount": 1]]).status
                == 200)
        try await hooks.wait(for: 2, at: Self.after)
        let calls = hooks.calls(Self.after).sorted {
            ($0["object"]?["count"]?.integer ?? 0) < ($1["object"]?["count"]?.integer ?? 0)
        }
        #expect(calls[0]["object"]?["objectId"] == .string(id) && calls[0]["original"] == nil)
        #expect(calls[1]["object"]?["count"] == 2 && calls[1]["original"]?["count"] == 1)
        #expect(calls[1]["triggerName"] == "afterSave" && calls[1]["master"] == true)
        #expect(try await server.send("DELETE", "/classes/Book/\(id)").status == 200)
        try await hooks.wait(for: 1, at: "http://hook/afterDelete")
        #expect(hooks.calls("http://hook/afterDelete")[0]["object"]?["title"] == "Dune")
    }

    @Test func aFailedNoticeIsSentAgainWithTheSameID() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        try await server.register("afterSave", "Book")
        let tries = Mutex(0)
        hooks.answer(Self.after) { _ in
            let count = tries.withLock { tries in
                tries += 1
                return tries
            }
            if count < 3 { throw WebhookError("away", isTemporary: true) }
            return ["success": true]
        }
        _ = try await server.create("Book", ["title": "Dune"])
        try await hooks.wait(for: 3, at: Self.after)
        #expect(Set(hooks.ids(Self.after)).count == 1 && hooks.reports.isEmpty)
    }

    @Test func abandonedNoticesAreReported() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        try await server.register("afterSave", "Book")
        hooks.answer(Self.after) { _ in throw WebhookError("away", isTemporary: true) }
        _ = try await server.create("Book", ["title": "Dune"])
        try await hooks.waitForReports(1)
        #expect(hooks.calls(Self.after).count == 3 && hooks.reports[0].contains("failed: away"))
        hooks.answer(Self.after) { _ in ["error": "never"] }
        _ = try await server.create("Book", ["title": "Dune"])
        try await hooks.waitForReports(2)
        #expect(hooks.calls(Self.after).count == 4)
    }

    @Test func rolledBackWritesSendNoNotices() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        try await server.register("afterSave", "Book")
        hooks.answer(Self.after) { _ in ["success": true] }
        _ = try await server.send(
            "POST", "/schemas/Book",
            [
                "className": "Book", "fields": ["count": ["type": "Number"], "title": ["type": "String"]],
            ])
        func request(_ body: JSONValue) -> JSONValue {
            ["method": "POST", "path": "/parse/classes/Book", "body": body]
        }
        let requests: JSONValue = .array([
            request(["title": "a"]), request(["count": "no number"]), request(["title": "b"]),
        ])
        let whole = try await server.send("POST", "/batch", ["requests": requests, "transaction": true])
        #expect(whole.code == 111, "\(whole.json)")
        let parts = try await server.send("POST", "/batch", ["requests": requests])
        #expect(parts.json.array?[1]["error"] != nil, "\(parts.json)")
        try await hooks.wait(for: 2, at: Self.after)
        #expect(hooks.calls(Self.after).compactMap { $0["object"]?["title"]?.string }.sorted() == ["a", "b"])
    }

    @Test func aFullQueueReportsDroppedNotices() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let (server, hooks) = try TestServer.withWebhooks { options in
            options.webhooks?.width = 1
            options.webhooks?.maximumWaiting = 1
        }
        try await server.register("afterSave", "Book")
        hooks.answer(Self.after) { _ in
            for await _ in gate.stream { break }
            return ["success": true]
        }
        for number in 0..<8 { _ = try await server.create("Book", ["n": .integer(Int64(number))]) }
        try await hooks.waitForReports(1)
        #expect(hooks.reports[0].contains("lost"))
        gate.continuation.finish()
    }

    @Test func waitingNoticesTakeLimitedMemory() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let (server, hooks) = try TestServer.withWebhooks { options in
            options.webhooks?.width = 1
            options.webhooks?.maximumWaitingBytes = 100_000
        }
        try await server.register("afterSave", "Book")
        hooks.answer(Self.after) { _ in
            for await _ in gate.stream { break }
            return ["success": true]
        }
        let text = JSONValue.string(String(repeating: "x", count: 30_000))
        for _ in 0..<6 { _ = try await server.create("Book", ["text": text]) }
        let lost = hooks.reports.count
        #expect((3...5).contains(lost) && hooks.reports.allSatisfy { $0.contains("lost") }, "\(hooks.reports)")
        gate.continuation.finish()
        try await hooks.wait(for: 6 - lost, at: Self.after)
        // Sent notices release their memory for others, and so do abandoned ones.
        for round in 0..<5 {
            if round == 1 { hooks.answer(Self.after) { _ in throw WebhookError("away") } }
            let sent = hooks.calls(Self.after).count
            for _ in 0..<400 where hooks.calls(Self.after).count == sent {
                _ = try await server.create("Book", ["text": text])
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(hooks.calls(Self.after).count > sent)
        }
        _ = try await server.create("Book", ["text": .string(String(repeating: "x", count: 110_000))])
        #expect(hooks.reports.contains { $0.contains("this notice of 110") && $0.contains("is lost") })
    }

    @Test func aStoppingServerDeliversOrReportsNotices() async throws {
        let (server, hooks) = try TestServer.withWebhooks { $0.webhooks?.retries = [600] }
        try await server.register("afterSave", "Book")
        hooks.answer(Self.after) { _ in ["success": true] }
        _ = try await server.create("Book", ["title": "Dune"])
        await server.service.stopWebhooks()
        #expect(hooks.calls(Self.after).count == 1 && hooks.reports.isEmpty)
        let (second, others) = try TestServer.withWebhooks { $0.webhooks?.retries = [600] }
        try await second.register("afterSave", "Book")
        others.answer(Self.after) { _ in throw WebhookError("away", isTemporary: true) }
        _ = try await second.create("Book", ["title": "Dune"])
        try await others.wait(for: 1, at: Self.after)
        await second.service.stopWebhooks()
        try await others.waitForReports(1)
        #expect(others.reports[0].contains("away"))
    }
}
