import RelataParse
import TestEngines
import Testing

/// An app's closures before and after installations are saved and deleted.
@Suite(.onEveryEngine) struct InstallationHookTests {
    private let told = ToldLines()

    private func server(_ configure: (inout CloudCode, ToldLines) -> Void) throws -> TestServer {
        try TestServer.withUsers { options in configure(&options.code, told) }
    }

    private func tell(_ server: TestServer, _ body: JSONValue) async throws -> TestServer.Reply {
        try await server.send("POST", "/installations", body, isMaster: false)
    }

    @Test func aHookSeesTheWrittenInstallation() async throws {
        let server = try server { code, told in
            code.beforeSave("_Installation") { save, _ in
                told.add("\(save.isNew) \(save.object["installationId"]?.string ?? "-")")
                if save.object["deviceType"] == "toaster" { throw ParseError(.operationForbidden, "no toasters") }
                save.object["channels"] = ["news"]
            }
            code.afterSave("_Installation") { save, _ in
                told.add("after \(save.isNew) \(save.object["badge"]?.integer ?? 0)")
            }
        }
        let made = try await tell(server, ["deviceType": "ios", "installationId": "ONE", "badge": 1])
        let id = try #require(made["objectId"]?.string, "\(made.json)")
        #expect(made["channels"] == ["news"], "\(made.json)")
        // For the client it is new; the hook sees that it already exists.
        let again = try await tell(server, ["installationId": "one", "badge": 2])
        #expect(again["objectId"] == .string(id) && again["createdAt"] != nil, "\(again.json)")
        let changed = try await server.send(
            "PUT", "/installations/\(id)", ["badge": ["__op": "Increment", "amount": 1]], isMaster: false)
        #expect(changed["badge"] == 3, "\(changed.json)")
        #expect(
            told.all == [
                "true one", "after true 1", "false one", "after false 2", "false one", "after false 3",
            ], "\(told.all)")
        let refused = try await tell(server, ["deviceType": "toaster", "installationId": "two"])
        #expect(refused.json == ["code": 119, "error": "no toasters"], "\(refused.json)")
        #expect(try await server.send("GET", "/installations").results.count == 1)
        #expect(try await server.get("_Installation", id)["channels"] == ["news"])
    }

    @Test func aHookCantChangeTheIdentityOfAnInstallation() async throws {
        let server = try server { code, _ in
            code.beforeSave("_Installation") { save, _ in
                if save.object["level"] == 1 { save.object["deviceToken"] = "other" }
                if save.object["level"] == 2 { save.object["installationId"] = nil }
            }
        }
        let body: JSONObject = ["deviceType": "ios", "installationId": "one", "deviceToken": "t1"]
        let made = try await tell(server, .object(body))
        let id = try #require(made["objectId"]?.string, "\(made.json)")
        for level in 1...2 {
            let reply = try await server.send(
                "PUT", "/installations/\(id)", ["level": .integer(Int64(level))], isMaster: false)
            #expect(reply.code == 141, "\(reply.json)")
        }
        let stored = try await server.get("_Installation", id)
        #expect(stored["deviceToken"] == "t1" && stored["installationId"] == "one" && stored["level"] == nil)
    }

    @Test func hooksOfDeletionsSeeTheInstallation() async throws {
        let server = try server { code, told in
            code.beforeDelete("_Installation") { installation, _ in
                if installation["badge"] == 1 { throw ParseError(.operationForbidden, "it is kept") }
            }
            code.afterDelete("_Installation") { installation, _ in
                told.add(installation["installationId"]?.string ?? "-")
            }
        }
        var ids: [String] = []
        for (name, badge) in [("one", 1), ("two", 2)] {
            let made = try await tell(
                server,
                ["deviceType": "ios", "installationId": .string(name), "badge": .integer(Int64(badge))])
            ids.append(try #require(made["objectId"]?.string, "\(made.json)"))
        }
        #expect(try await server.send("DELETE", "/installations/\(ids[0])").code == 119)
        #expect(try await server.send("DELETE", "/installations/\(ids[1])").status == 200)
        #expect(told.all == ["two"])
    }
}
