import RelataParse
import RelataTesting
import TestEngines
import Testing

/// Messages of any shape are answered, and delay or end no other client.
@Suite(.onEveryEngine) struct LiveFuzzTests {
    private static let words = [
        "title", "year", "tags", "meta", "meta.a", "genre", "objectId", "ACL", "_User", "_Session", "_File", "Book",
        "Genre", "$in", "$nin", "$eq", "$ne", "$gt", "$exists", "$or", "$and", "$all", "$inQuery", "$relatedTo",
        "__type", "Pointer", "className", "where", "keys", "*", "", "a.b", "'; DROP TABLE Book; --", "\"", "é", "💥",
    ]

    private static func word(_ random: inout SampleRandom) -> String { words.randomElement(using: &random) ?? "" }

    private static func value(_ depth: Int, _ random: inout SampleRandom) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
        case 0: .null
        case 1: .bool(Bool.random(using: &random))
        case 2: .integer([0, 1, -1, .max, .min].randomElement(using: &random) ?? 0)
        case 3: .double(0.5)
        case 4, 5: .string(word(&random))
        case 6: .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth - 1, &random) })
        default:
            .object(
                JSONObject(
                    (0..<Int.random(in: 0...3, using: &random)).map { _ in (word(&random), value(depth - 1, &random)) })
            )
        }
    }

    /// A message of the protocol, with some of its members replaced.
    private static func message(_ random: inout SampleRandom) -> JSONValue {
        var query: JSONObject = ["className": .string(word(&random)), "where": value(3, &random)]
        for name in ["className", "where", "keys", "fields", "watch", "include", "excludeKeys", "results", "limit"]
        where Int.random(in: 0..<5, using: &random) == 0 {
            query[name] = value(2, &random)
        }
        let op = ["subscribe", "update", "unsubscribe", "connect", "other"].randomElement(using: &random) ?? ""
        var message: JSONObject = [
            "op": .string(op), "requestId": .integer(Int64.random(in: 1...4, using: &random)), "query": .object(query),
        ]
        for name in ["op", "requestId", "query", "after", "sessionToken", "masterKey", "results"]
        where Int.random(in: 0..<12, using: &random) == 0 {
            message[name] = value(2, &random)
        }
        return .object(message)
    }

    @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
    func messagesOfAnyShapeAreAnswered(seed: UInt64) async throws {
        print("seed \(seed)")
        var random = SampleRandom(seed: seed)
        let server = try TestServer.withUsers()
        _ = try await server.create("Book", ["title": "A", "year": 1, "tags": ["a"], "meta": ["a": 1]])
        let client = try await LiveClient(server, isMaster: true)
        let other = try await LiveClient(server, isMaster: true)
        #expect(try await other.subscribe("Book")["op"] == "subscribed")
        for _ in 0..<200 {
            let message = Self.message(&random)
            await client.say(message)
            // The reply to this request comes after all replies to the message.
            await client.say(["op": "unsubscribe", "requestId": 99])
            var answer = JSONValue.null
            repeat {
                answer = try await client.next()
                try #require(answer["op"]?.string != nil, "seed \(seed): \(message)")
            } while answer["requestId"] != 99
        }
        _ = try await server.create("Book", ["title": "B"])
        try await other.expect("create 1 B")
    }
}
