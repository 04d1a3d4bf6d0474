#if Server
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// Requests that are refused before their bodies are read, and the data that may come with a body.
struct AdmissionTests {
    private func server() throws -> RelataServer {
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        var options = ParseService.Options()
        options.maximumBodyWithoutKeys = 10_000
        let keys = ServerKeys(applicationID: "app", clientKey: "client", masterKey: "master")
        return try RelataServer(ParseStore.open(nil), keys: keys, options: options, configuration: configuration)
    }

    private static let client = ["X-Parse-Application-Id": "app", "X-Parse-Client-Key": "client"]

    @Test(arguments: [
        "Content-Length: 1000000", "Transfer-Encoding: chunked", "Content-Length: 5\r\nExpect: 100-continue",
    ])
    func keysAreCheckedBeforeTheBodyArrives(_ length: String) async throws {
        try await TestServer.running(try server()) { server in
            for keys in [
                "X-Parse-Application-Id: other", "X-Parse-Application-Id: app\r\nX-Parse-Client-Key: other",
                "X-Parse-Master-Key: other",
            ] {
                let (reply, isClosed) = try await blocking {
                    let connection = try server.connect()
                    try connection.send("POST /parse/classes/Book HTTP/1.1\r\nHost: x\r\n\(keys)\r\n\(length)\r\n\r\n")
                    return (try connection.receive(), try connection.isClosedByServer())
                }
                #expect(reply.status == 403 && reply.code == 119, "\(keys)")
                #expect(reply.headers["access-control-allow-origin"] == "*")
                #expect(isClosed)
            }
        }
    }

    @Test func contradictoryKeysAreRefused() async throws {
        let (id, client, master) = ("X-Parse-Application-Id: ", "X-Parse-Client-Key: ", "X-Parse-Master-Key: ")
        let basic = { (text: String) in "Authorization: Basic \(Data(text.utf8).base64EncodedString())" }
        let requests = [
            (["\(id)app", "\(id)app", "\(client)client", "\(client)client"], 200),
            (["\(id)app", "\(id)other", "\(client)client"], 403), (["\(id)other", "\(id)app", "\(client)client"], 403),
            (["\(id)app", "\(id)", "\(client)client"], 403),
            (["\(id)app", "\(client)client", "\(client)other"], 403),
            (["\(id)app", "\(master)master", "x-parse-master-key: other"], 403),
            ([basic("app:master"), basic("app:master")], 200), ([basic("app:master"), basic("app:other")], 403),
        ]
        try await TestServer.running(try server()) { server in
            for (fields, status) in requests {
                let reply = try await blocking {
                    let connection = try server.connect()
                    let fields = fields.joined(separator: "\r\n")
                    try connection.send("GET /parse/classes/Book HTTP/1.1\r\nHost: x\r\n\(fields)\r\n\r\n")
                    return try connection.receive()
                }
                #expect(reply.status == status, "\(fields)")
            }
        }
    }

