#if Server
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// HTTP as the server handles it, regardless of the service that answers.
struct HTTPTests {
    @Test func aRequestReachesTheProtocolBelowTheMount() async throws {
        try await TestServer.running { server in
            let reply = try await server.request(
                "POST", "/parse/classes/Book?x=%20y",
                headers: ["X-Parse-Application-Id": "app", "User-Agent": "test", "X-PARSE-REQUEST-ID": "1"],
                body: Array("{}".utf8))
            #expect(reply.status == 200)
            #expect(
                try reply.json == [
                    "method": "POST", "path": "/classes/Book", "query": "x=%20y", "length": 2, "body": "{}",
                    "headers": ["x-parse-application-id": "app", "x-parse-request-id": "1"],
                ])
        }
    }

    @Test func aRepeatedFieldIsAListOfItsValues() async throws {
        try await TestServer.running { server in
            let reply = try await blocking {
                let connection = try server.connect()
                let fields =
                    "Authorization: a\r\nX-Parse-Request-Id: 1\r\nauthorization: b\r\nx-parse-request-id: 1\r\n"
                try connection.send("GET /parse/x HTTP/1.1\r\nHost: x\r\n\(fields)\r\n")
                return try connection.receive()
            }
            #expect(try reply.json["headers"] == ["authorization": "a, b", "x-parse-request-id": "1"])
        }
    }

    @Test func everyReplyIsJSONThatMustNotBeCached() async throws {
        try await TestServer.running { server in
            for path in ["/parse/health", "/parse", "/nowhere", "/livez"] {
                let reply = try await server.request("GET", path)
                #expect(reply.headers["content-type"] == "application/json; charset=utf-8")
                #expect(reply.headers["cache-control"] == "no-store")
                #expect(reply.headers["access-control-allow-origin"] == "*")
                #expect(reply.headers["date"]?.hasSuffix(" GMT") == true)
                #expect(reply.headers["x-request-id"]?.isEmpty == false)
                _ = try reply.json
            }
        }
    }

    @Test func pathsOutsideTheMountAreNotFound() async throws {
        try await TestServer.running { server in
            for path in ["/", "/parsed/classes/Book", "/classes/Book", "/../parse", "//parse/health"] {
                let reply = try await server.request("GET", path)
                #expect(reply.status == 404, "\(path)")
                #expect(reply.code == ParseError.Code.commandUnavailable.rawValue)
            }
        }
    }

    @Test func aServerWithoutMountHasTheProtocolAtTheRoot() async throws {
        try await TestServer.running({ $0.mount = "/" }) { server in
            let reply = try await server.request("GET", "/classes/Book")
            #expect(try reply.json["path"] == "/classes/Book")
        }
    }

    @Test func absoluteAddressesFromProxiesAreReadAsPaths() async throws {
        try await TestServer.running { server in
            let reply = try await server.request("GET", "http://example.com:80/parse/health?a=b")
            #expect(try reply.json["path"] == "/health")
            #expect(try reply.json["query"] == "a=b")
        }
    }

    @Test func theRequestIDOfAProxyIsKeptUnlessItIsInvalid() async throws {
        try await TestServer.running { server in
            let kept = try await server.request("GET", "/parse/health", headers: ["X-Request-Id": "abc-1"])
            #expect(kept.headers["x-request-id"] == "abc-1")
            let made = try await server.request("GET", "/parse/health", headers: ["X-Request-Id": "a b\"c"])
            #expect(made.headers["x-request-id"]?.contains("\"") == false)
        }
    }

    @Test func headHasTheHeadersOfGetAndNoBody() async throws {
        try await TestServer.running { server in
            let get = try await server.request("GET", "/parse/health")
            let (head, next) = try await blocking {
                let connection = try server.connect()
                return (try connection.request("HEAD", "/parse/health"), try connection.request("GET", "/parse/health"))
            }
            #expect(head.status == 200)
            #expect(head.headers["content-length"] == get.headers["content-length"])
            #expect(next.status == 200)
        }
    }

    @Test func browsersGetTheAllowedMethodsAndFields() async throws {
        try await TestServer.running { server in
            let reply = try await server.request(
                "OPTIONS", "/parse/classes/Book", headers: ["Origin": "https://a.example"])
            #expect(reply.status == 200)
            #expect(reply.headers["access-control-allow-origin"] == "*")
            #expect(reply.headers["access-control-allow-methods"] == "GET,PUT,POST,DELETE,OPTIONS")
            for name in ["X-Parse-Application-Id", "X-Parse-Windows-Key", "Authorization"] {
                #expect(reply.headers["access-control-allow-headers"]?.contains(name) == true)
            }
        }
    }

    @Test func theProtocolGetsEveryKey() async throws {
        try await TestServer.running { server in
            let reply = try await server.request(
                "GET", "/parse/health", headers: ["Authorization": "Basic eA==", "X-Parse-Windows-Key": "key"])
            let headers = try reply.json["headers"]
            #expect(headers?["authorization"] == "Basic eA==" && headers?["x-parse-windows-key"] == "key")
        }
    }

    @Test func onlyAllowedOriginsAreNamedInReplies() async throws {
        try await TestServer.running({ $0.allowedOrigins = ["https://a.example", "https://b.example"] }) { server in
            for (origin, allowed) in [
                ("https://a.example", "https://a.example"), ("https://b.example", "https://b.example"),
                ("https://evil.example", "https://a.example"),
            ] {
                let reply = try await server.request("GET", "/parse/health", headers: ["Origin": origin])
                #expect(reply.headers["access-control-allow-origin"] == allowed)
                #expect(reply.headers["vary"] == "origin")
            }
        }
    }

    @Test func pipelinedRequestsAreAnsweredInTheirOrder() async throws {
        try await TestServer.running(service: { request in
            // The first request takes longest.
            let number = Int(request.path.split(separator: "/").last ?? "") ?? 0
            try? await Task.sleep(for: .milliseconds(number == 0 ? 100 : 0))
            return WireReply(["number": .integer(Int64(number))])
        }) { server in
            let numbers = try await blocking {
                let connection = try server.connect()
                try connection.send(
                    (0..<500).flatMap {
                        ServerConnection.bytes("POST", "/parse/\($0)", body: Array("{\"a\":\($0)}".utf8))
                    })
                return try (0..<500).map { _ in try connection.receive().json["number"] }
            }
            #expect(numbers == (0..<500).map { .integer($0) })
        }
    }

    @Test func aConnectionOfHTTP10IsClosedAfterItsReply() async throws {
        try await TestServer.running { server in
            let text = try await blocking {
                let connection = try server.connect()
                try connection.send("GET /parse/health HTTP/1.0\r\n\r\n")
                return try connection.receiveAll()
            }
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            #expect(text.contains("\r\nconnection: close\r\n"))
            #expect(text.hasSuffix("}"))
        }
    }

    @Test func aConnectionOfHTTP10IsKeptIfTheClientAsks() async throws {
        try await TestServer.running { server in
            let statuses = try await blocking {
                let connection = try server.connect()
                return try (0..<2).map { _ in
                    try connection.send("GET /parse/health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
                    return try connection.receive().status
                }
            }
            #expect(statuses == [200, 200])
        }
    }

    @Test func aClientThatClosesItsSideStillGetsItsReply() async throws {
        try await TestServer.running(service: { _ in
            try? await Task.sleep(for: .milliseconds(50))
            return WireReply([:])
        }) { server in
            let text = try await blocking {
                let connection = try server.connect()
                try connection.send("GET /parse/health HTTP/1.1\r\nHost: x\r\n\r\n")
                connection.finish()
                return try connection.receiveAll()
            }
            #expect(text.hasPrefix("HTTP/1.1 200 OK"))
        }
    }

    @Test func clientsThatExpectAContinueGetOne() async throws {
        try await TestServer.running { server in
            let (question, reply) = try await blocking {
                let connection = try server.connect()
                try connection.send(
                    "POST /parse/x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
                let question = try connection.receive()
                try connection.send("{}")
                return (question, try connection.receive())
            }
            #expect(question.status == 100)
            #expect(try reply.json["length"] == 2)
        }
    }

    @Test func aContinueFollowsThePreviousReply() async throws {
        try await TestServer.running(service: { request in
            try? await Task.sleep(for: .milliseconds(50))
            return await TestServer.echo(request)
        }) { server in
            let replies = try await blocking {
                let connection = try server.connect()
                try connection.send(
                    "GET /parse/first HTTP/1.1\r\nHost: x\r\n\r\n"
                        + "POST /parse/x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
                let first = [try connection.receive(), try connection.receive()]
                try connection.send("{}")
                return first + [try connection.receive()]
            }
            #expect(replies.map(\.status) == [200, 100, 200])
            #expect(try replies[2].json["length"] == 2)
        }
    }

    @Test func noContinueIsSentWithoutABody() async throws {
        try await TestServer.running { server in
            for length in ["Content-Length: 0\r\n", ""] {
                let status = try await blocking {
                    let connection = try server.connect()
                    try connection.send(
                        "POST /parse/x HTTP/1.1\r\nHost: x\r\n\(length)Expect: 100-continue\r\n\r\n")
                    return try connection.receive().status
                }
                #expect(status == 200)
            }
        }
    }

    @Test func aRefusedRequestForTheHeadGetsNoBody() async throws {
        try await TestServer.running({ $0.limits.bodySize = 10 }) { server in
            for fields in ["Host: x\r\nHost: y\r\n", "Host: x\r\nContent-Length: 11\r\n"] {
                let text = try await blocking {
                    let connection = try server.connect()
                    try connection.send("HEAD /parse/x HTTP/1.1\r\n\(fields)\r\n")
                    return try connection.receiveAll()
                }
                #expect(text.hasPrefix("HTTP/1.1 4") && text.hasSuffix("\r\n\r\n"), "\(text)")
            }
        }
    }

    @Test func aRequestForTheHeadThatTakesTooLongGetsNoBody() async throws {
        try await TestServer.running(
            { $0.limits.requestTime = .milliseconds(100) },
            service: { _ in
                try? await Task.sleep(for: .seconds(5))
                return WireReply([:])
            }
        ) { server in
            let text = try await blocking {
                let connection = try server.connect()
                try connection.send("HEAD /parse/x HTTP/1.1\r\nHost: x\r\n\r\n")
                return try connection.receiveAll()
            }
            #expect(text.hasPrefix("HTTP/1.1 503") && text.hasSuffix("\r\n\r\n"), "\(text)")
        }
    }

    @Test func aBodyInChunksIsAssembled() async throws {
        try await TestServer.running { server in
            let reply = try await blocking {
                let connection = try server.connect()
                try connection.send("POST /parse/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
                for part in ["1\r\n{\r\n", "4\r\n\"a\":\r\n", "2\r\n1}\r\n", "0\r\n\r\n"] { try connection.send(part) }
                return try connection.receive()
            }
            #expect(try reply.json["body"] == "{\"a\":1}")
        }
    }

    @Test func aRequestToUpgradeTheProtocolIsAnsweredInHTTP1() async throws {
        try await TestServer.running { server in
            let text = try await blocking {
                let connection = try server.connect()
                try connection.send(
                    "GET /parse/health HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                        + "HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n")
                return try connection.receiveAll()
            }
            #expect(text.hasPrefix("HTTP/1.1 200 OK"))
        }
    }

    /// A malformed request, and the status of its reply.
    struct Malformed: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let request: String
        let status: Int

        init(_ name: String, _ status: Int, _ request: String) {
            (testDescription, self.request, self.status) = (name, request, status)
        }
    }

    @Test(arguments: [
        Malformed("no method", 501, "NONSENSE\r\n\r\n"),
        Malformed("an unknown method", 501, "FOO / HTTP/1.1\r\nHost: x\r\n\r\n"),
        Malformed("no path", 400, "GET nonsense HTTP/1.1\r\nHost: x\r\n\r\n"),
        Malformed("a later version", 505, "GET / HTTP/9.9\r\nHost: x\r\n\r\n"),
        Malformed("no host", 400, "GET / HTTP/1.1\r\n\r\n"),
        Malformed("two hosts", 400, "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"),
        Malformed("a field with a space in its name", 400, "GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n"),
        Malformed("a negative length", 400, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"),
        Malformed(
            "two lengths", 400, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}"),
        Malformed(
            "a length and chunks", 400,
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n"),
        Malformed(
            "a chunk without length", 400, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
        Malformed(
            "another transfer coding", 501,
            "POST /parse/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
        Malformed("a proxy's request", 405, "CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n"),
        Malformed(
            "a long field", 431, "GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 40_000))\r\n\r\n"),
        Malformed(
            "many fields", 431, "GET / HTTP/1.1\r\nHost: x\r\n\(String(repeating: "X: y\r\n", count: 300))\r\n"),
        Malformed("a long path", 414, "GET /\(String(repeating: "a", count: 70_000)) HTTP/1.1\r\nHost: x\r\n\r\n"),
        Malformed(
            "a path without end", 414, "GET /\(String(repeating: "a", count: 140_000)) HTTP/1.1\r\nHost: x\r\n\r\n"),
        Malformed(
            "a field without end", 431,
            "GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a ", count: 70_000))\r\n\r\n"),
    ])
    func malformedHTTPIsRefusedInParsesForm(_ malformed: Malformed) async throws {
        try await TestServer.running { server in
            let (reply, isClosed) = try await blocking {
                let connection = try server.connect()
                try connection.send(malformed.request)
                return (try connection.receive(), try connection.isClosedByServer())
            }
            #expect(reply.status == malformed.status)
            #expect(reply.code != nil)
            #expect(isClosed)
        }
    }

    @Test func aMalformedRequestAfterOthersIsRefusedInOrder() async throws {
        try await TestServer.running(service: { _ in
            try? await Task.sleep(for: .milliseconds(50))
            return WireReply([:])
        }) { server in
            let statuses = try await blocking {
                let connection = try server.connect()
                let right = "GET /parse/health HTTP/1.1\r\nHost: x\r\n\r\n"
                try connection.send(right + right + "GET nonsense HTTP/1.1\r\n\r\n")
                return try (0..<3).map { _ in try connection.receive().status }
            }
            #expect(statuses == [200, 200, 400])
        }
    }
}
#endif
