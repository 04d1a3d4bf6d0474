import RelataParse
import TestEngines
import Testing

/// Installations: apps on devices, which register themselves.
@Suite(.onEveryEngine) struct InstallationTests {
    private func tell(
        _ server: TestServer, _ body: JSONValue, headers: [String: String] = [:]
    ) async throws -> TestServer.Reply {
        try await server.send("POST", "/installations", body, headers: headers, isMaster: false)
    }

    private func all(_ server: TestServer) async throws -> [JSONValue] {
        try await server.send("GET", "/installations?order=createdAt").results
    }

    @Test(arguments: [ParseStore.Mode.development, .production]) func aClientRegistersItsInstallation(
        mode: ParseStore.Mode
    ) async throws {
        let server = try TestServer.withUsers(mode: mode)
        #expect(try await server.send("GET", "/installations").json == ["results": []])
        let body: JSONValue = [
            "deviceType": "ios", "installationId": "AB-12", "deviceToken": .string(String(repeating: "A", count: 64)),
            "channels": ["news"], "badge": 3, "timeZone": "Europe/Berlin",
        ]
        let made = try await tell(server, body)
        #expect(made.status == 201, "\(made.json)")
        let id = try #require(made["objectId"]?.string)
        let stored = try await server.send("GET", "/installations/\(id)", isMaster: false)
        #expect(stored["installationId"] == "ab-12" && stored["channels"] == ["news"] && stored["badge"] == 3)
        #expect(stored["deviceToken"] == .string(String(repeating: "a", count: 64)))
        let changed = try await server.send(
            "PUT", "/classes/_Installation/\(id)",
            ["channels": ["__op": "AddUnique", "objects": ["sport"]], "badge": ["__op": "Increment", "amount": 1]],
            isMaster: false)
        #expect(changed.status == 200 && changed["badge"] == 4, "\(changed.json)")
        #expect(try await all(server).first?["channels"] == ["news", "sport"])
    }

    @Test func aRepeatedRegistrationIsTheSameInstallation() async throws {
        let server = try TestServer.withUsers()
        let first = try await tell(server, ["deviceType": "ios", "installationId": "one", "deviceToken": "t1"])
        let id = try #require(first["objectId"])
        let again = try await tell(server, ["installationId": "ONE", "deviceToken": "t2", "level": 7])
        #expect(again.status == 200 && again["objectId"] == id && again["createdAt"] != nil, "\(again.json)")
        let byHeader = try await tell(server, ["appName": "Books"], headers: ["x-parse-installation-id": "one"])
        #expect(byHeader["objectId"] == id, "\(byHeader.json)")
        let stored = try await all(server)
        #expect(stored.count == 1 && stored[0]["deviceToken"] == "t2" && stored[0]["level"] == 7)
        // An installation that was registered with only a token.
        let tokenOnly = try await tell(server, ["deviceType": "android", "deviceToken": "t3"])
        let named = try await tell(server, ["deviceType": "android", "deviceToken": "t3", "installationId": "two"])
        #expect(named["objectId"] == tokenOnly["objectId"], "\(named.json)")
        // A reinstalled app has another id and the same token.
        let anew = try await tell(server, ["deviceType": "ios", "installationId": "three", "deviceToken": "t2"])
        #expect(anew.status == 201)
        #expect(try await all(server).compactMap { $0["installationId"]?.string }.sorted() == ["three", "two"])
        // The token moves to another registered installation.
        let moved = try await tell(server, ["installationId": "two", "deviceToken": "t2"])
        #expect(moved["objectId"] == tokenOnly["objectId"])
        #expect(try await all(server).compactMap { $0["installationId"]?.string } == ["two"])
    }

    @Test func concurrentRegistrationsCreateOneInstallation() async throws {
        let server = try TestServer.withUsers()
        _ = try await tell(server, ["deviceType": "ios", "installationId": "zero"])
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10 {
                group.addTask { _ = try await tell(server, ["deviceType": "ios", "installationId": "one"]) }
            }
            try await group.waitForAll()
        }
        #expect(try await all(server).count == 2)
    }

    @Test func invalidInstallationsAreRefused() async throws {
        let server = try TestServer.withUsers()
        #expect(try await tell(server, ["deviceType": "ios"]).code == 135)
        #expect(try await tell(server, ["installationId": "one"]).code == 135)
        #expect(try await tell(server, ["installationId": 7, "deviceToken": "t", "deviceType": "ios"]).code == 111)
        #expect(try await tell(server, ["installationId": "x", "deviceType": "ios", "constructor": 1]).code == 105)
        let id = try #require(
            try await tell(server, ["deviceType": "ios", "installationId": "one", "deviceToken": "t1"])["objectId"]?
                .string)
        for (body, code) in [
            (["installationId": "two"], 136), (["deviceType": "android"], 136), (["badge": "x"], 111),
        ] as [(JSONValue, Int64)] {
            let reply = try await server.send("PUT", "/installations/\(id)", body, isMaster: false)
            #expect(reply.code == code, "\(reply.json)")
        }
        #expect(try await server.send("PUT", "/installations/nobody", ["badge": 1], isMaster: false).code == 101)
        #expect(try await server.send("PUT", "/installations", ["badge": 1]).status == 405)
    }

    @Test func onlyTheMasterKeyFindsAndDeletesInstallations() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei")
        let id = try #require(
            try await tell(server, ["deviceType": "ios", "installationId": "one", "deviceToken": "t1"])["objectId"]?
                .string)
        for person in [nil, mei] {
            for path in ["/installations", "/classes/_Installation"] {
                #expect(try await server.send(as: person, "GET", path).code == 119)
            }
            #expect(try await server.send(as: person, "DELETE", "/installations/\(id)").code == 119)
        }
        let batch = try await server.send(
            "POST", "/batch",
            [
                "requests": [
                    ["method": "GET", "path": "/classes/_Installation"],
                    [
                        "method": "POST", "path": "/classes/_Installation",
                        "body": ["deviceType": "ios", "installationId": "x"],
                    ],
                ]
            ], isMaster: false)
        #expect(batch.json.array?.map { $0["error"]?["code"] } == [119, 119], "\(batch.json)")
        #expect(try await server.send("DELETE", "/installations/\(id)").status == 200)
        #expect(try await all(server).isEmpty)
    }
}
