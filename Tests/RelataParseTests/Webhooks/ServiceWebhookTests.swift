import RelataParse
import TestEngines
import Testing

/// Webhooks of files, parameters and installations.
@Suite(.onEveryEngine) struct ServiceWebhookTests {
    @Test func aWebhookRenamesAndRefusesFiles() async throws {
        let (server, hooks) = try TestServer.withWebhooks { $0.files = FileOptions(storage: TestFileStorage()) }
        for trigger in ["beforeSave", "afterSave"] { try await server.register(trigger, "@File") }
        hooks.answer("http://hook/beforeSave") { call in
            switch call["fileSize"] {
            case 1: ["error": ["code": 130, "error": "too small"]]
            case 2: ["success": true]
            case 3: ["success": ["name": 7]]
            case 4: ["success": ["name": "a/b"]]
            default: ["success": ["name": "renamed.txt", "tags": ["by": "hook"]]]
            }
        }
        hooks.answer("http://hook/afterSave") { _ in ["success": true] }
        let reply = try await server.upload("a.txt", "Hello", headers: ["x-parse-file-metadata": "{\"page\":1}"])
        let name = try #require(reply["name"]?.string, "\(reply.json)")
        #expect(name.hasSuffix("_renamed.txt"))
        let facts = try await server.send("GET", "/files/app/metadata/\(name)")
        #expect(facts.json == ["metadata": ["page": 1], "tags": ["by": "hook"]], "\(facts.json)")
        let asked = try #require(hooks.calls("http://hook/beforeSave").first)
        #expect(asked["file"]?["name"] == "a.txt" && asked["file"]?["url"] == nil && asked["master"] == true)
        #expect(asked["file"]?["metadata"] == ["page": 1] && asked["className"] == "@File")
        try await hooks.wait(for: 1, at: "http://hook/afterSave")
        let told = hooks.calls("http://hook/afterSave")[0]
        #expect(told["file"]?["name"] == .string(name) && told["file"]?["url"] == reply["url"])
        #expect(told["file"]?["tags"] == ["by": "hook"] && told["fileSize"] == 5)
        let small = try await server.upload("a.txt", "1")
        #expect(small.json == ["code": 130, "error": "too small"], "\(small.json)")
        #expect(try await server.upload("a.txt", "22")["name"]?.string?.hasSuffix("_a.txt") == true)
        for text in ["333", "4444"] {
            let reply = try await server.upload("a.txt", text)
            #expect(reply.code == 141 && reply.status == 400, "\(reply.json)")
        }
        #expect(hooks.reports.count == 2, "\(hooks.reports)")
    }

