import RelataParse
import TestEngines
import Testing

@Suite(.onEveryEngine) struct HealthTests {
    @Test func whoAsksForTheHealthNeedsNoKeys() async throws {
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
}