    @Test func bodiesWithoutKnownKeysAreLimited() async throws {
        let padding = [UInt8](repeating: 32, count: 50_000)
        let body = Array(#"{"_ApplicationId":"app","_JavaScriptKey":"client","a":1}"#.utf8)
        let bomb = try #require(Gzip.compressed(body + [UInt8](repeating: 32, count: 5_000_000)))
        let small = try #require(Gzip.compressed(body + [UInt8](repeating: 32, count: 1000)))
        try await TestServer.running(try server()) { server in
            #expect(try await server.request("POST", "/parse/classes/Book", body: body).status == 201)
            let large = try await server.request("POST", "/parse/classes/Book", body: body + padding)
            #expect(large.status == 413 && large.code == 116 && large.text.contains("header fields"))
            let gzip = ["Content-Encoding": "gzip"]
            #expect(try await server.request("POST", "/parse/classes/Book", headers: gzip, body: small).status == 201)
            let unpacked = try await server.request("POST", "/parse/classes/Book", headers: gzip, body: bomb)
            #expect(unpacked.status == 413 && unpacked.code == 116)
            let known = try await server.request(
                "POST", "/parse/classes/Book", headers: Self.client, body: Array("{\"a\":1}".utf8) + padding)
            #expect(known.status == 201, "\(known.text)")
            // The server's own pages don't read bodies.
            #expect(try await server.request("POST", "/livez", body: padding).status == 413)
        }
    }

    @Test func refusedUploadsHaveTheErrorsOfFiles() async throws {
        try await TestServer.running(try server()) { server in
            let picture = (0..<30_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
            let reply = try await server.request(
                "POST", "/parse/files/a.png",
                headers: Self.client.merging(["Content-Type": "image/png"]) { $1 }, body: picture)
            #expect(reply.status == 400 && reply.code == 130)
        }
    }

    @Test func aQueryForManyIDsFitsInTheAddress() async throws {
        try await TestServer.running(try server()) { server in
            let ids = (0..<1500).map { "\"id\(1_000_000 + $0)\"" }.joined(separator: ",")
            let condition = "{\"objectId\":{\"$in\":[\(ids)]}}"
            let text = condition.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            #expect(text.utf8.count > 25_000)
            let reply = try await server.request(
                "GET", "/parse/classes/Book?where=\(text)", headers: Self.client)
            #expect(reply.status == 200, "\(reply.text)")
            let long = try await server.request(
                "GET", "/parse/classes/Book?where=\(text)\(text)\(text)", headers: Self.client)
            #expect(long.status == 414 && long.code == 116, "\(long.text)")
            let field = ["X-Other": String(repeating: "x", count: 40_000)]
            let wide = try await server.request("GET", "/parse/classes/Book", headers: field)
            #expect(wide.status == 431 && wide.code == 116, "\(wide.text)")
        }
    }

    @Test func aFormArrivesAsAForm() async throws {
        try await TestServer.running(try server()) { server in
            let form = Self.client.merging(["Content-Type": "application/x-www-form-urlencoded"]) { $1 }
            let made = try await server.request(
                "POST", "/parse/classes/Book", headers: form, body: Array("title=a+b".utf8))
            #expect(made.status == 201)
            let found = try await server.request("GET", "/parse/classes/Book", headers: Self.client)
            #expect(try found.json["results"]?.array?.map { $0["title"] } == ["a b"])
        }
    }

    @Test(arguments: ["5;\(String(repeating: "x", count: 1000))", String(repeating: "0", count: 1000) + "5"])
    func chunkOverheadIsLimited(_ piece: String) async throws {
        try await TestServer.running { server in
            let head = "POST /parse/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            let few = try await blocking {
                let connection = try server.connect()
                try connection.send(head)
                for _ in 0..<5 { try connection.send("\(piece)\r\nhello\r\n") }
                try connection.send("0\r\n\r\n")
                return try connection.receive()
            }
            #expect(few.status == 200, "\(few.text)")
            let many = try await blocking {
                let connection = try server.connect()
                try connection.send(head)
                for _ in 0..<100 { try connection.send("\(piece)\r\nhello\r\n") }
                return try connection.receive()
            }
            #expect(many.status == 400 && many.text.contains("besides the body"), "\(many.text)")
            let endless = try await blocking {
                let connection = try server.connect()
                try connection.send(head)
                for _ in 0..<10 {
                    try connection.send(String(repeating: piece.first == "0" ? "0" : "5;x", count: 1))
                    try connection.send(String(repeating: piece.first == "0" ? "0" : "x", count: 10_000))
                    if piece.first != "0" { try connection.send("\r\nhello\r\n") }
                }
                return try connection.receive()
            }
            #expect(endless.status == 400, "\(endless.text)")
        }
    }

    @Test func smallPiecesAreAccepted() async throws {
        try await TestServer.running { server in
            let reply = try await blocking {
                let connection = try server.connect()
                try connection.send("POST /parse/x HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
                for _ in 0..<20 { try connection.send(String(repeating: "1\r\nx\r\n", count: 1000)) }
                try connection.send("0\r\n\r\n")
                return try connection.receive()
            }
            #expect(reply.status == 200)
            #expect(try reply.json["length"] == 20_000)
        }
    }

    @Test func anIdleServerStopsAtOnce() async throws {
        // Another test may keep the processor busy, so only one of several attempts must be quick.
        var times: [Duration] = []
        for _ in 0..<30 where times.last.map({ $0 >= .milliseconds(100) }) ?? true {
            let start = try await TestServer.running(try server()) { server in
                let held = try await blocking { try Held(server.connect()) }
                return (held, ContinuousClock.now)
            }
            times.append(ContinuousClock.now - start.1)
        }
        #expect((times.last ?? .seconds(1)) < .milliseconds(100), "\(times)")
    }
}

/// An idle connection, which has made one request.
private final class Held: @unchecked Sendable {
    private let connection: ServerConnection

    init(_ connection: ServerConnection) throws {
        self.connection = connection
        _ = try connection.request("GET", "/parse/health")
    }
}
#endif
