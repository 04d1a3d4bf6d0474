#if Server
import Foundation
import RelataCore
import RelataParse
import ServerClient
import TestEngines
import Testing

@testable import RelataServer

/// The schema as a file in the dashboard: saved, compared and deployed.
@Suite(.onEveryEngine) struct DashboardSchemaTests: DashboardSuite {
    private static let file: JSONValue = [
        [
            "className": "Book",
            "fields": [
                "title": ["type": "String", "defaultValue": "secret"], "pages": ["type": "Number"],
            ], "indexes": ["by_title": ["title": 1]],
        ], ["className": "Reader", "fields": ["name": ["type": "String"]]],
    ]

    private func addBooks(_ page: DashboardPage) async throws {
        let reply = try await page.request("POST", "/parse/schemas/Book", ["fields": ["title": ["type": "String"]]])
        #expect(reply.status == 200, "\(reply.text)")
    }

    private func differences(_ page: DashboardPage, _ file: JSONValue = file) async throws -> [JSONValue] {
        let reply = try await page.request("POST", "/schema/comparison", ["schema": file])
        #expect(reply.status == 200, "\(reply.text)")
        return try reply.json["results"]?.array ?? []
    }

    private func classes(_ page: DashboardPage) async throws -> JSONValue? {
        try await page.request("GET", "/parse/schemas").json["results"]
    }

    @Test func theSchemaIsSavedAsTheFileOfTheCommandLineTool() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            try await self.addBooks(page)
            let file = try await page.request("GET", "/schema")
            #expect(file.status == 200 && file.headers["content-type"] == "application/octet-stream")
            let classes = try #require(try await self.classes(page))
            #expect(file.text == JSONWriter.indentedText(classes, sortsMembers: true) + "\n")
            #expect(try await self.differences(page, try file.json) == [])
        }
    }

    @Test func theDifferencesOfAFileAreListedWithBothSides() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            try await self.addBooks(page)
            #expect(
                try await self.differences(page) == [
                    ["className": "Book", "kind": "field", "name": "pages", "there": ["type": "Number"]],
                    [
                        "className": "Book", "kind": "field", "name": "title", "here": ["type": "String"],
                        "there": ["type": "String", "defaultValue": "secret"],
                    ], ["className": "Book", "kind": "index", "name": "by_title", "there": ["title": 1]],
                    ["className": "Reader", "kind": "class", "name": "Reader", "there": ["name"]],
                ])
            let fewer = try await self.differences(page, [])
            #expect(fewer == [["className": "Book", "kind": "class", "name": "Book", "here": ["title"]]])
        }
    }

    @Test func aFileIsDeployedAsItsPlanSaysAndLoggedWithoutValues() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            try await self.addBooks(page)
            let before = try await self.classes(page)
            let plan = try await page.request("POST", "/schema/plan", ["schema": Self.file])
            let changes = try #require(try plan.json["changes"], "\(plan.text)")
            #expect(changes.array?.contains("add Book.pages: Number") == true, "\(changes)")
            #expect(try plan.json["refusals"] == [])
            #expect(try await self.classes(page) == before)
            let body: JSONValue = ["schema": Self.file, "expected": changes]
            let reply = try await page.request("POST", "/schema/deployment", body)
            #expect(reply.status == 200, "\(reply.text)")
            #expect(try await self.differences(page) == [])
            let audit = try await page.request("GET", "/audit")
            let entry = try #require(
                try audit.json["results"]?.array?.first { $0["action"] == "POST /schema/deployment" })
            #expect(entry["status"] == 200)
            let details = Set(entry["details"]?.array ?? [])
            #expect(
                details == [
                    "add Book.pages", "change the rules of Book.title", "add the index by_title of Book",
                    "add the class Reader", "add Reader.name",
                ], "\(entry)")
            #expect(!audit.text.contains("secret") && !audit.text.contains("/schema/plan"))
        }
    }

    @Test func unwantedClassesAreRemovedOnlyIfAsked() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            try await self.addBooks(page)
            let kept = try await page.request("POST", "/schema/plan", ["schema": []])
            #expect(try kept.json["changes"] == [])
            let plan = try await page.request("POST", "/schema/plan", ["schema": [], "removes": true])
            #expect(try plan.json["changes"] == ["remove the class Book"])
            let body: JSONValue = ["schema": [], "removes": true, "expected": ["remove the class Book"]]
            #expect(try await page.request("POST", "/schema/deployment", body).status == 200)
            #expect(try await self.classes(page) == [])
        }
    }

    @Test func aRefusedOrOutdatedPlanChangesNothing() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            try await self.addBooks(page)
            let before = try await self.classes(page)
            let other: JSONValue = [["className": "Book", "fields": ["title": ["type": "Number"]]]]
            let plan = try await page.request("POST", "/schema/plan", ["schema": other])
            #expect(try plan.json["refusals"]?.array?.count == 1, "\(plan.text)")
            for (body, status) in [
                (["schema": other, "expected": []], 400), (["schema": Self.file], 400),
                (["schema": Self.file, "expected": ["add the class Reader"]], 409),
            ] as [(JSONValue, Int)] {
                let reply = try await page.request("POST", "/schema/deployment", body)
                #expect(reply.status == status, "\(reply.text)")
            }
            #expect(try await self.classes(page) == before)
            let audit = try await page.request("GET", "/audit").json["results"]?.array ?? []
            #expect(audit.filter { $0["action"] == "POST /schema/deployment" }.map { $0["status"] } == [409, 400, 400])
        }
    }

    @Test func invalidFilesAreRefused() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            for text in [
                "", "[]", "{", "{}", #"{"schema": 5}"#, #"{"schema": [{}]}"#,
                #"{"schema": [{"className": "A"}, {"className": "A"}]}"#,
                #"{"schema": [{"className": "A", "fields": {"a": {"type": "None"}}}]}"#,
            ] {
                for path in ["comparison", "plan", "deployment"] {
                    let reply = try await page.send("POST", "/schema/\(path)", Array(text.utf8))
                    #expect(reply.status == 400, "\(path) \(text): \(reply.text)")
                }
            }
            #expect(try await page.request("POST", "/schema/other", ["schema": []]).status == 404)
        }
    }

    @Test func aReadOnlyDashboardSavesAndComparesOnly() async throws {
        try await running(isReadOnly: true) { (server, _) async throws in
            let page = try await self.page(server)
            #expect(try await page.request("GET", "/schema").status == 200)
            #expect(try await self.differences(page).count == 2)
            for path in ["/schema/plan", "/schema/deployment"] {
                let reply = try await page.request("POST", path, ["schema": Self.file, "expected": []])
                #expect(reply.status == 403, "\(path)")
            }
        }
    }

    @Test func otherCallersAndViewsDeployNothing() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            let body: JSONValue = ["schema": [], "expected": []]
            let viewing = try await page.request(
                "POST", "/schema/deployment", body, headers: ["X-Relata-View-As": "nobody"])
            #expect(viewing.status == 403)
            let bytes = Array(JSONWriter.text(body).utf8)
            for (method, path) in [
                ("GET", "/schema"), ("POST", "/schema/comparison"), ("POST", "/schema/deployment"),
            ] {
                let address = "/dashboard/api" + path
                let sent = method == "GET" ? [] : bytes
                #expect(try await server.request(method, address, body: sent).status == 401)
                let onlyCookie = try await server.request(
                    method, address, headers: ["Cookie": page.cookie], body: sent)
                #expect(onlyCookie.status == 403)
            }
        }
    }
}
#endif
