import RelataParse
import Synchronization
import TestEngines
import TestSupport
import Testing

/// A hook of live queries that takes its time delays only the query that it is asked about.
@Suite(.onEveryEngine) struct SlowLiveHookTests {
    /// Lets waiting hooks continue.
    private final class Gate: Sendable {
        private let state = Mutex((isOpen: false, isReached: false))

        /// Waits for the gate to open; at most a minute.
        func pass() async throws {
            state.withLock { $0.isReached = true }
            for _ in 0..<12_000 {
                if state.withLock({ $0.isOpen }) { return }
                try await Task.sleep(for: .milliseconds(5))
            }
            Issue.record("the gate stays shut")
        }

        func open() { state.withLock { $0.isOpen = true } }

        /// Waits until a hook has come to the gate.
        func reached() async { await waitUntil { state.withLock { $0.isReached } } }
    }

    private let gate = Gate()

    /// A server whose hook of notes waits for mei's gate.
    private func server(
        _ configure: (inout ParseService.Options) -> Void = { _ in }
    ) async throws -> (server: TestServer, mei: TestServer.Person, sam: TestServer.Person) {
        let gate = gate
        let server = try TestServer.withUsers { options in
            options.maximumLiveTime = 60
            options.code.afterEvent("Note") { _, call in
                if call.user?["username"] == "mei" { try await gate.pass() }
            }
            configure(&options)
        }
        _ = try await server.create("Note", ["title": "0", "text": "0"])
        return (server, try await server.signUp("mei"), try await server.signUp("sam"))
    }

    @Test func nobodyElseWaitsForASlowHook() async throws {
        let (server, mei, sam) = try await server()
        let (hers, his) = (
            try await LiveClient(server, token: mei.token), try await LiveClient(server, token: sam.token)
        )
        for client in [hers, his] { try await client.subscribe("Note") }
        for title in ["a", "b"] { _ = try await server.create("Note", ["title": .string(title)]) }
        for title in ["a", "b"] { try await his.expect("create 1 \(title)") }
        // Nor do other queries of the same client.
        try await hers.subscribe("Book", id: 2)
        gate.open()
        for title in ["a", "b"] { try await hers.expect("create 1 \(title)") }
    }

    @Test func aQueryWhoseHookTakesTooLongEnds() async throws {
        let (server, mei, sam) = try await server { $0.maximumLiveTime = 1 }
        let hers = try await LiveClient(server, token: mei.token) { _ in }
        let his = try await LiveClient(server, token: sam.token) { _ in }
        for client in [hers, his] { try await client.subscribe("Note") }
        _ = try await server.create("Note", ["title": "a"])
        try await his.expect("create 1 a")
        let end = try await hers.next()
        #expect(end["op"] == "error" && end["code"] == 124 && end["requestId"] == 1, "\(end)")
        #expect(end["reconnect"] == false)
        gate.open()
        // The client stays, and can use the number again.
        #expect(try await hers.subscribe("Note")["op"] == "subscribed")
        _ = try await server.create("Note", ["title": "b"])
        try await hers.expect("create 1 b")
        try await his.expect("create 1 b")
    }

    @Test func aQueryWhoseHookFallsBehindEnds() async throws {
        let (server, mei, sam) = try await server { $0.maximumLiveBacklog = 4000 }
        let (hers, his) = (
            try await LiveClient(server, token: mei.token), try await LiveClient(server, token: sam.token)
        )
        for client in [hers, his] { try await client.subscribe("Note") }
        for number in 0..<8 {
            let text = String(repeating: "x", count: 1000)
            _ = try await server.create("Note", ["title": .string("\(number)"), "text": .string(text)])
            try await his.expect("create 1 \(number)")
        }
        let end = try await hers.next()
        #expect(end["op"] == "error" && end["code"] == 155 && end["requestId"] == 1, "\(end)")
        gate.open()
        #expect(try await hers.subscribe("Note")["op"] == "subscribed")
    }

    @Test func theQueriesOfAClientFallBehindTogether() async throws {
        let (server, mei, sam) = try await server { $0.maximumLiveBacklog = 4000 }
        let (hers, his) = (
            try await LiveClient(server, token: mei.token), try await LiveClient(server, token: sam.token)
        )
        for number: Int64 in [1, 2] { try await hers.subscribe("Note", id: number) }
        try await his.subscribe("Note")
        for number in 0..<3 {
            let text = String(repeating: "x", count: 1000)
            _ = try await server.create("Note", ["title": .string("\(number)"), "text": .string(text)])
            try await his.expect("create 1 \(number)")
        }
        let end = try await hers.next()
        #expect(end["op"] == "error" && end["code"] == 155, "\(end)")
        gate.open()
        // The events of only one query aren't too many.
        let other = end["requestId"] == 1 ? 2 : 1
        for number in 0..<3 { try await hers.expect("create \(other) \(number)") }
    }

    @Test func anObjectThatDisappearsDuringTheHookIsNotSent() async throws {
        let (server, mei, sam) = try await server()
        let (hers, his) = (
            try await LiveClient(server, token: mei.token), try await LiveClient(server, token: sam.token)
        )
        for client in [hers, his] { try await client.subscribe("Note") }
        let id = try await server.create("Note", ["title": "a", "ACL": acl(read: [mei.id])])
        await gate.reached()
        try await server.send("PUT", "/classes/Note/\(id)", ["title": "b", "ACL": acl(read: [sam.id])])
        // Once his event has arrived, hers is waiting for the hook. A slow server reads the class, which has its first
        // access list, only after the change: then the object is new for him.
        try await his.expect("enter 1 b", "create 1 b")
        gate.open()
        let event = try await hers.next()
        #expect(
            event["op"] == "leave" && event["object"] == ["className": "Note", "objectId": .string(id)], "\(event)")
    }

    @Test func anEndedQuerySendsNoMoreEvents() async throws {
        let (server, mei, _) = try await server()
        let hers = try await LiveClient(server, token: mei.token)
        try await hers.subscribe("Note")
        _ = try await server.create("Note", ["title": "a"])
        await gate.reached()
        await hers.say(["op": "unsubscribe", "requestId": 1])
        #expect(try await hers.next()["op"] == "unsubscribed")
        gate.open()
        #expect(try await hers.subscribe("Note", id: 1)["op"] == "subscribed")
        _ = try await server.create("Note", ["title": "b"])
        try await hers.expect("create 1 b")
    }

    @Test func aSessionThatEndsDuringTheHookEndsTheQuery() async throws {
        let (server, mei, _) = try await server()
        let hers = try await LiveClient(server, token: mei.token)
        try await hers.subscribe("Note")
        for title in ["a", "b"] { _ = try await server.create("Note", ["title": .string(title)]) }
        await gate.reached()
        #expect(try await server.send(as: mei, "POST", "/logout", [:]).status == 200)
        let end = try await hers.next()
        #expect(end["op"] == "error" && end["code"] == 209 && end["requestId"] == 1, "\(end)")
        gate.open()
    }
}
