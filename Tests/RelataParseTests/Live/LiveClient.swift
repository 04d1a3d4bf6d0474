import Foundation
import RelataParse
import Testing

/// A client of live queries on a test server.
struct LiveClient: Sendable {
    let connection: LiveQueryConnection

    /// Connects with a session, with the master key, or with neither.
    ///
    /// - Parameters:
    ///   - isConnecting: Whether the client says who it is.
    ///   - address: The client's address.
    ///   - report: Called with the errors that the client doesn't get.
    init(
        _ server: TestServer, token: String? = nil, isMaster: Bool = false, connecting isConnecting: Bool = true,
        from address: String? = nil,
        report: @escaping @Sendable (any Error) -> Void = { Issue.record("failed: \($0)") }
    ) async throws {
        connection = await server.service.connectLiveQueries(from: address, report: report)
        guard isConnecting else { return }
        var message: JSONObject = ["op": "connect", "applicationId": "app"]
        if let token { message["sessionToken"] = .string(token) }
        if isMaster { message["masterKey"] = "master" }
        await say(.object(message))
        #expect(try await next()["op"] == "connected")
    }

    func say(_ message: JSONValue) async { await connection.receive(JSONWriter.text(message)) }

    /// The next message.
    func next() async throws -> JSONValue {
        struct Silence: Error {}
        return try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask { await connection.next() }
            group.addTask {
                try await Task.sleep(for: .seconds(60))
                throw Silence()
            }
            defer { group.cancelAll() }
            guard let text = try await group.next() ?? nil else { return .null }
            return try JSONParser.parse(text)
        }
    }

    /// Begins a live query, and returns the reply.
    @discardableResult
    func subscribe(
        _ className: String, where condition: JSONValue = [:], id: Int64 = 1, _ more: JSONObject = [:],
        message: JSONObject = [:]
    ) async throws -> JSONValue {
        var query: JSONObject = ["className": .string(className), "where": condition]
        for (name, value) in more { query[name] = value }
        var whole: JSONObject = ["op": "subscribe", "requestId": .integer(id), "query": .object(query)]
        for (name, value) in message { whole[name] = value }
        await say(.object(whole))
        return try await next()
    }

    /// The next event in short: `create 1 Kindred`, with the number of the query and a field of the object.
    func event(_ field: String = "title") async throws -> String {
        let message = try await next()
        let value = message["object"]?[field]
        let text = value?.string ?? value.map { JSONWriter.text($0) } ?? "-"
        return "\(message["op"]?.string ?? "?") \(message["requestId"]?.integer ?? 0) \(text)"
    }

    /// Expects that the next event is one of these.
    func expect(
        _ events: String..., by field: String = "title", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let event = try await event(field)
        #expect(events.contains(event), sourceLocation: sourceLocation)
    }
}
