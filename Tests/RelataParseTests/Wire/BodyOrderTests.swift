import Foundation
import RelataParse
import TestSupport
import TestEngines
import Testing

/// The checks before the body of a request is read.
@Suite(.onEveryEngine) struct BodyOrderTests {
    private let service: ParseService

    init() throws {
        let keys = ParseKeys(applicationID: "app", isClientKey: { $0 == "client" }, isMasterKey: { $0 == "master" })
        var options = ParseService.Options()
        options.maximumBodyWithoutKeys = 1000
        service = ParseService(try ParseStore.open(TestDatabases.newPath()), keys: keys, options: options)
    }

    private static let client = ["x-parse-application-id": "app", "x-parse-client-key": "client"]

    private func send(
        _ method: String, _ path: String, _ body: String, _ headers: [String: String] = client
    ) async throws -> (status: Int, json: JSONValue) {
        let request = WireRequest(method: method, path: path, headers: headers, body: Array(body.utf8))
        let reply = await service.respond(to: request) { _ in }
        return (reply.status, try JSONParser.parse(reply.body))
    }

    @Test func keysAreCheckedBeforeTheBody() async throws {
        for headers in [
            ["x-parse-application-id": "other"], ["x-parse-client-key": "other", "x-parse-application-id": "app"],
            ["x-parse-master-key": "other"], ["authorization": "Basic \(Data("app:other".utf8).base64EncodedString())"],
            [:], ["x-parse-application-id": "app"],
        ] {
            let reply = try await send("POST", "/classes/Book", "{\"a\":", headers)
            #expect(reply.status == 403 && reply.json["error"] == "unauthorized", "\(headers): \(reply)")
        }
        #expect(try await send("POST", "/classes/Book", "{\"a\":").json["code"] == 107)
        // The body can't make up for a wrong key in the header fields.
        let body = #"{"_ApplicationId":"app","_MasterKey":"master","a":1}"#
        #expect(try await send("POST", "/classes/Book", body, ["x-parse-client-key": "other"]).status == 403)
    }

    @Test func keysAreFoundAnywhereInTheBody() async throws {
        for body in [
            #"{"_ApplicationId":"app","_JavaScriptKey":"client","a":1}"#,
            #" { "a" : [ { "_ApplicationId" : "x]" } , "\"}" ] , "_JavaScriptKey":"client" ,"_ApplicationId": "app" } "#,
            #"{"a":[-1.5e3],"b":null,"c":{"d":{}},"_ApplicationId":"\u0061pp","_MasterKey":"master"}"#,
        ] {
            let reply = try await send("POST", "/classes/\(body.contains("d") ? "Book" : "Other")", body, [:])
            #expect(reply.status == 201 || reply.json["code"] == 111, "\(body): \(reply)")
        }
        let twice = #"{"_ApplicationId":"app","_JavaScriptKey":"client","_JavaScriptKey":"client"}"#
        #expect(try await send("POST", "/classes/Book", twice, [:]).json["code"] == 107)
        let master = #"{"_MasterKey":"master","_method":"GET"}"#
        #expect(try await send("POST", "/schemas", master).status == 200)
        for body in [
            "", "[]", "{", "x", #"{"_ApplicationId":"app"}"#, #"{"_ApplicationId":"app","_JavaScriptKey":"client""#,
            #"{"_ApplicationId":"app","_JavaScriptKey":"client"} x"#, #"{"_ApplicationId" "app"}"#,
            "{\"_ApplicationId\":\"",
            #"{"a":{"_ApplicationId":"app","_JavaScriptKey":"client"}}"#, "{\"a\":\\", "{\"_\":}", "{,}", "{\"a\":1,}",
        ] {
            let reply = try await send("POST", "/classes/Book", body, [:])
            #expect(reply.status == 403, "\(body): \(reply)")
        }
    }

