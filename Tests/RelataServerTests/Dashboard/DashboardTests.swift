#if Server
import Foundation
import RelataDashboard
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// The dashboard over HTTP, as its pages and others call it.
struct DashboardTests: DashboardSuite {
    // MARK: The pages

    @Test func thePagesRunOnlyTheirOwnScriptsAndCannotBeFramed() async throws {
        try await running { (server, _) async throws in
            for path in ["/dashboard/", "/dashboard/app.js", "/dashboard/style.css"] {
                let reply = try await server.request("GET", path)
                #expect(reply.status == 200)
                let policy = try #require(reply.headers["content-security-policy"])
                #expect(policy.contains("default-src 'none'"))
                #expect(policy.contains("script-src 'self';"))
                #expect(policy.contains("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe"))
                #expect(reply.headers["x-content-type-options"] == "nosniff")
                #expect(reply.headers["referrer-policy"] == "no-referrer")
            }
            let moved = try await server.request("GET", "/dashboard")
            #expect(moved.status == 301)
            #expect(moved.headers["location"] == "/dashboard/")
        }
    }

    @Test func everyFileOfThePagesIsEmbeddedAndSmall() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../../Sources/RelataDashboard/web").standardizedFileURL
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        #expect(DashboardFiles.all.keys.sorted() == names)
        var size = 0
        for (name, bytes) in DashboardFiles.all {
            size += bytes.count
            #expect(try Data(contentsOf: folder.appendingPathComponent(name)) == Data(bytes))
        }
        #expect(size < 250_000)
    }

    @Test func thePagesLoadNothingFromElsewhereAndEscapeText() {
        for (name, bytes) in DashboardFiles.all {
            let text = String(decoding: bytes, as: UTF8.self)
            let addresses = text.matches(of: #/https?://[^'"`\s)]+/#).map { String($0.output) }
            #expect(addresses.allSatisfy { $0 == "http://www.w3.org/2000/svg" }, "\(name): \(addresses)")
            #expect(!text.contains("innerHTML"))
            #expect(!text.contains("eval("))
        }
    }

    @Test func everyLanguageHasAllTextsOfThePages() throws {
        func text(_ name: String) throws -> String {
            String(decoding: try #require(DashboardFiles.all[name]), as: UTF8.self)
        }
        func names(_ file: String) throws -> Set<String> {
            Set(try text(file).matches(of: #/(?m)^  '?([\w.]+)'?: /#).map { String($0.output.1) })
        }
        let names = (english: try names("strings.en.js"), chinese: try names("strings.zh-Hans.js"))
        #expect(names.english == names.chinese)
        for file in DashboardFiles.all.keys where file.hasSuffix(".js") && !file.hasPrefix("strings.") {
            for name in try text(file).matches(of: #/\bt\('([\w.]+)'/#).map({ String($0.output.1) }) {
                #expect(names.english.contains(name), "\(file) shows \(name)")
            }
        }
    }

    @Test func aServerWithoutADashboardHasNoPages() async throws {
        try await TestServer.running { (server) async throws in
            #expect(try await server.request("GET", "/dashboard/").status == 404)
            #expect(try await server.request("POST", "/dashboard/api/login").status == 404)
        }
    }

    // MARK: Signing in

    @Test func theCookieIsHiddenFromScriptsAndStaysOnTheSite() async throws {
        try await running { (server, _) async throws in
            let reply = try await self.signIn(server)
            #expect(reply.status == 200)
            let cookie = try #require(reply.headers["set-cookie"])
            #expect(cookie.contains("; HttpOnly"))
            #expect(cookie.contains("; SameSite=Strict"))
            #expect(!cookie.contains("Path"))
            #expect(reply.headers["cache-control"] == "no-store")
            #expect(!reply.text.contains(try #require(cookie.split(separator: ";").first?.split(separator: "=").last)))
        }
    }

    @Test func aTokenOfTheServerSignsInOnce() async throws {
        try await running { server, running in
            let token = try #require(running.makeDashboardToken())
            let page = try await self.page(server, token)
            #expect(try await page.request("GET", "/classes").status == 200)
            #expect(try await self.signIn(server, token).status == 403)
        }
    }

    @Test(arguments: ["", "client", "app", "maste", "master "]) func nothingElseSignsIn(key: String) async throws {
        try await running { (server, _) async throws in
            let reply = try await self.signIn(server, key)
            #expect(reply.status == (key.isEmpty ? 400 : 403))
            #expect(reply.headers["set-cookie"] == nil)
        }
    }

    @Test func aClientThatGuessesMustWait() async throws {
        try await running { (server, _) async throws in
            for _ in 0..<LoginAttempts.freeFailures { #expect(try await self.signIn(server, "guess").status == 403) }
            let reply = try await self.signIn(server, "another")
            #expect(reply.status == 429)
            #expect(reply.headers["retry-after"].flatMap { Int($0) } ?? 0 > 0)
            #expect(try await self.signIn(server).status == 200)
        }
    }

    @Test func aLargeBodyIsNotReadWithoutASession() async throws {
        try await running { (server, _) async throws in
            let large = [UInt8](repeating: 32, count: 100_000)
            #expect(try await server.request("POST", "/dashboard/api/login", body: large).status == 413)
            #expect(try await server.request("POST", "/dashboard/api/parse/classes/A", body: large).status == 401)
        }
    }

    @Test func signingOutEndsTheSession() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            let reply = try await page.request("POST", "/logout")
            #expect(reply.status == 200)
            #expect(reply.headers["set-cookie"]?.contains("Max-Age=0") == true)
            #expect(try await page.request("GET", "/classes").status == 401)
            #expect(try await page.request("GET", "/session").json["pageToken"] == .null)
        }
    }

    @Test func theNameOfTheStoreIsHiddenWithoutSigningIn() async throws {
        try await running { (server, _) async throws in
            let reply = try await server.request("GET", "/dashboard/api/session")
            #expect(reply.status == 200)
            #expect(try reply.json == ["pageToken": .null])
            let page = try await self.page(server)
            let known = try await server.request("GET", "/dashboard/api/session", headers: ["Cookie": page.cookie])
            #expect(try known.json == ["pageToken": .string(page.token), "name": "library", "isReadOnly": false])
        }
    }

    // MARK: Accepted requests

    @Test(arguments: ["/classes", "/diagram.svg", "/parse/schemas", "/parse/classes/Book", "/nothing"])
    func aRequestNeedsTheCookieAndThePagesToken(path: String) async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            let path = "/dashboard/api" + path
            #expect(try await server.request("GET", path).status == 401)
            #expect(try await server.request("GET", path, headers: ["Cookie": page.cookie]).status == 403)
            #expect(
                try await server.request("GET", path, headers: ["X-Relata-Page-Token": page.token]).status == 401)
            let other = try await self.page(server)
            #expect(
                try await server.request(
                    "GET", path, headers: ["Cookie": page.cookie, "X-Relata-Page-Token": other.token]
                ).status == 403)
            #expect(
                try await server.request(
                    "GET", path, headers: ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": "master"]
                ).status == 401)
        }
    }

    @Test(arguments: ["cross-site", "same-site", "none"]) func aRequestOfAnotherPageIsRefused(site: String) async throws
    {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            #expect(try await page.request("GET", "/classes", headers: ["Sec-Fetch-Site": site]).status == 403)
            #expect(try await page.request("GET", "/classes", headers: ["Sec-Fetch-Site": "same-origin"]).status == 200)
            let login = try await server.request(
                "POST", "/dashboard/api/login", headers: ["Sec-Fetch-Site": site],
                body: Array(#"{"key":"master"}"#.utf8))
            #expect(login.status == 403)
        }
    }

    @Test func theCookieOpensNothingElse() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            #expect(try await server.request("GET", "/parse/schemas", headers: page.headers).status == 403)
            let headers = page.headers.merging(["X-Parse-Application-Id": "app", "X-Parse-Client-Key": "client"]) { $1 }
            #expect(try await server.request("GET", "/parse/schemas", headers: headers).status == 403)
        }
    }

    @Test func clientsCannotUseTheKeyOfForwardedRequests() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            let reply = try await page.request(
                "GET", "/parse/schemas", headers: ["X-Parse-Application-Id": "app", "X-Parse-Master-Key": "guess"])
            #expect(reply.status == 200)
            #expect(
                try await server.request(
                    "GET", "/parse/schemas", headers: ["X-Parse-Application-Id": "dashboard", "X-Parse-Master-Key": ""]
                ).status == 403)
        }
    }

    // MARK: The pages' permissions

    @Test func aSignedInPageReadsAndWrites() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            let created = try await page.request("POST", "/parse/classes/Book", ["title": "Dune"])
            #expect(created.status == 201)
            let id = try #require(try created.json["objectId"]?.string)
            #expect(try await page.request("PUT", "/parse/classes/Book/\(id)", ["title": "Kindred"]).status == 200)
            #expect(try await page.request("GET", "/parse/classes/Book/\(id)").json["title"] == "Kindred")
            let batch: JSONValue = [
                "transaction": true,
                "requests": [["method": "DELETE", "path": .string("/dashboard/api/parse/classes/Book/\(id)")]],
            ]
            #expect(try await page.request("POST", "/parse/batch", batch).status == 200)
            #expect(try await page.request("GET", "/parse/classes/Book/\(id)").status == 404)
        }
    }

    @Test func aReadOnlyDashboardChangesNothing() async throws {
        try await running(isReadOnly: true) { (server, _) async throws in
            let headers = ["X-Parse-Application-Id": "app", "X-Parse-Client-Key": "client"]
            let created = try await server.request(
                "POST", "/parse/classes/Book", headers: headers, body: Array(#"{"title": "Dune"}"#.utf8))
            let id = try #require(try created.json["objectId"]?.string)
            let page = try await self.page(server)
            for (method, path) in [
                ("POST", "/parse/classes/Book"), ("PUT", "/parse/classes/Book/\(id)"),
                ("DELETE", "/parse/classes/Book/\(id)"), ("POST", "/parse/batch"), ("DELETE", "/parse/purge/Book"),
                ("POST", "/parse/schemas/Author"),
            ] {
                #expect(try await page.request(method, path, ["_method": "GET"]).status == 403)
                #expect(try await page.request(method, path, ["title": "x"]).status == 403)
            }
            let overridden = try await page.request(
                "GET", "/parse/classes/Book/\(id)", ["_method": "DELETE"], headers: ["X-HTTP-Method-Override": "DELETE"]
            )
            #expect(overridden.status == 200)
            #expect(try await page.request("GET", "/parse/classes/Book/\(id)").json["title"] == "Dune")
            #expect(try await page.request("GET", "/session").json["isReadOnly"] == true)
        }
    }

    /// A sign-in changes something, regardless of its method.
    @Test func aReadOnlyDashboardSignsNobodyIn() async throws {
        try await running(isReadOnly: true) { (server, _) async throws in
            let headers = ["X-Parse-Application-Id": "app", "X-Parse-Client-Key": "client"]
            let made = try await server.request(
                "POST", "/parse/users", headers: headers,
                body: Array(#"{"username": "mei", "password": "a secret"}"#.utf8))
            #expect(made.status == 201, "\(made.text)")
            let page = try await self.page(server)
            for path in [
                "/parse/login?username=mei&password=a%20secret", "/parse/lo%67in?username=mei&password=a%20secret",
                "/parse/verifyPassword?username=mei&password=wrong",
            ] {
                #expect(try await page.request("GET", path).status == 403, "\(path)")
            }
            #expect(try await page.request("GET", "/parse/sessions").json["results"]?.array?.count == 1)
        }
    }

    @Test func aSignInByTheDashboardIsInTheAudit() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            let user: JSONValue = ["username": "mei", "password": "a secret"]
            #expect(try await page.request("POST", "/parse/users", user).status == 201)
            #expect(
                try await page.request("GET", "/parse/login?username=mei&password=a%20secret").status == 200)
            #expect(
                try await page.request("GET", "/parse/verifyPassword?username=mei&password=wrong").status == 404)
            #expect(try await page.request("GET", "/parse/users").status == 200)
            let audit = try await page.request("GET", "/audit")
            let actions = try audit.json["results"]?.array?.compactMap { $0["action"]?.string }
            #expect(actions == ["GET /parse/verifyPassword", "GET /parse/login", "POST /parse/users"], "\(audit.text)")
            #expect(!audit.text.contains("secret"))
        }
    }

    @Test func classesNameTheirLabelsAndCountTheirRelatedObjects() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            let genre = try await page.request("POST", "/parse/classes/Genre", ["name": "Fantasy"])
            let id = try #require(try genre.json["objectId"]?.string)
            for title in ["Mort", "Good Omens"] {
                let pointer: JSONValue = ["__type": "Pointer", "className": "Genre", "objectId": .string(id)]
                let reply = try await page.request(
                    "POST", "/parse/classes/Book", ["title": .string(title), "genre": pointer])
                #expect(reply.status == 201)
            }
            let relation = try await page.request(
                "PUT", "/parse/schemas/Genre",
                ["fields": ["books": ["type": "Relation", "targetClass": "Book", "inverse": "genre"]]])
            #expect(relation.status == 200)
            let classes = try #require(try await page.request("GET", "/classes").json["results"]?.array)
            let described = classes.reduce(into: [:]) { $0[$1["className"]?.string ?? ""] = $1["title"] }
            #expect(described == ["Genre": ["name"], "Book": ["title"]])
            let counts = try await page.request(
                "GET", "/counts/Genre?relations=%5B%22books%22%5D&ids=%5B%22\(id)%22,%22none%22%5D")
            #expect(try counts.json == .object([id: ["books": 2]]))
            for query in [
                "", "?relations=%5B%22books%22%5D&ids=7", "?relations=%5B%22name%22%5D&ids=%5B%22\(id)%22%5D",
            ] {
                #expect(try await page.request("GET", "/counts/Genre" + query).status == 400)
            }
            let diagram = try await page.request("GET", "/diagram.svg")
            #expect(diagram.headers["content-type"]?.hasPrefix("image/svg+xml") == true)
            #expect(diagram.text.contains("Genre"))
        }
    }

    @Test func changesAreCountedByClass() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            let first = try await page.request("GET", "/changes").json
            #expect(first["versions"] == [:])
            for _ in 0..<2 {
                #expect(try await page.request("POST", "/parse/classes/Book", ["title": "Dune"]).status == 201)
            }
            var versions: JSONValue?
            // The feed gets a commit only afterwards.
            for _ in 0..<500 where versions?["Book"]?.integer ?? 0 < 1 {
                let reply = try await page.request("GET", "/changes").json
                #expect(reply["epoch"] == first["epoch"])
                versions = reply["versions"]
            }
            #expect(versions?["Book"]?.integer ?? 0 > 0)
            #expect(versions?["Genre"] == nil)
        }
    }

    @Test func aMountAtThePathOfThePagesIsRefused() throws {
        var configuration = RelataServer.Configuration()
        configuration.dashboard = RelataServer.Dashboard(name: "library")
        for mount in ["/dashboard", "/dashboard/api/"] {
            configuration.mount = mount
            #expect(throws: (any Error).self) {
                try RelataServer(
                    try ParseStore.open(nil), keys: ServerKeys(applicationID: "app"), configuration: configuration)
            }
        }
    }
}
#endif
