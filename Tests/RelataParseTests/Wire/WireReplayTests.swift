import Foundation
import RelataParse
import TestEngines
import Testing

/// Everyday calls of the real ParseSwift client, sent again. Every reply must have the form that the client accepts,
/// and the expected effect.
@Suite(.onEveryEngine) struct WireReplayTests {
    private static let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../../shared/data/parse-wire/parseswift-6.1.0.jsonl").standardizedFileURL

    private static var isRecorded: Bool { FileManager.default.fileExists(atPath: file.path) }

    @Test(.enabled(if: isRecorded, "the recorded requests aren't beside this checkout"))
    func everyCallOfTheRealClientIsAnsweredAsItExpects() async throws {
        let (server, _) = try TestServer.withMail { options in
            options.files = FileOptions(storage: TestFileStorage())
            options.code.function("hello") { .object(["echo": .object($0.parameters)]) }
            let webhooks = TestWebhooks()
            for name in ["foo", "bar"] { webhooks.answer("https://api.example.com/\(name)") { _ in ["success": true] } }
            options.webhooks = WebhookOptions(webhooks)
        }
        try await server.send("PUT", "/config", ["params": ["welcome": "hi"]])
        var ids: [String: String] = [:]
        var calls = 0
        for line in try String(contentsOf: Self.file, encoding: .utf8).split(separator: "\n") {
            let call = try JSONParser.parse(String(line))
            try await replay(call, on: server, &ids)
            calls += 1
        }
        #expect(calls == 75)
    }

    private func replay(_ call: JSONValue, on server: TestServer, _ ids: inout [String: String]) async throws {
        let label = call["label"]?.string ?? ""
        var target = try #require(call["target"]?.string)
        var text = JSONWriter.text(call["body"] ?? [:])
        for (recorded, own) in ids {
            target = target.replacingOccurrences(of: recorded, with: own)
            text = text.replacingOccurrences(of: recorded, with: own)
        }
        // The targets in `jsonl` contain parameters without the escaping that URLs need.
        target = String(target.dropFirst("/parse".count))
        let body = try JSONParser.parse(text)
        let method = try #require(call["method"]?.string)
        var headers: [String: String] = [:]
        for (name, value) in call["headers"]?.object ?? [:] { headers[name.lowercased()] = value.string }
        headers["x-parse-master-key"] = "master"
        if let token = headers["x-parse-session-token"] { headers["x-parse-session-token"] = ids[token] ?? token }
        let reply: TestServer.Reply
        if let raw = body["_raw"]?.string {
            reply = try await server.upload(
                String(target.dropFirst("/files/".count)), raw, headers: headers, isMaster: true)
        } else {
            reply = try await server.send(method, target, body == [:] ? nil : body, headers: headers)
        }

        if label == "schema create / fetch / update / delete", method != "GET", method != "PUT" {
            // An earlier save has created the class, so it can be neither created nor dropped.
            #expect(reply.code == (method == "POST" ? 103 : 255), "\(label): \(reply.json)")
        } else {
            let recorded = call["reply"] ?? [:]
            #expect(Int64(reply.status) == call["status"]?.integer, "\(label): \(method) \(target): \(reply.json)")
            if let members = recorded.object {
                for (name, value) in members {
                    // The index that every class has is only listed along with others.
                    if name == "indexes", value == ["_id_": ["_id": 1]] { continue }
                    #expect(reply[name] != nil, "\(label) lacks \(name): \(reply.json)")
                }
            }
            learn(from: recorded, reply.json, &ids)
            try checkEffect(label, method, target, reply, recorded)
            if label == "file save + on object + fetch", method == "PUT" { try await checkCover(server, target) }
        }
    }

    /// The object shows the file that was uploaded before.
    private func checkCover(_ server: TestServer, _ target: String) async throws {
        let cover = try await server.send("GET", target)["cover"]
        let name = try #require(cover?["name"]?.string)
        #expect(cover?["url"]?.string?.hasSuffix("/files/app/\(name)") == true, "\(cover ?? .null)")
        #expect(try await server.download(name).text == "hello")
    }

