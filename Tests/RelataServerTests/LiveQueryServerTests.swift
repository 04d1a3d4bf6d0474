#if Server
import DocumentationSupport
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// Live queries over the server's WebSocket.
struct LiveQueryServerTests {
    private func serving<Result: Sendable>(
        _ body: @escaping @Sendable (TestServer) throws -> Result
    ) async throws -> Result {
        var configuration = RelataServer.Configuration()
        (configuration.port, configuration.stopsOnSignals) = (0, false)
        let keys = ServerKeys(applicationID: "library", clientKey: "client", masterKey: nil)
        let server = try RelataServer(ParseStore.open(nil), keys: keys, configuration: configuration)
        return try await TestServer.running(server) { server in try await blocking { try body(server) } }
    }

    private func create(_ server: TestServer, _ body: String) throws {
        let reply = try server.connect().request(
            "POST", "/parse/classes/Book",
            headers: ["X-Parse-Application-Id": "library", "X-Parse-Client-Key": "client"], body: Array(body.utf8))
        #expect(reply.status == 201, "\(reply.text)")
    }

    @Test func theMessagesOfTheGuideAreSentAndReceived() async throws {
        let blocks = try MarkdownDocument("Documentation/LiveQueries.md").blocks("json").map {
            $0.lines.joined(separator: "\n")
        }
        try #require(blocks.count == 3)
        try await serving { server in
            try create(server, #"{"title": "Dawn", "year": 1970}"#)
            for path in ["/parse", "/parse/"] {
                let socket = try server.socket(path)
                let connect = blocks[0].replacing(
                    "\"clientKey\": \"…\", \"sessionToken\": \"r:…\"", with: "\"clientKey\": \"client\"")
                try socket.send(frame: .text, Array(connect.utf8))
                #expect(try socket.message()["op"] == "connected")
                try socket.send(frame: .text, Array(blocks[1].utf8))
                #expect(try socket.message()["op"] == "subscribed")
                try create(server, #"{"title": "Fledgling", "year": 2005}"#)
                let (event, shown) = (try socket.message(), try JSONParser.parse(blocks[2]))
                #expect(Set(try #require(event.object?.keys)) == Set(try #require(shown.object?.keys)))
                for name in ["op", "requestId"] { #expect(event[name] == shown[name]) }
                for name in ["className", "title", "year"] {
                    #expect(event["object"]?[name] == shown["object"]?[name])
                }
                try socket.send(frame: .close, [])
                #expect(try socket.receiveFrame().kind == .close)
            }
        }
    }

    @Test func aClientWithoutTheKeyGetsNoEvents() async throws {
        try await serving { server in
            let socket = try server.socket("/parse")
            for text in [#"{"op":"connect","applicationId":"library"}"#, #"{"op":"connect","clientKey":"client"}"#] {
                try socket.send(frame: .text, Array(text.utf8))
                #expect(try socket.message()["code"] == 4)
            }
            try socket.send(
                frame: .text, Array(#"{"op":"subscribe","requestId":1,"query":{"className":"Book","where":{}}}"#.utf8))
            #expect(try socket.message()["code"] == 2)
            try socket.send(frame: .binary, [1, 2, 3])
            #expect(try socket.message()["code"] == 1)
        }
    }

    @Test func thereIsNoWebSocketElsewhere() async throws {
        try await serving { server in
            let reply = try server.connect().upgrade("/parse/classes/Book")
            #expect(reply.status == 403)
        }
    }

    @Test func theQueriesOfADisconnectedClientEnd() async throws {
        try await serving { server in
            for _ in 0..<20 {
                let socket = try server.socket("/parse")
                let connect = #"{"op":"connect","applicationId":"library","clientKey":"client"}"#
                try socket.send(frame: .text, Array(connect.utf8))
                _ = try socket.message()
                let query = #"{"op":"subscribe","requestId":1,"query":{"className":"Book","where":{}}}"#
                try socket.send(frame: .text, Array(query.utf8))
                #expect(try socket.message()["op"] == "subscribed")
                socket.close()
            }
            try create(server, #"{"title": "Kindred"}"#)
        }
    }
}

extension ServerConnection {
    /// The server's next message, which is JSON.
    func message() throws -> JSONValue {
        while true {
            let frame = try receiveFrame()
            if frame.kind == .ping { continue }
            try #require(frame.kind == .text)
            return try JSONParser.parse(String(decoding: frame.bytes, as: UTF8.self))
        }
    }
}
#endif
