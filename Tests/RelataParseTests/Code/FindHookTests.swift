import Foundation
import RelataParse
import Synchronization
import TestEngines
import Testing

/// An app's hooks before and after objects are found.
@Suite(.onEveryEngine) struct FindHookTests {
    /// A server with two notes. One of them is visible only to the master key.
    private func server(_ configure: (inout CloudCode) -> Void = { _ in }) async throws -> TestServer {
        let server = try TestServer.withUsers { options in
            options.code.beforeFind("Note") { find, call in
                if !call.isMaster { find.conditions["isHidden"] = ["$ne": true] }
                if find.order == nil { find.order = ["-title"] }
                find.limit = min(find.limit ?? 2, 2)
            }
            configure(&options.code)
        }
        for (title, isHidden) in [("a", false), ("b", true), ("c", false), ("d", false)] {
            _ = try await server.create("Note", ["title": .string(title), "isHidden": .bool(isHidden)])
        }
        return server
    }

    private func titles(_ reply: TestServer.Reply) -> [String] { reply.results.compactMap { $0["title"]?.string } }

    private func id(_ title: String, _ server: TestServer) async throws -> String {
        let found = try await server.find("Note", where: ["title": .string(title)])
        return try #require(found.first?["objectId"]?.string)
    }

    @Test func aHookCanChangeARequest() async throws {
        let server = try await server()
        #expect(titles(try await server.send("GET", "/classes/Note", isMaster: false)) == ["d", "c"])
        #expect(titles(try await server.send("GET", "/classes/Note?order=title&limit=1", isMaster: false)) == ["a"])
        let both = try await server.send("GET", "/classes/Note?limit=0&count=1", isMaster: false)
        #expect(both["count"] == 3, "\(both.json)")
        let posted = try await server.send(
            "POST", "/classes/Note", ["_method": "GET", "where": ["title": ["$in": ["a", "b"]]]], isMaster: false)
        #expect(titles(posted) == ["a"])
        #expect(titles(try await server.send("GET", "/classes/Note?order=title&skip=1")) == ["b", "c"])
    }

