import RelataParse
import TestEngines
import Testing

/// The configuration parameters of apps, at `/config`.
@Suite(.onEveryEngine) struct ConfigTests {
    @Test func clientsReadTheParametersThatTheMasterKeySet() async throws {
        let server = try TestServer.withUsers()
        #expect(try await server.send("GET", "/config", isMaster: false).json == ["params": [:]])
        let parameters: JSONValue = [
            "welcome": "hi", "limit": 9_007_199_254_740_993, "ratio": 0.5, "isOn": true, "tags": ["a", "b"],
            "colors": ["dark": "#000"], "place": ["__type": "GeoPoint", "latitude": 40, "longitude": -30],
            "since": ["__type": "Date", "iso": "2026-03-01T12:00:00.000Z"],
            "book": pointer("Book", "x7Yz"), "logo": ["__type": "File", "name": "logo.png", "url": "https://a.b/c"],
            "text": "a\u{0000}b ' \" é",
        ]
        let reply = try await server.send("PUT", "/config", ["params": parameters])
        #expect(reply.json == ["result": true], "\(reply.json)")
        #expect(try await server.send("GET", "/config", isMaster: false)["params"] == parameters)
        #expect(try await server.send("POST", "/config", ["_method": "GET"], isMaster: false)["params"] == parameters)
        #expect(
            try await server.send("PUT", "/config", ["params": ["welcome": ["__op": "Delete"], "isOn": .null]]).status
                == 200)
        let left = try await server.send("GET", "/config")["params"]?.object
        #expect(left?["welcome"] == nil && left?["isOn"] == nil && left?["ratio"] == 0.5)
    }

    @Test func privateParametersNeverReachClients() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei")
        try await server.send(
            "PUT", "/config", ["params": ["open": 1, "secret": 2], "masterKeyOnly": ["secret": true]])
        for person in [nil, mei] {
            let reply = try await server.send(as: person, "GET", "/config")
            #expect(reply.json == ["params": ["open": 1]], "\(reply.json)")
        }
        let all = try await server.send("GET", "/config").json
        #expect(all == ["params": ["open": 1, "secret": 2], "masterKeyOnly": ["open": false, "secret": true]])
        // A private parameter stays private if only its value changes.
        try await server.send("PUT", "/config", ["params": ["secret": 3]])
        #expect(try await server.send("GET", "/config", isMaster: false).json == ["params": ["open": 1]])
        try await server.send("PUT", "/config", ["masterKeyOnly": ["secret": false]])
        #expect(try await server.send("GET", "/config", isMaster: false)["params"]?["secret"] == 3)
        // If a private parameter is deleted, a later one with the same name isn't private.
        try await server.send("PUT", "/config", ["masterKeyOnly": ["secret": true]])
        try await server.send(
            "PUT", "/config", ["params": ["secret": ["__op": "Delete"]], "masterKeyOnly": ["secret": true]])
        #expect(
            try await server.send("GET", "/config").json == ["params": ["open": 1], "masterKeyOnly": ["open": false]])
        for path in ["/classes/_GlobalConfig", "/schemas/_GlobalConfig", "/aggregate/_GlobalConfig"] {
            #expect(try await server.send("GET", path).code == 119, "\(path)")
        }
        let schemas = try await server.send("GET", "/schemas").results.compactMap { $0["className"]?.string }
        #expect(!schemas.contains("_GlobalConfig"))
    }

    @Test func aFunctionReadsTheConfigurationOfItsCaller() async throws {
        let server = try TestServer.withUsers { options in
            options.code.function("config") { call in
                [
                    "own": .object(try await call.asCaller.config()),
                    "all": .object(try await call.asMaster.config()),
                ]
            }
        }
        #expect(
            try await server.send("POST", "/functions/config", isMaster: false)["result"] == ["own": [:], "all": [:]])
        let set = try await server.send(
            "PUT", "/config", ["params": ["open": 1, "secret": 2], "masterKeyOnly": ["secret": true]])
        #expect(set.status == 200, "\(set.json)")
        let reply = try await server.send("POST", "/functions/config", isMaster: false)
        #expect(reply["result"] == ["own": ["open": 1], "all": ["open": 1, "secret": 2]], "\(reply.json)")
    }

    @Test func onlyTheMasterKeyWrites() async throws {
        let server = try TestServer.withUsers()
        let mei = try await server.signUp("mei")
        for person in [nil, mei] {
            let reply = try await server.send(as: person, "PUT", "/config", ["params": ["a": 1]])
            #expect(reply.status == 403 && reply.code == 119, "\(reply.json)")
        }
        #expect(try await server.send("GET", "/config").json == ["params": [:]])
        for method in ["POST", "DELETE"] {
            #expect(try await server.send(method, "/config").status == 405)
        }
        #expect(try await server.send("GET", "/config/welcome").status == 404)
    }

    @Test(
        arguments: [
            (["params": ["a.b": 1]], 105), (["params": ["": 1]], 105), (["params": ["$a": 1]], 105),
            (["params": ["a'; DROP TABLE x; --": 1]], 105), (["params": ["constructor": 1]], 105),
            (["params": ["a": ["__proto__": 1]]], 105), (["params": 7], 107), (["params": ["a"]], 107),
            (["params": ["a": 1], "masterKeyOnly": ["a": "yes"]], 107),
            (["params": ["a": 1], "masterKeyOnly": [1]], 107),
            (["params": ["a": ["__op": "Increment", "amount": 1]]], 107), (["params": ["a": ["b": ["$c": 1]]]], 121),
            (["params": ["a": ["__type": "Date", "iso": "soon"]]], 111),
            (["params": ["a": ["__type": "GeoPoint", "latitude": 400, "longitude": 0]]], 111),
            (["params": ["a": ["__type": "Rocket"]]], 111), (["params": ["a": 1], "masterKeyOnly": ["b": true]], 102),
        ] as [(JSONValue, Int64)]) func aChangeWithAnInvalidPartIsRefused(body: JSONValue, code: Int64) async throws
    {
        let server = try TestServer()
        try await server.send("PUT", "/config", ["params": ["kept": 1]])
        var members = body.object ?? [:]
        if var parameters = members["params"]?.object {
            parameters["other"] = 2
            members["params"] = .object(parameters)
        }
        let reply = try await server.send("PUT", "/config", .object(members))
        #expect(reply.code == code, "\(reply.json)")
        #expect(try await server.send("GET", "/config")["params"] == ["kept": 1])
    }

    @Test func theNumberOfParametersIsLimited() async throws {
        let server = try TestServer()
        let many = JSONObject((0..<1001).map { ("p\($0)", .integer(Int64($0))) })
        #expect(try await server.send("PUT", "/config", ["params": .object(many)]).code == 105)
        #expect(try await server.send("GET", "/config").json == ["params": [:]])
    }

    @Test func concurrentChangesLoseNothing() async throws {
        let server = try TestServer()
        try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 0..<20 {
                group.addTask {
                    try await server.send(
                        "PUT", "/config", ["params": .object(["p\(number)": 1, "last": .integer(Int64(number))])]
                    ).status
                }
            }
            for try await status in group { #expect(status == 200) }
        }
        #expect(try await server.send("GET", "/config")["params"]?.object?.count == 21)
    }

    @Test func parametersAreStored() async throws {
        let databases = try TestDatabases()
        let path = try databases.path()
        do {
            let server = try TestServer(mode: .production, path: path)
            try await server.send("PUT", "/config", ["params": ["a": 1]])
            try server.store.close()
        }
        let server = try TestServer(mode: .production, path: path)
        #expect(try await server.send("GET", "/config", isMaster: false).json == ["params": ["a": 1]])
        try server.store.close()
    }
}