    @Test func aWebhookRefusesDeletionsOfFiles() async throws {
        let (server, hooks) = try TestServer.withWebhooks { $0.files = FileOptions(storage: TestFileStorage()) }
        for trigger in ["beforeDelete", "afterDelete"] { try await server.register(trigger, "@File") }
        hooks.answer("http://hook/beforeDelete") { call in
            call["fileSize"] == 1 ? ["error": "it is kept"] : ["success": true]
        }
        hooks.answer("http://hook/afterDelete") { _ in ["success": true] }
        let kept = try await server.upload("a.txt", "1")
        let other = try await server.upload("a.txt", "22")
        let (first, second) = (try #require(kept["name"]?.string), try #require(other["name"]?.string))
        #expect(try await server.send("DELETE", "/files/\(first)").json == ["code": 141, "error": "it is kept"])
        #expect(try await server.send("DELETE", "/files/\(second)").status == 200)
        try await hooks.wait(for: 1, at: "http://hook/afterDelete")
        #expect(hooks.calls("http://hook/afterDelete").map { $0["file"]?["name"] } == [.string(second)])
        #expect(try await server.download(first).status == 200)
    }

    @Test func webhooksRefuseDownloadsAndForceThemToBeSaved() async throws {
        let (server, hooks) = try TestServer.withWebhooks { $0.files = FileOptions(storage: TestFileStorage()) }
        for trigger in ["beforeFind", "afterFind"] { try await server.register(trigger, "@File") }
        hooks.answer("http://hook/beforeFind") { call in
            call["user"] == nil ? ["error": ["code": 119, "error": "sign in"]] : ["success": true]
        }
        hooks.answer("http://hook/afterFind") { call in
            switch call["fileSize"] {
            case 1: ["success": true]
            case 2: ["success": ["forceDownload": true]]
            case 3: ["success": ["forceDownload": 1]]
            default: ["error": "not that one"]
            }
        }
        let mei = try await server.signUp("mei")
        var files: [TestServer.File] = []
        for text in ["1", "22", "333", "4444"] {
            let reply = try await server.upload("a.txt", text)
            let name = try #require(reply["name"]?.string, "\(reply.json)")
            let refused = try await server.download(name)
            #expect(refused.text.contains("sign in") && refused.type == nil, "\(refused.text)")
            files.append(try await server.download(name, headers: mei.headers))
            let asked = try #require(hooks.calls("http://hook/afterFind").last)
            #expect(asked["file"]?["name"] == .string(name) && asked["file"]?["url"] == reply["url"], "\(asked)")
            #expect(asked["className"] == "@File" && asked["triggerName"] == "afterFind")
            #expect(asked["forceDownload"] == false && asked["user"]?["objectId"] == .string(mei.id))
        }
        #expect(files[0].text == "1" && files[0].headers["content-disposition"] == nil)
        #expect(files[1].text == "22" && files[1].headers["content-disposition"] == "attachment; filename=\"a.txt\"")
        #expect(files[2].text.contains("141") && files[2].type == nil, "\(files[2].text)")
        #expect(files[3].text.contains("not that one") && files[3].type == nil, "\(files[3].text)")
        #expect(hooks.calls("http://hook/afterFind").count == 4 && hooks.reports.count == 1, "\(hooks.reports)")
        // Queries of classes don't ask the hooks of files.
        #expect(try await server.find("Book").isEmpty)
        #expect(hooks.calls("http://hook/beforeFind").count == 8)
    }

    @Test func aWebhookChangesParameters() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        for trigger in ["beforeSave", "afterSave"] { try await server.register(trigger, "@Config") }
        hooks.answer("http://hook/beforeSave") { call in
            switch call["object"]?["params"]?["a"] {
            case 1: ["success": ["params": ["b": 2], "masterKeyOnly": ["b": true]]]
            case 2: ["success": call["object"] ?? .null]
            case 3: ["success": ["params": ["a b": 1]]]
            default: ["error": ["code": 142, "error": "a is needed"]]
            }
        }
        hooks.answer("http://hook/afterSave") { _ in ["success": true] }
        #expect(try await server.send("PUT", "/config", ["params": ["a": 1]]).json == ["result": true])
        try await hooks.wait(for: 1, at: "http://hook/afterSave")
        let told = hooks.calls("http://hook/afterSave")[0]
        #expect(told["object"]?["params"] == ["a": 1, "b": 2] && told["original"]?["params"] == [:], "\(told)")
        #expect(told["object"]?["masterKeyOnly"] == ["a": false, "b": true])
        #expect(try await server.send("PUT", "/config", ["params": ["a": 2]]).json == ["result": true])
        let refused = try await server.send("PUT", "/config", ["params": ["a": ["__op": "Delete"]]])
        #expect(refused.json == ["code": 142, "error": "a is needed"], "\(refused.json)")
        #expect(try await server.send("PUT", "/config", ["params": ["a": 3]]).code == 141)
        let all = try await server.send("GET", "/config").json
        #expect(all == ["params": ["a": 2, "b": 2], "masterKeyOnly": ["a": false, "b": true]], "\(all)")
    }

    @Test func aWebhookChangesInstallations() async throws {
        let (server, hooks) = try TestServer.withWebhooks()
        for trigger in ["beforeSave", "afterSave"] { try await server.register(trigger, "_Installation") }
        hooks.answer("http://hook/beforeSave") { call in
            if call["object"]?["badge"] == 9 { return ["success": ["deviceToken": "other"]] }
            return ["success": ["channels": ["news"]]]
        }
        hooks.answer("http://hook/afterSave") { _ in ["success": true] }
        let body: JSONValue = ["deviceType": "ios", "installationId": "one", "deviceToken": "t1", "level": 1]
        let made = try await server.send("POST", "/installations", body, isMaster: false)
        let id = try #require(made["objectId"]?.string, "\(made.json)")
        // A field that the reply leaves out isn't stored, except those that identify the installation.
        let stored = try await server.get("_Installation", id)
        #expect(stored["channels"] == ["news"] && stored["level"] == nil, "\(stored)")
        #expect(stored["deviceToken"] == "t1" && stored["installationId"] == "one" && stored["deviceType"] == "ios")
        let refused = try await server.send("PUT", "/installations/\(id)", ["badge": 9], isMaster: false)
        #expect(refused.code == 141, "\(refused.json)")
        try await hooks.wait(for: 1, at: "http://hook/afterSave")
        #expect(hooks.calls("http://hook/afterSave").map { $0["object"]?["objectId"] } == [.string(id)])
        #expect(hooks.calls("http://hook/beforeSave").map { $0["original"] == nil } == [true, false])
    }
}
