import Foundation
import TestEngines
import Testing

@testable import RelataParse

/// Events that apps report.
@Suite(.onEveryEngine) struct EventTests {
    private func counts(_ server: TestServer) async throws -> [String: Int64] {
        let results = try await server.send("GET", "/events").results
        return Dictionary(
            results.map { ($0["name"]?.string ?? "", $0["count"]?.integer ?? 0) }, uniquingKeysWith: +)
    }

    @Test func eventsAreCounted() async throws {
        let server = try TestServer.withUsers()
        #expect(try await server.send("GET", "/events").json == ["results": []])
        for name in ["tap", "AppOpened", "tap", "a%20b'%22;--"] {
            let reply = try await server.send(
                "POST", "/events/\(name)", ["dimensions": ["color": "red"], "at": ["__type": "Date", "iso": "x"]],
                isMaster: false)
            #expect(reply.status == 200 && reply.json == [:])
        }
        #expect(try await counts(server) == ["tap": 2, "AppOpened": 1, "a b'\";--": 1])
        _ = try await server.send("POST", "/events/tap", [:], isMaster: false)
        #expect(try await counts(server)["tap"] == 3)
        let day = try await server.send("GET", "/events").results.first?["day"]?.string
        #expect(day?.count == 10)
    }

    @Test func onlyTheMasterKeyReadsTheCounts() async throws {
        let server = try TestServer.withUsers()
        #expect(try await server.send("GET", "/events", isMaster: false).status == 403)
        #expect(try await server.send("GET", "/classes/_EventCount").code == 119)
        for (method, path, status) in [
            ("GET", "/events/tap", 405), ("PUT", "/events/tap", 405), ("POST", "/events", 405),
            ("POST", "/events/a/b", 404),
        ] {
            #expect(
                try await server.send(method, path, method == "GET" ? nil : [:]).status == status, "\(method) \(path)")
        }
        let long = String(repeating: "x", count: 129)
        #expect(try await server.send("POST", "/events/\(long)", [:], isMaster: false).code == 105)
    }

    @Test func eventsWithManyNamesTakeLittleSpace() async throws {
        let server = try TestServer.withUsers()
        for number in 0..<1500 { server.service.counter.add("a\(number)", on: "2026-03-01") }
        try await server.service.tendEvents(now: Date(timeIntervalSince1970: 1_772_323_200))
        for number in 0..<1500 { server.service.counter.add("b\(number)", on: "2026-03-01") }
        server.service.counter.add("a1", on: "2026-03-01")
        try await server.service.tendEvents(now: Date(timeIntervalSince1970: 1_772_323_200))
        let counts = try await server.store.read(as: .master) { try $0.eventCounts() }
        #expect(counts.count <= 1001)
        #expect(counts.reduce(0) { $0 + $1.1 } == 3001)
    }

    @Test func oldCountsAreForgotten() async throws {
        let server = try TestServer.withUsers()
        server.service.counter.add("tap", on: "2020-03-01")
        try await server.service.tendEvents(now: Date(timeIntervalSince1970: 1_583_020_800))
        #expect(try await counts(server) == ["tap": 1])
        server.service.counter.add("tap", on: "2026-03-01")
        try await server.service.tendEvents(now: Date(timeIntervalSince1970: 1_772_323_200))
        #expect(try await counts(server) == ["tap": 1])
    }

    @Test func countsOfSeveralProcessesAddUp() async throws {
        let databases = try TestDatabases()
        let path = try databases.path()
        let servers = [try TestServer.withUsers(path: path), try TestServer.withUsers(path: path)]
        for _ in 0..<5 {
            for server in servers { _ = try await server.send("POST", "/events/tap", [:], isMaster: false) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for server in servers { group.addTask { try await server.service.tendEvents() } }
                try await group.waitForAll()
            }
        }
        #expect(try await counts(servers[0]) == ["tap": 10])
        for server in servers { try server.store.close() }
    }

    @Test func inventedNamesDoNotDisplaceKnownOnes() async throws {
        let server = try TestServer.withUsers()
        let now = Date(timeIntervalSince1970: 1_772_323_200)
        server.service.counter.add("tap", on: "2026-03-01")
        try await server.service.tendEvents(now: now)
        for number in 0..<1500 { server.service.counter.add("b\(number)", on: "2026-03-01") }
        server.service.counter.add("tap", on: "2026-03-01")
        try await server.service.tendEvents(now: now)
        #expect(try await counts(server)["tap"] == 2)
    }
}
