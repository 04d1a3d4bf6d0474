#if Server && CommandLineTool && PostgreSQL
import Foundation
import PostgresCluster
import ServerClient
import Testing

@testable import RelataServer

/// Several processes serve one PostgreSQL database. Clients can't tell which of them answers.
@Suite(
    .enabled(if: PrivateCluster.isInstalled, Comment(rawValue: PrivateCluster.missing)), .timeLimit(.minutes(20)))
struct ServedTogetherTests {
    private static let headers = ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": "master"]

    /// Server processes on a separate database.
    private func servers(
        _ count: Int, in folder: ServerFolder
    ) throws -> (database: TestDatabase, servers: [ServedFile]) {
        let database = try PrivateCluster.shared.makeDatabase()
        let servers = try (0..<count).map { number in
            ServedFile(
                tool: try ServedTool.executable, path: folder.path("server\(number)"), database: database.url,
                options: [
                    "--app-id", "app", "--client-key", "", "--master-key", "master", "--keys",
                    folder.path("server\(number).keys"),
                ])
        }
        for server in servers { try server.start() }
        return (database, servers)
    }

    private func send(
        _ server: ServedFile, _ method: String, _ path: String, _ body: String = "", id: String? = nil
    ) throws -> ServerReplyText {
        var headers = Self.headers
        headers["X-Parse-Request-Id"] = id
        return try ServerConnection(port: server.port).request(
            method, "/parse" + path, headers: headers, body: Array(body.utf8))
    }

    private func count(_ className: String, _ server: ServedFile, where condition: String = "{}") throws -> Int64? {
        let text = condition.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        return try send(server, "GET", "/classes/\(className)?count=1&limit=0&where=\(text)").json["count"]?.integer
    }

    @Test func objectsOfOneServerAreVisibleToAll() throws {
        let folder = try ServerFolder()
        let (database, servers) = try servers(3, in: folder)
        defer { withExtendedLifetime(database) {} }
        let made = try send(servers[0], "POST", "/classes/Book", #"{"title": "Dune"}"#)
        #expect(made.status == 201)
        let path = "/classes/Book/" + (try #require(made.json["objectId"]?.string))
        for server in servers { #expect(try send(server, "GET", path).json["title"] == "Dune") }
        // A field that the first server doesn't know yet.
        #expect(try send(servers[1], "PUT", path, #"{"year": 1965}"#).status == 200)
        for server in servers { #expect(try count("Book", server, where: #"{"year": {"$gt": 1960}}"#) == 1) }
        // Changed rules and deleted classes apply to all servers.
        let rule = #"{"fields": {"title": {"type": "String", "required": true}}}"#
        #expect(try send(servers[2], "PUT", "/schemas/Book", rule).status == 200)
        for server in servers { #expect(try send(server, "POST", "/classes/Book", #"{"year": 1}"#).status == 400) }
        #expect(try send(servers[0], "DELETE", path).status == 200)
        #expect(try send(servers[1], "DELETE", "/schemas/Book").status == 200)
        for server in servers { #expect(try send(server, "GET", "/schemas/Book").code == 103) }
        for server in servers { #expect(server.stop() == 0) }
    }

    @Test func classesAndFieldsThatAllCreateAtOnceAreCreatedOnce() async throws {
        let folder = try ServerFolder()
        let (database, servers) = try servers(3, in: folder)
        defer { withExtendedLifetime(database) {} }
        let ports = servers.map(\.port)
        try await withThrowingTaskGroup(of: [Int].self) { group in
            for number in 0..<9 {
                group.addTask {
                    let connection = try ServerConnection(port: ports[number % 3])
                    return try (0..<10).map { round in
                        let body =
                            #"{"field\#((number + round) % 5)": \#(number), "tag": "t\#(round)", "by": {"__op": "Increment", "amount": 1}}"#
                        return try connection.request(
                            "POST", "/parse/classes/Class\(round % 4)", headers: Self.headers, body: Array(body.utf8)
                        ).status
                    }
                }
            }
            for try await statuses in group { #expect(statuses == Array(repeating: 201, count: 10)) }
        }
        for server in servers {
            let counts = try (0..<4).map { try count("Class\($0)", server) }
            #expect(counts == [27, 27, 18, 18])
        }
        let schemas = try servers.map { try send($0, "GET", "/schemas").json }
        #expect(schemas[0] == schemas[1] && schemas[1] == schemas[2])
        for server in servers { #expect(server.stop() == 0) }
    }

    @Test func aRequestThatIsRepeatedAtAnotherServerIsDoneOnce() throws {
        let folder = try ServerFolder()
        let (database, servers) = try servers(2, in: folder)
        defer { withExtendedLifetime(database) {} }
        let increment = #"{"count": {"__op": "Increment", "amount": 1}}"#
        let made = try send(servers[0], "POST", "/classes/Counter", #"{"count": 0}"#)
        let path = "/classes/Counter/" + (try #require(made.json["objectId"]?.string))
        for round in 1...6 {
            let first = try send(servers[round % 2], "PUT", path, increment, id: "round-\(round)")
            let again = try send(servers[1 - round % 2], "PUT", path, increment, id: "round-\(round)")
            #expect(first.status == 200 && again.text == first.text)
        }
        // If one server is killed, nothing is lost.
        servers[0].kill()
        #expect(try send(servers[1], "GET", path).json["count"] == 6)
        try servers[0].start()
        #expect(try send(servers[0], "PUT", path, increment).json["count"] == 7)
        for server in servers { #expect(server.stop() == 0) }
    }
}
#endif