    @Test func anySequenceOfBytesIsABodyWithoutKeys() async throws {
        var random = SeededGenerator(seed: 7)
        let pieces = [
            "{", "}", "[", "]", "\"", "\\", ":", ",", "_ApplicationId", "app", " ", "1", "null", "\u{e9}", "\"a\":",
        ]
        for round in 0..<2000 {
            let count = Int.random(in: 0..<12, using: &random)
            let body = (0..<count).compactMap { _ in pieces.randomElement(using: &random) }.joined()
            #expect(try await send("POST", "/classes/Book", body, [:]).status == 403, "seed 7, round \(round): \(body)")
        }
    }

    @Test func aBodyWithoutKeysInHeaderFieldsIsLimited() async throws {
        let text = String(repeating: "x", count: 2000)
        let keys = #""_ApplicationId":"app","_JavaScriptKey":"client""#
        let large = try await send("POST", "/classes/Book", "{\"a\":\"\(text)\",\(keys)}", [:])
        #expect(large.status == 413 && large.json["code"] == 116, "\(large)")
        #expect(try await send("POST", "/classes/Book", "{\"a\":\"\(text.prefix(500))\",\(keys)}", [:]).status == 201)
        #expect(try await send("POST", "/classes/Book", "{\"a\":\"\(text)\"}").status == 201)
    }

    @Test func disabledAndUnknownPathsAreReportedForAnyBody() async throws {
        let expected: [(String, String, Int, JSONValue)] = [
            ("POST", "/files/a.txt", 400, 130), ("POST", "/files/a.png", 400, 130), ("PUT", "/files/x", 400, 130),
            ("POST", "/functions/hello", 400, 141), ("POST", "/jobs/hello", 400, 141), ("POST", "/users", 400, 119),
            ("POST", "/login", 400, 119), ("POST", "/push", 400, 119),
            ("POST", "/hooks/functions", 400, 119),
            ("POST", "/graphql", 400, 119), ("POST", "/classes/_User", 400, 119), ("PUT", "/schemas/_Role", 400, 119),
            ("POST", "/nowhere", 404, 108), ("POST", "/", 404, 108), ("POST", "/classes", 404, 108),
            ("POST", "/classes/A/b/c", 404, 108), ("POST", "/batch/x", 404, 108), ("DELETE", "/purge", 404, 108),
        ]
        for (method, path, status, code) in expected {
            for body in ["hello, world", "{\"a\":", "\u{0}\u{1}", ""] {
                let reply = try await send(method, path, body)
                #expect(reply.status == status && reply.json["code"] == code, "\(method) \(path): \(reply)")
            }
            #expect(try await send(method, path, "hello", ["x-parse-application-id": "other"]).status == 403)
        }
    }

    @Test func formsAreReadAsBodies() async throws {
        let form = Self.client.merging(["content-type": "application/x-www-form-urlencoded; charset=UTF-8"]) { $1 }
        let made = try await send("POST", "/classes/Book", "title=The+Left%20Hand&pages=1%2B1", form)
        #expect(made.status == 201, "\(made)")
        let query = "_method=GET&where=%7B%22title%22%3A%22The%20Left%20Hand%22%7D&limit=1"
        let found = try await send("POST", "/classes/Book", query, form)
        #expect(found.json["results"]?.array?.map { $0["pages"] } == ["1+1"], "\(found)")
        let keys = "_ApplicationId=app&_JavaScriptKey=client&_method=GET"
        let type = ["content-type": "application/x-www-form-urlencoded"]
        #expect(try await send("POST", "/classes/Book", keys, type).json["results"]?.array?.count == 1)
        #expect(try await send("POST", "/classes/Book", "_ApplicationId=app&_JavaScriptKey=x", type).status == 403)
        #expect(try await send("POST", "/classes/Book", "a=1&a=2", form).json["code"] == 102)
        #expect(try await send("POST", "/classes/Book", "a=%zz", form).json["code"] == 102)
        // Some programs call every body a form. If it begins like JSON, it is read as JSON.
        #expect(try await send("POST", "/classes/Book", " {\"title\":\"b\"}", form).status == 201)
        #expect(try await send("POST", "/classes/Book", "{\"title\":", form).json["code"] == 107)
    }
}
