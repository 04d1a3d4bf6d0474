import Foundation
import RelataParse
import RelataTesting
import TestEngines
import Testing

/// The reply to any request comes in bounded time: an object or an error of Parse's form, never a crash.
@Suite(.onEveryEngine) struct FuzzTests {
    private static let words = [
        "title", "year", "genre", "authors", "tags", "__op", "__type", "Increment", "Add", "AddUnique", "Remove",
        "Delete",
        "AddRelation", "RemoveRelation", "PlaceRelation", "after", "Batch", "ops", "objects", "amount", "Pointer",
        "Date", "GeoPoint", "Polygon",
        "Bytes", "File", "Relation", "Object", "className", "objectId", "iso", "base64", "latitude", "longitude",
        "coordinates", "Book", "Genre", "ACL", "*", "'; DROP TABLE Book; --", "\"", "a.b", "", "\u{0}", "é", "💥",
        "meta", "meta.a.b", "createdAt", "requests", "method", "path", "body", "POST", "/classes/Book", "transaction",
    ]

    private static func value(_ depth: Int, _ random: inout SampleRandom) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
        case 0: .null
        case 1: .bool(Bool.random(using: &random))
        case 2: .integer([0, 1, -1, .max, .min, 1 << 53].randomElement(using: &random) ?? 0)
        case 3: .double([0.5, -1e308, 1e-300, 12345.678].randomElement(using: &random) ?? 0)
        case 4, 5: .string(words.randomElement(using: &random) ?? "")
        case 6: .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth - 1, &random) })
        default:
            .object(
                JSONObject(
                    (0..<Int.random(in: 0...4, using: &random)).map { _ in
                        (words.randomElement(using: &random) ?? "", value(depth - 1, &random))
                    }))
        }
    }

    @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
    func randomObjectsAreStoredOrRefused(seed: UInt64) async throws {
        print("seed \(seed)")
        var random = SampleRandom(seed: seed)
        let server = try TestServer()
        let id = try await server.create(
            "Book", ["title": "A", "year": 1, "tags": ["a"], "meta": ["a": 1], "sentinel": "stays"])
        for round in 0..<600 {
            let body = Self.value(4, &random)
            let members: JSONValue = body.object == nil ? ["title": body] : body
            let target =
                ["/classes/Book", "/classes/Book/\(id)", "/batch", "/schemas/Other", "/schemas/Book"]
                .randomElement(using: &random) ?? ""
            let method = ["POST", "PUT", "GET"].randomElement(using: &random) ?? ""
            let reply = try await server.send(method, target, members)
            let isError = reply.json["code"]?.integer != nil && reply.json["error"]?.string != nil
            #expect(reply.status < 400 || isError, "round \(round), \(method) \(target) \(members): \(reply.json)")
            #expect(reply.status != 500, "round \(round), \(method) \(target) \(members): \(reply.json)")
        }
        #expect(try await server.get("Book", id)["sentinel"] == "stays")
    }

    @Test func malformedTextIsRefused() async throws {
        let server = try TestServer()
        let texts = [
            "{", "[", "nul", "{\"a\":1,}", "{\"a\":1,\"a\":2}", "{\"a\":01}", "{\"a\":1e999}", "{\"a\":\"\u{1}\"}",
            "{\"a\":\"\\ud800\"}", String(repeating: "[", count: 100_000), String(repeating: "{\"a\":", count: 10_000),
            "\u{FEFF}{}", "{\"a\":NaN}", "1", "\"text\"",
        ]
        for text in texts {
            let reply = await server.service.respond(
                to: WireRequest(
                    method: "POST", path: "/classes/Book",
                    headers: ["x-parse-application-id": "app", "x-parse-master-key": "master"], body: Array(text.utf8)))
            #expect(reply.status == 400, "\(text.prefix(40))")
            #expect(String(decoding: reply.body, as: UTF8.self).contains("\"code\":107"), "\(text.prefix(40))")
        }
        let invalid = WireRequest(
            method: "POST", path: "/classes/Book",
            headers: ["x-parse-application-id": "app", "x-parse-master-key": "master"],
            body: Array("{\"a\":\"".utf8) + [0xFF, 0xFE] + Array("\"}".utf8))
        #expect(await server.service.respond(to: invalid).status == 400)
    }

    @Test func aMillionElementsAreStored() async throws {
        let server = try TestServer()
        let id = try await server.create("Large", ["list": .array((0..<1_000_000).map { .integer($0) })])
        #expect(try await server.get("Large", id)["list"]?.array?.count == 1_000_000)
    }
}
