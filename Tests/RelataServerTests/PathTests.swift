#if Server
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// A path, of any form, is only the name of a class and an object, never of a file.
struct PathTests {
    private static let targets = [
        "/parse/classes/../..", "/parse/classes/../../etc/passwd", "/parse/../../../etc/passwd",
        "/parse/classes/%2e%2e/%2e%2e", "/parse/classes/%2E%2E%2F%2E%2E%2Fetc%2Fpasswd",
        "/parse/classes/..%2f..%2fschemas",
        "/parse/classes/%2e%2e/schemas", "/parse/%2e%2e/parse/schemas", "/parse/classes/Book%2F..%2F..%2Fschemas",
        "/parse/classes/Book%00", "/parse/classes/Book/x%00.txt", "/parse/%00", "/parse/classes/%00", "/%00",
        "/parse/classes/..%5c..%5cwindows", "/parse/classes/..%255c..", "/parse/classes/%c0%ae%c0%ae/",
        "/parse/classes/%", "/parse/classes/%zz", "/parse/classes/%f", "/parse/classes/Book/%2e%2e%2fOther",
        "/parse/classes/Book/..", "/parse/classes/./Book", "/parse/./classes/Book", "/parse%2fclasses%2fBook",
        "/parse%2f..%2fmetrics", "/parse/../metrics", "/parse/..;/metrics", "/parse/classes/file:%2F%2F%2Fetc%2Fpasswd",
        "http://other.example/parse/classes/../..", "http://other.example/../etc/passwd", "http://other.example",
        "https:///parse/classes/..", "file:///etc/passwd", "*", "/parse/classes/Book/~root",
        "/parse/schemas/../classes/Book",
        "//parse/classes/Book", "/\\..\\..\\etc\\passwd", "/parse/classes/Book/one/two",
    ]

    @Test func aPathNeverLeadsToAFile() async throws {
        let folder = try ServerFolder()
        let store = try ParseStore.open(folder.path("store.sqlite"))
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        let keys = ServerKeys(applicationID: "app", masterKey: "master")
        let server = try RelataServer(store, keys: keys, configuration: configuration)
        try await TestServer.running(server) { server in
            let id = "X-Parse-Application-Id: app\r\n"
            let made = try await server.request(
                "POST", "/parse/classes/Book", headers: ["X-Parse-Application-Id": "app"],
                body: Array(#"{"title": "kept"}"#.utf8))
            #expect(made.status == 201)
            for target in Self.targets {
                for (method, body) in [("GET", ""), ("PUT", "{\"title\": \"lost\"}"), ("DELETE", "")] {
                    let reply = try await blocking {
                        let connection = try server.connect()
                        try connection.send(
                            "\(method) \(target) HTTP/1.1\r\nHost: x\r\n\(id)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
                        )
                        return try connection.receive()
                    }
                    #expect((400..<500).contains(reply.status), "\(method) \(target): \(reply.status) \(reply.text)")
                    #expect(reply.code != nil, "\(method) \(target): \(reply.text)")
                    #expect(!reply.text.contains("root:") && !reply.text.contains("relata_"), "\(method) \(target)")
                }
            }
            let books = try await server.request(
                "GET", "/parse/classes/Book", headers: ["X-Parse-Application-Id": "app"])
            #expect(try books.json["results"]?.array?.map { $0["title"] } == ["kept"])
            let schemas = try await server.request(
                "GET", "/parse/schemas",
                headers: ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": "master"])
            #expect(try schemas.json["results"]?.array?.map { $0["className"] } == ["Book"])
        }
        let names = Set(try FileManager.default.contentsOfDirectory(atPath: folder.url.path))
        #expect(names.isSubset(of: ["store.sqlite", "store.sqlite-wal", "store.sqlite-shm"]), "\(names)")
    }
}
#endif