    @Test func aClientCantBypassAHook() async throws {
        let server = try await server()
        let hidden = try await id("b", server)
        let open = try await id("a", server)
        #expect(try await server.send("GET", "/classes/Note/\(hidden)", isMaster: false).code == 101)
        #expect(try await server.send("GET", "/classes/Note/\(open)", isMaster: false)["title"] == "a")
        #expect(try await server.send("GET", "/classes/Note/\(hidden)")["title"] == "b")
        for condition in ["{\"isHidden\":true}", "{\"$or\":[{\"isHidden\":true}]}"] {
            let text = condition.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            #expect(
                titles(try await server.send("GET", "/classes/Note?where=\(text)", isMaster: false)).contains("b")
                    == false)
        }
        let inBatch = try await server.send(
            "POST", "/batch",
            [
                "requests": [
                    ["method": "GET", "path": .string("/classes/Note/\(hidden)")],
                    ["method": "GET", "path": "/classes/Note"],
                    ["method": "POST", "path": "/classes/Note", "body": ["title": "e"]],
                ]
            ], isMaster: false)
        #expect(inBatch.json.array?.map { $0["error"]?["code"] } == [119, 119, nil], "\(inBatch.json)")
        _ = try await server.create("Shelf", ["note": pointer("Note", hidden)])
        let redirected = try await server.send(
            "GET", "/classes/Shelf?redirectClassNameForKey=note", isMaster: false)
        #expect(titles(redirected).contains("b") == false && redirected.results.count == 2, "\(redirected.json)")
        let redirectedInBatch = try await server.send(
            "POST", "/batch",
            ["requests": [["method": "GET", "path": "/classes/Shelf?redirectClassNameForKey=note"]]], isMaster: false)
        #expect(redirectedInBatch.json.array?.first?["error"]?["code"] == 119)
    }

    @Test func aHookCanRefuseARequest() async throws {
        struct Secret: Error {}
        let server = try await server { code in
            code.beforeFind("Closed") { _, _ in throw ParseError(.operationForbidden, "closed") }
            code.beforeFind("Broken") { _, _ in throw Secret() }
        }
        for path in ["/classes/Closed", "/classes/Closed/x"] {
            #expect(try await server.send("GET", path).json == ["code": 119, "error": "closed"])
        }
        #expect(
            try await server.send("GET", "/classes/Broken").json == [
                "code": 141, "error": "Script failed. Unknown error.",
            ])
        #expect(try await server.send("POST", "/classes/Closed", ["a": 1]).status == 201)
    }

    @Test func aHookCanChangeTheFoundObjects() async throws {
        let server = try await server { code in
            code.afterFind("Note") { objects, call in
                objects.filter { $0["title"] != "d" || call.isMaster }.map { object in
                    var object = object
                    object["label"] = .string("note \(object["title"]?.string ?? "")")
                    object["isHidden"] = nil
                    return object
                }
            }
        }
        let reply = try await server.send("GET", "/classes/Note?count=1", isMaster: false)
        #expect(titles(reply) == ["c"] && reply["count"] == 3, "\(reply.json)")
        #expect(reply.results.first?["label"] == "note c" && reply.results.first?["isHidden"] == nil)
        let (last, first) = (try await id("d", server), try await id("a", server))
        #expect(try await server.send("GET", "/classes/Note/\(last)", isMaster: false).code == 101)
        #expect(try await server.send("GET", "/classes/Note/\(first)", isMaster: false)["label"] == "note a")
    }

    @Test func hooksRunForTheAppsOwnCodeToo() async throws {
        let server = try await server { code in
            code.function("titles") { call in
                .array(try await call.asCaller.find("Note").map { $0["title"] ?? .null })
            }
        }
        #expect(try await server.send("POST", "/functions/titles", [:], isMaster: false)["result"] == ["d", "c"])
    }

    @Test func hooksRunForUsersToo() async throws {
        let server = try TestServer.withUsers { options in
            options.code.beforeFind("_User") { find, call in
                if !call.isMaster, call.userID != nil { find.conditions["isBanned"] = ["$ne": true] }
                if call.user == nil, !call.isMaster { throw ParseError(.operationForbidden, "sign in") }
            }
        }
        let (mei, sam) = (
            try await server.signUp("mei", ["ACL": acl(read: ["*"])]),
            try await server.signUp("sam", ["ACL": acl(read: ["*"]), "isBanned": true])
        )
        #expect(try await server.send(as: mei, "GET", "/users").results.count == 1)
        #expect(try await server.send(as: mei, "GET", "/users/\(sam.id)").code == 101)
        #expect(try await server.send(as: sam, "GET", "/users/\(sam.id)").code == 101)
        #expect(try await server.send(as: mei, "GET", "/users/\(mei.id)")["username"] == "mei")
        for path in ["/users", "/users/\(mei.id)", "/classes/_User"] {
            #expect(try await server.send(as: nil, "GET", path).json == ["code": 119, "error": "sign in"])
        }
    }

    @Test func aDisabledExplainStillRunsHooks() async throws {
        let server = try await server { code in
            code.afterFind("Note") { objects, _ in objects.filter { $0["title"] != "d" } }
        }
        for value in ["false", "0", "FALSE"] {
            let reply = try await server.send("GET", "/classes/Note?explain=\(value)", isMaster: false)
            #expect(titles(reply) == ["c"], "\(value): \(reply.json)")
        }
        let posted = try await server.send(
            "POST", "/classes/Note", ["_method": "GET", "explain": .null], isMaster: false)
        #expect(titles(posted) == ["c"])
        #expect(try await server.send("GET", "/classes/Note?explain=1").results.first?["plan"] != nil)
    }

    @Test func hooksCanRemoveParametersOfTheClient() async throws {
        let server = try TestServer.withUsers { options in
            options.code.beforeFind("Book") { find, call in
                guard !call.isMaster else { return }
                (find.include, find.keys, find.excludedKeys, find.order) = (nil, nil, nil, nil)
            }
        }
        let author = try await server.create("Author", ["name": "Le Guin"])
        _ = try await server.create("Book", ["title": "b", "pages": 2, "author": pointer("Author", author)])
        for query in [
            "include=author", "includeAll=1", "include=*", "keys=title", "keys=", "excludeKeys=pages", "order=-pages",
        ] {
            let book = try #require(
                try await server.send("GET", "/classes/Book?\(query)", isMaster: false).results.first)
            #expect(book["author"]?["name"] == nil && book["pages"] == 2 && book["title"] == "b", "\(query): \(book)")
        }
        for query in ["include=author", "includeAll=1"] {
            let book = try await server.send("GET", "/classes/Book?\(query)").results.first
            #expect(book?["author"]?["name"] == "Le Guin", "\(query)")
        }
        #expect(try await server.send("GET", "/classes/Book?keys=").results.first?["title"] == nil)
    }

    @Test func hooksSeeIncludeAll() async throws {
        let seen = Mutex<[[String]?]>([])
        let server = try await server { code in
            code.beforeFind("Note") { find, _ in seen.withLock { $0.append(find.include) } }
        }
        for query in ["", "?includeAll=true", "?includeAll=false", "?include=a,b.c"] {
            _ = try await server.send("GET", "/classes/Note\(query)", isMaster: false)
        }
        #expect(seen.withLock { $0 } == [nil, ["*"], nil, ["a", "b.c"]])
    }

    @Test func anotherServerKnowsWhereAQueryIsRedirected() async throws {
        let databases = try TestDatabases()
        let path = try databases.path()
        func server() throws -> TestServer {
            try TestServer.withUsers(path: path) { options in
                options.code.beforeFind("Note") { find, _ in find.conditions["isHidden"] = ["$ne": true] }
            }
        }
        let (one, other) = (try server(), try server())
        let note = try await one.create("Note", ["title": "b", "isHidden": true])
        #expect(try await other.send("GET", "/classes/Note", isMaster: false).results.isEmpty)
        for name in ["Shelf", "Box"] {
            _ = try await one.create(name, ["note": pointer("Note", note)])
            let path = "/classes/\(name)?redirectClassNameForKey=note"
            let inBatch = try await other.send(
                "POST", "/batch", ["requests": [["method": "GET", "path": .string(path)]]], isMaster: false)
            #expect(inBatch.json.array?.first?["error"]?["code"] == 119, "\(inBatch.json)")
        }
        _ = try await one.create("Case", ["note": pointer("Note", note)])
        let found = try await other.send("GET", "/classes/Case?redirectClassNameForKey=note", isMaster: false)
        #expect(found.status == 200 && found.results.isEmpty, "\(found.json)")
        try one.store.close()
        try other.store.close()
    }
}
