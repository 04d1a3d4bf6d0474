import RelataParse
import TestEngines
import Testing

/// An app's closures before and after parameters are changed.
@Suite(.onEveryEngine) struct ConfigHookTests {
    private let told = ToldLines()

    private func server(_ configure: (inout CloudCode, ToldLines) -> Void) throws -> TestServer {
        try TestServer.withUsers { options in configure(&options.code, told) }
    }

    @Test func aHookChangesAndRefusesParameters() async throws {
        let server = try server { code, _ in
            code.beforeSaveConfig { config, call in
                guard config.parameters["welcome"]?.string?.isEmpty == false else {
                    throw ParseError(.validationError, "a welcome is needed")
                }
                config.parameters["changes"] = .integer((config.original["changes"]?.integer ?? 0) + 1)
                config.parameters["old"] = nil
                config.masterKeyOnly.insert("changes")
            }
        }
        let reply = try await server.send("PUT", "/config", ["params": ["welcome": "hi", "old": 1, "limit": 5]])
        #expect(reply.json == ["result": true], "\(reply.json)")
        let refused = try await server.send("PUT", "/config", ["params": ["welcome": ["__op": "Delete"]]])
        #expect(refused.json == ["code": 142, "error": "a welcome is needed"], "\(refused.json)")
        #expect(try await server.send("PUT", "/config", ["params": ["limit": 6]]).status == 200)
        let all = try await server.send("GET", "/config").json
        #expect(all["params"] == ["changes": 2, "limit": 6, "welcome": "hi"], "\(all)")
        #expect(all["masterKeyOnly"] == ["changes": true, "limit": false, "welcome": false])
        #expect(try await server.send("PUT", "/config", ["params": ["limit": 7]], isMaster: false).status == 403)
    }

    @Test func aHookGetsTheChangedParameters() async throws {
        let server = try server { code, told in
            code.afterSaveConfig { config, call in
                let names = config.parameters.map(\.key).sorted().joined(separator: ",")
                told.add(
                    "\(names) \(config.original["a"]?.integer ?? 0) \(config.masterKeyOnly.sorted()) \(call.isMaster)")
            }
        }
        let headers = ["x-parse-request-id": "7"]
        for _ in 0..<2 {
            let reply = try await server.send(
                "PUT", "/config", ["params": ["a": 1], "masterKeyOnly": ["a": true]], headers: headers)
            #expect(reply.json == ["result": true], "\(reply.json)")
        }
        #expect(told.all == ["a 0 [\"a\"] true"])
        #expect(try await server.send("PUT", "/config", ["params": ["a": 2, "b": 3]]).status == 200)
        #expect(told.all.last == "a,b 1 [\"a\"] true" && told.all.count == 2, "\(told.all)")
        #expect(try await server.send("PUT", "/config", ["masterKeyOnly": ["typo": true]]).code == 102)
        #expect(told.all.count == 2)
    }

    @Test func anOvertakenHookRunsAgain() async throws {
        let server = try server { code, told in
            code.beforeSaveConfig { config, call in
                let count = config.original["count"]?.integer ?? 0
                told.add("\(count)")
                guard call.context["isSlow"] == true, count == 0 else { return }
                // Another request changes a parameter in the meantime.
                try await call.asMaster.send("PUT", "/config", ["params": ["count": 1]])
            }
        }
        let reply = try await server.send(
            "PUT", "/config", ["params": ["welcome": "hi"], "_context": ["isSlow": true]])
        #expect(reply.json == ["result": true], "\(reply.json)")
        #expect(told.all == ["0", "0", "1"])
        #expect(try await server.send("GET", "/config")["params"] == ["count": 1, "welcome": "hi"])
    }

    @Test func changesOfAHookObeyTheRulesForParameters() async throws {
        let server = try server { code, _ in
            code.beforeSaveConfig { config, _ in
                switch config.parameters["kind"]?.string {
                case "name": config.parameters["a b"] = 1
                case "operation": config.parameters["a"] = ["__op": "Increment", "amount": 1]
                case "typo": config.masterKeyOnly.insert("typo")
                default: break
                }
            }
        }
        for (kind, code) in [("name", 105), ("operation", 107), ("typo", 102)] as [(String, Int64)] {
            let reply = try await server.send("PUT", "/config", ["params": ["kind": .string(kind)]])
            #expect(reply.code == code, "\(kind): \(reply.json)")
        }
        #expect(try await server.send("GET", "/config").json == ["params": [:]])
    }
}
