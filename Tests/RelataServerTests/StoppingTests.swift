#if Server
import Foundation
import Relata
import RelataParse
import ServerClient
import Synchronization
import Testing

@testable import RelataServer

struct StoppingTests {
    @Test func aRunningRequestIsFinishedAndItsReplyClosesTheConnection() async throws {
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        try await TestServer.running(service: { _ in
            started.yield()
            _ = await ends.first { _ in true }
            return WireReply(["finished": true])
        }) { server in
            async let answer = blocking {
                let connection = try server.connect()
                let reply = try connection.request("GET", "/parse/x")
                return (reply, try connection.isClosedByServer())
            }
            _ = await starts.first { _ in true }
            await server.stop()
            await server.waitUntilStopping()
            ended.yield()
            let (reply, isClosed) = try await answer
            #expect(try reply.json["finished"] == true)
            #expect(reply.headers["connection"] == "close")
            #expect(isClosed)
        }
    }

    @Test func newConnectionsAreRefusedAndIdleOnesAreClosed() async throws {
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        let (answers, answered) = AsyncStream.makeStream(of: Void.self)
        let (ends, ended) = AsyncStream.makeStream(of: Void.self)
        let mark = UUID().uuidString
        try await TestServer.running(service: { request in
            if request.path == "/slow" {
                started.yield()
                _ = await ends.first { _ in true }
            }
            return WireReply(["mark": .string(mark)])
        }) { server in
            async let idle = blocking {
                let connection = try server.connect()
                _ = try connection.request("GET", "/parse/x")
                answered.yield()
                return try connection.isClosedByServer()
            }
            async let slow = blocking { try server.connect().request("GET", "/parse/slow").status }
            _ = await starts.first { _ in true }
            _ = await answers.first { _ in true }
            await server.stop()
            let isClosed = try await idle
            #expect(isClosed)
            #expect(try await !isAnswered("/parse/x", port: server.port, says: mark))
            ended.yield()
            #expect(try await slow == 200)
        }
    }

    @Test func theWaitForARequestThatDoesNotEndIsLimited() async throws {
        let (starts, started) = AsyncStream.makeStream(of: Void.self)
        // Without the limit, the request would take a day.
        try await TestServer.running(
            { $0.stopTimeout = .milliseconds(300) },
            service: { _ in
                started.yield()
                try? await Task.sleep(for: .seconds(86_400))
                return WireReply([:])
            }
        ) { server in
            Thread.detachNewThread { _ = try? server.connect().request("GET", "/parse/x") }
            _ = await starts.first { _ in true }
        }
    }

    @Test func theStoreIsClosedAfterTheLastRequest() async throws {
        let store = try ParseStore.open(nil)
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        let server = try RelataServer(store, keys: ServerKeys(applicationID: "app"), configuration: configuration)
        try await TestServer.running(server) { server in
            let reply = try await server.request("GET", "/parse/health", headers: ["X-Parse-Application-Id": "app"])
            #expect(reply.status == 200)
            #expect(try await server.request("GET", "/readyz").status == 200)
        }
        await #expect(throws: RelataError.self) { try await store.check() }
    }

    @Test func aServerWhoseTaskIsCancelledEnds() async throws {
        var configuration = RelataServer.Configuration()
        configuration.port = 0
        configuration.stopsOnSignals = false
        let application = UUID().uuidString
        let server = try RelataServer(
            ParseStore.open(nil), keys: ServerKeys(applicationID: application), configuration: configuration)
        let (ports, continuation) = AsyncStream.makeStream(of: Int.self)
        let running = Task { try await server.run { continuation.yield($0.port) } }
        let port = try #require(await ports.first { _ in true })
        #expect(try await isAnswered("/parse/health", port: port, as: application, says: "ok"))
        running.cancel()
        _ = await running.result
        #expect(try await !isAnswered("/parse/health", port: port, as: application, says: "ok"))
    }

    /// Whether a server at a port replies with this text. Another test's server may use the port of one that ended, so
    /// a connection alone proves nothing.
    private func isAnswered(
        _ path: String, port: Int, as application: String = "app", says text: String
    ) async throws -> Bool {
        try await blocking {
            do {
                let reply = try ServerConnection(port: port, timeout: 120)
                    .request("GET", path, headers: ["X-Parse-Application-Id": application])
                return reply.status == 200 && String(decoding: reply.body, as: UTF8.self).contains(text)
            } catch is ServerConnection.Failure {
                return false
            }
        }
    }
}
#endif
