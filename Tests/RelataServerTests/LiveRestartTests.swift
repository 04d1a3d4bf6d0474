#if Server && CommandLineTool
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// The server of clients with live queries is killed.
struct LiveRestartTests {
    private static let connect = #"{"op":"connect","applicationId":"app"}"#

    /// A subscription, which may resume after a position.
    private static func subscribe(after position: String? = nil) -> String {
        let after = position.map { #","after":"\#($0)""# } ?? ""
        return #"{"op":"subscribe","requestId":1,"query":{"className":"Book","where":{},"results":true}\#(after)}"#
    }

    private func create(_ server: ServedFile, _ title: String) throws -> String {
        let reply = try ServerConnection(port: server.port).request(
            "POST", "/parse/classes/Book", headers: ["X-Parse-Application-Id": "app"],
            body: Array(#"{"title":"\#(title)"}"#.utf8))
        #expect(reply.status == 201, "\(reply.text)")
        return try #require(try reply.json["objectId"]?.string)
    }

    private func socket(_ server: ServedFile) throws -> ServerConnection {
        let socket = try ServerConnection(port: server.port, timeout: 20)
        #expect(try socket.upgrade("/parse").status == 101)
        try socket.send(frame: .text, Array(Self.connect.utf8))
        #expect(try socket.message()["op"] == "connected")
        return socket
    }

    @Test func aFollowerOfAKilledServerMissesNothingThatWasAcknowledged() async throws {
        let folder = try ServerFolder()
        try await blocking {
            let server = ServedFile(
                tool: try ServedTool.executable, path: folder.path("a.sqlite"),
                options: ["--app-id", "app", "--client-key", "", "--master-key", "master"])
            try server.start()
            var acknowledged = [try create(server, "first")]
            for round in 0..<3 {
                let follower = try socket(server)
                try follower.send(frame: .text, Array(Self.subscribe().utf8))
                #expect(try follower.message()["op"] == "subscribed")
                #expect(try follower.message()["op"] == "results")
                acknowledged.append(try create(server, "told \(round)"))
                let event = try follower.message()
                #expect(event["op"] == "create" && event["object"]?["objectId"]?.string == acknowledged.last)
                let position = try #require(event["position"]?.string)
                // Its event may or may not have been sent.
                acknowledged.append(try create(server, "untold \(round)"))
                server.kill()
                follower.close()
                try server.start()
                let again = try socket(server)
                try again.send(frame: .text, Array(Self.subscribe(after: position).utf8))
                let reply = try again.message()
                #expect(reply["op"] == "subscribed" && reply["resumed"] == false, "\(reply)")
                let results = try again.message()
                let ids = results["objects"]?.array?.compactMap { $0["objectId"]?.string } ?? []
                #expect(results["op"] == "results" && Set(ids) == Set(acknowledged), "\(results)")
                acknowledged.append(try create(server, "after \(round)"))
                #expect(try again.message()["object"]?["objectId"]?.string == acknowledged.last)
                again.close()
            }
            #expect(server.stop() == 0)
        }
    }
}
#endif
