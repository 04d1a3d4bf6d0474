import Testing

@testable import RelataParse

/// A small request can ask for a lot: no reply exceeds its limit.
@Suite(.onEveryEngine) struct ReplyLimitTests {
    private let server: TestServer
    private let id: String

    init() async throws {
        var options = ParseService.Options()
        options.maximumReply = 100_000
        server = try TestServer(options: options)
        id = try await server.create("Big", ["text": .string(String(repeating: "x", count: 30_000))])
    }

    private func code(_ pipeline: JSONValue) async throws -> Int64? {
        try await server.send("POST", "/aggregate/Big", ["pipeline": pipeline, "_method": "GET"]).code
    }

    @Test func aBatchOfReadsIsLimitedAsAWhole() async throws {
        let get: JSONValue = ["method": "GET", "path": .string("/parse/classes/Big/\(id)"), "body": [:]]
        let two = try await server.send("POST", "/batch", ["requests": [get, get]])
        #expect(two.status == 200 && two.json.array?.count == 2)
        let many = try await server.send("POST", "/batch", ["requests": .array(Array(repeating: get, count: 150))])
        #expect(many.code == 116, "\(many.status)")
    }

    @Test func aBatchThatIsTooLargeWritesNothing() async throws {
        let get: JSONValue = ["method": "GET", "path": .string("/parse/classes/Big/\(id)"), "body": [:]]
        let post: JSONValue = ["method": "POST", "path": "/parse/classes/Small", "body": ["n": 1]]
        let reply = try await server.send(
            "POST", "/batch", ["requests": .array([post] + Array(repeating: get, count: 10))])
        #expect(reply.code == 116)
        #expect(try await server.find("Small").isEmpty)
    }

    @Test func aChangeWhoseReplyWouldBeTooLargeIsNotMade() async throws {
        let text = JSONValue.string(String(repeating: "x", count: 60_000))
        let list = try await server.create("List", ["members": [text]])
        let body: JSONValue = ["members": ["__op": "Add", "objects": [text]]]
        #expect(try await server.send("PUT", "/classes/List/\(list)", body).code == 116)
        #expect(try await server.get("List", list)["members"] == [text])
    }

    @Test func aQueryForTooManyBytesIsRefused() async throws {
        #expect(try await server.find("Big").count == 1)
        for _ in 0..<4 { _ = try await server.create("Big", ["text": .string(String(repeating: "y", count: 30_000))]) }
        let reply = try await server.send("GET", "/classes/Big")
        #expect(reply.code == 116 && reply.status == 400)
        #expect(reply["error"]?.string?.contains("100000 bytes") == true)
        #expect(try await server.find("Big", where: [:], "limit=2").count == 2)
        #expect(try await server.find("Big", where: [:], "keys=nothing").count == 5)
    }

    @Test func manyIncludesOfOneLargeObjectAreLimited() async throws {
        let pointers = JSONValue.array(Array(repeating: pointer("Big", id), count: 50))
        let list = try await server.create("List", ["members": pointers])
        #expect(try await server.get("List", list)["members"]?.array?.count == 50)
        #expect(try await server.get("List", list, "include=members")["code"] == 116)
    }

    /// Pipelines that would produce a lot from little, as JSON.
    private static let greedy: [String] = [
        "[" + doubling.joined(separator: ",") + "]", "[" + nesting.joined(separator: ",") + "]",
        #"[{"$addFields": {"text": {"$concat": [\#(list(#""$text""#, 10_000))]}}}]"#,
        #"[{"$project": {"all": [\#(list(#"{"$toUpper": "$text"}"#, 10_000))]}}]"#,
        #"[{"$group": {"objectId": "$n", "all": {"$push": [\#(list(#""$text""#, 100))]}}}]"#,
        #"[{"$addFields": {"text": [\#(list(#"{"$concat": ["$text", "a"]}"#, 1000))]}}, {"$count": "n"}]"#,
    ]

    /// A text that is joined with itself, thirty times.
    private static var doubling: [String] {
        Array(repeating: #"{"$addFields": {"text": {"$concat": ["$text", "$text"]}}}"#, count: 30)
    }

    /// A list that contains itself twice, thirty times.
    private static var nesting: [String] {
        Array(repeating: #"{"$addFields": {"list": ["$list", "$list"]}}"#, count: 30)
    }

    private static func list(_ element: String, _ count: Int) -> String {
        Array(repeating: element, count: count).joined(separator: ",")
    }

    @Test(arguments: greedy.indices)
    func theResultsOfAPipelineAreLimited(_ number: Int) async throws {
        #expect(try await code(try JSONParser.parse(Self.greedy[number])) == 116)
    }

    @Test func theMultiplicationOfListElementsIsLimited() async throws {
        _ = try await server.create("Row", ["a": .array((0..<100).map { JSONValue.integer(Int64($0)) })])
        let small: JSONValue = [["$unwind": "$a"], ["$count": "n"]]
        #expect(try await server.aggregate("Row", small) == [["n": 100]])
        let reply = try await server.send(
            "POST", "/aggregate/Row",
            [
                "_method": "GET",
                "pipeline": [
                    ["$addFields": ["b": "$a", "c": "$a"]], ["$unwind": "$a"], ["$unwind": "$b"], ["$unwind": "$c"],
                    ["$count": "n"],
                ],
            ])
        #expect(reply.code == 116)
    }

    @Test func aCancelledPipelineEnds() async throws {
        let documents = (0..<5000).map { JSONValue.object(["n": .integer(Int64($0))]) }
        let stage = PipelineStage.addFields([.init(path: ["m"], value: .field(["n"]))])
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            return try stage.applied(to: documents, limit: .max)
        }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func aCancelledRequestIsNoFailureOfTheStore() async throws {
        let (service, log) = (server.service, SQLStatements())
        let task = Task {
            while !Task.isCancelled { await Task.yield() }
            let headers = ["x-parse-application-id": "app"]
            return await service.respond(to: WireRequest(method: "GET", path: "/classes/Big", headers: headers)) {
                log.append("\($0)")
            }
        }
        task.cancel()
        let reply = await task.value
        let json = try JSONParser.parse(reply.body)
        #expect(reply.status == 503 && json["code"] == 124, "\(json)")
        #expect(json["error"]?.string?.contains("too long") == true, "\(json)")
        #expect(log.all.isEmpty)
    }
}