    /// Maps the recorded ids to our own.
    private func learn(from recorded: JSONValue, _ own: JSONValue, _ ids: inout [String: String]) {
        switch (recorded, own) {
        case (.object(let left), .object(let right)):
            for name in ["objectId", "sessionToken"] {
                if let old = left[name]?.string, let new = right[name]?.string, ids[old] == nil { ids[old] = new }
            }
            if left["url"] != nil, let old = left["name"]?.string { ids[old] = right["name"]?.string }
            if left["success"] != nil { learn(from: left["success"] ?? [:], right["success"] ?? [:], &ids) }
        case (.array(let left), .array(let right)) where left.count == right.count:
            for (old, new) in zip(left, right) { learn(from: old, new, &ids) }
        default: break
        }
    }

    private func checkEffect(
        _ label: String, _ method: String, _ target: String, _ reply: TestServer.Reply, _ recorded: JSONValue
    ) throws {
        let names = reply.results.map { $0["name"]?.string ?? $0["title"]?.string ?? "" }
        switch label {
        case "Author.queryRelations(authors, parent: book).find":
            #expect(names == ["Aaron Writer", "Beatrice Novelist"])
        case "queryRelations after remove": #expect(names == ["Aaron Writer"])
        case "Book where authors == author (reverse through relation)", "query pointer equality genre == object",
            "comparisons, order, limit, skip", "dates: createdAt > date",
            "containedIn / notContainedIn / containsAll", "exists / isNull", "isNotNull, isNull", "or / and",
            "inQuery: genre matches subquery":
            #expect(names == ["A Love Story"], "\(label): \(reply.json)")
        case "regex: hasPrefix, containsString": #expect(names == ["A Love Story"])
        case "matchesKeyInQuery ($select)": #expect(names == [])
        case "Book.query().include(isbn, genre).find", "includeAll first":
            let book = try #require(reply.results.first)
            #expect(book["genre"]?["name"] == "Sci-Fi" && book["genre"]?["__type"] == "Object")
            #expect(book["isbn"]?["isbn"] == "9781401211868")
            #expect(book["tags"] == ["a", "b"] && book["price"] == 9.75 && book["published"] == true)
            #expect(book["blob"] == ["__type": "Bytes", "base64": "aGVsbG8="])
            #expect(book["releasedAt"] == ["__type": "Date", "iso": "1995-05-09T06:13:20.500Z"])
            #expect(book["where_"]?["latitude"] == 40)
            if label.hasPrefix("includeAll") { #expect(book["publisher"]?["name"] == "Acacia Publishings") }
        case "fetch include": #expect(reply["genre"]?["name"] == "Sci-Fi" && reply["isbn"]?["__type"] == "Pointer")
        case "query(name == x).first": #expect(names == ["Aaron Writer"])
        case "query first not found -> error 101": #expect(reply.results.isEmpty)
        case "fetch missing -> 101": #expect(reply.json == ["code": 101, "error": "Object not found."])
        case "pointer fetch": #expect(reply["name"] == "Acacia Publishings")
        case "select / exclude" where target.contains("excludeKeys"):
            #expect(reply.results.first?["title"] == nil && reply.results.first?["price"] == 9.75)
        case "select / exclude":
            #expect(reply.results.first?["title"] == "A Love Story" && reply.results.first?["price"] == nil)
        case "count": #expect(reply["count"] == 1 && reply.results.isEmpty)
        case "withCount": #expect(reply["count"] == 1 && reply.results.count == 1)
        case "distinct (scalar field: SDK itself cannot decode the strings parse-server returns -> expects a client decode error)":
            #expect(reply.results == ["A Love Story"])
        case "aggregate $match": #expect(reply.results.first?["title"] == "A Love Story")
        case "aggregate $group": #expect(reply.results.first?["total"] == 1)
        case "operation: increment, add, addUnique, remove, unset, set":
            #expect(reply["publishingYear"] == 1996 && reply["tags"] == ["a", "b", "c"])
        case "operation: addUnique": #expect(reply["tags"] == ["a", "b", "c", "d"])
        case "operation: remove": #expect(reply["tags"] == ["b", "c", "d"])
        case "fetchAll": #expect(names.sorted() == ["Aaron W.", "Beatrice Novelist"])
        case "cloud function", "analytics event", "hook function + trigger create": #expect(reply.json == recorded)
        case "config fetch": #expect(reply["params"] == recorded["params"])
        case "delete pointed-to Genre (dangling pointer afterwards)" where method == "GET":
            // Unlike Parse: the pointer is unset with its target, and never dangles.
            let book = try #require(reply.results.first)
            #expect(book["genre"] == nil && book["title"] == "New")
        default: break
        }
    }
}
