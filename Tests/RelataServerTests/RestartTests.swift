#if Server && CommandLineTool
import Foundation
import ServerClient
import Testing

@testable import RelataServer

/// A client without a reply repeats its request with the same id, after the server was killed or stopped.
struct RestartTests {
    private static let headers = ["X-Parse-Application-Id": "app"]
    private static let increment = Array(#"{"count": {"__op": "Increment", "amount": 1}}"#.utf8)

    private func server(_ folder: ServerFolder) throws -> ServedFile {
        ServedFile(
            tool: try ServedTool.executable, path: folder.path("file.sqlite"),
            options: ["--app-id", "app", "--client-key", "", "--master-key", "master"])
    }

    private func send(
        _ server: ServedFile, _ method: String, _ path: String, _ body: [UInt8] = [], id: String? = nil
    ) throws -> ServerReplyText {
        var headers = Self.headers
        headers["X-Parse-Request-Id"] = id
        return try ServerConnection(port: server.port).request(method, "/parse" + path, headers: headers, body: body)
    }

    private func makeCounter(_ server: ServedFile) throws -> String {
        let made = try send(server, "POST", "/classes/Counter", Array(#"{"count": 0}"#.utf8))
        return "/classes/Counter/" + (try #require(made.json["objectId"]?.string))
    }

    @Test(arguments: [true, false])
    func anAnsweredRequestGetsTheSameReplyAfterARestart(isKilled: Bool) throws {
        let folder = try ServerFolder()
        let server = try server(folder)
        try server.start()
        let counter = try makeCounter(server)
        let requests: [(String, String, [UInt8], String)] = [
            ("PUT", counter, Self.increment, "r1"), ("POST", "/classes/Book", Array(#"{"title": "A"}"#.utf8), "r2"),
            (
                "POST", "/batch",
                Array(
                    #"{"requests": [{"method": "POST", "path": "/parse/classes/Book", "body": {"title": "B"}}]}"#.utf8),
                "r3"
            ),
        ]
        let first = try requests.map { try send(server, $0.0, $0.1, $0.2, id: $0.3) }
        #expect(first.map(\.status) == [200, 201, 200])
        if isKilled { server.kill() } else { #expect(server.stop() == 0) }
        try server.start()
        let again = try requests.map { try send(server, $0.0, $0.1, $0.2, id: $0.3) }
        #expect(again.map(\.text) == first.map(\.text))
        #expect(again.map(\.status) == first.map(\.status))
        #expect(try send(server, "GET", counter).json["count"] == 1)
        #expect(try send(server, "GET", "/classes/Book?count=1&limit=0").json["count"] == 2)
        #expect(server.stop() == 0)
    }

    @Test func aRequestWhoseReplyIsLostInAKillIsDoneOnce() throws {
        let folder = try ServerFolder()
        let server = try server(folder)
        try server.start()
        let counter = try makeCounter(server)
        let rounds = 12
        for round in 0..<rounds {
            let connection = try ServerConnection(port: server.port)
            var headers = Self.headers
            headers["X-Parse-Request-Id"] = "round-\(round)"
            try connection.send(
                ServerConnection.bytes("PUT", "/parse" + counter, headers: headers, body: Self.increment))
            // The server is killed before, during or after the write.
            usleep(UInt32(round * 400))
            server.kill()
            try server.start()
            for _ in 0..<2 {
                let reply = try send(server, "PUT", counter, Self.increment, id: "round-\(round)")
                #expect(reply.status == 200)
                #expect(try reply.json["count"]?.integer == Int64(round + 1))
            }
        }
        #expect(try send(server, "GET", counter).json["count"]?.integer == Int64(rounds))
        #expect(server.stop() == 0)
    }
}
#endif
