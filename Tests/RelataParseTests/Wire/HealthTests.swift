import Foundation
import RelataParse
import TestEngines
import Testing

@Suite(.onEveryEngine) struct HealthTests {
    @Test func theHealthCheckNeedsNoKeys() async throws {
        let server = try TestServer()
        for method in ["GET", "POST"] {
            for path in ["/health", "/health/"] {
                let reply = await server.service.respond(to: WireRequest(method: method, path: path))
                #expect(reply.status == 200)
                #expect(String(decoding: reply.body, as: UTF8.self) == #"{"status":"ok"}"#)
            }
        }
        for path in ["/serverInfo", "/classes/Book", "/healthy", "/health/x"] {
            #expect(await server.service.respond(to: WireRequest(method: "GET", path: path)).status == 403)
        }
    }

    /// Both a write and a health check report the reason.
    @Test(.onSQLite) func aMovedFileIsReported() async throws {
        let folder = try TestDatabases()
        let path = try folder.path("moved.sqlite")
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        _ = try await server.create("A", ["n": 1])
        try await server.store.check()
        try FileManager.default.moveItem(atPath: path, toPath: path + ".away")
        for (method, target) in [("POST", "/classes/A"), ("POST", "/schemas/B"), ("POST", "/classes/New")] {
            let reply = try await server.send(method, target, target == "/schemas/B" ? ["fields": [:]] : ["n": 2])
            #expect(reply.status == 503 && reply["error"]?.string?.contains("was moved") == true, "\(reply.json)")
            #expect(reply["error"]?.string?.contains(path) == false)
        }
        await #expect {
            try await server.store.check()
        } throws: { ParseError($0).message.contains("was moved") }
        try FileManager.default.moveItem(atPath: path + ".away", toPath: path)
        try await server.store.check()
        #expect(try await server.send("POST", "/classes/A", ["n": 3]).status == 201)
    }
}
