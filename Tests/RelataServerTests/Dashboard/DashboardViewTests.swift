#if Server
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// Viewing the store as another user, by requests of the dashboard's page and others.
struct DashboardViewTests: DashboardSuite {
    /// Signs users up, and makes a class that shows them different things.
    private func fill(_ page: DashboardPage) async throws -> (mei: String, notes: [String]) {
        let user = try await page.request("POST", "/parse/users", ["username": "mei", "password": "a secret"]).json
        let mei = try #require(user["objectId"]?.string, "\(user)")
        let owner: JSONValue = ["__type": "Pointer", "className": "_User", "objectId": .string(mei)]
        _ = try await page.request(
            "POST", "/parse/roles", ["name": "Editors", "ACL": ["*": ["read": true]]])
        var notes: [String] = []
        for fields in [
            ["title": "a", "price": 1, "owner": owner], ["title": "b", "price": 2],
            ["title": "c", "price": 3, "ACL": ["role:Editors": ["read": true]]],
        ] as [JSONObject] {
            let made = try await page.request("POST", "/parse/classes/Note", .object(fields)).json
            notes.append(try #require(made["objectId"]?.string, "\(made)"))
        }
        let everybody: JSONValue = ["*": true]
        let put = try await page.request(
            "PUT", "/parse/schemas/Note",
            [
                "classLevelPermissions": [
                    "find": everybody, "get": everybody, "update": ["pointerFields": ["owner"]],
                    "protectedFields": ["*": ["price"], "userField:owner": []],
                ]
            ])
        #expect(put.status == 200, "\(put.text)")
        return (mei, notes)
    }

    private func titles(_ page: DashboardPage, _ query: String, as name: String?) async throws -> [JSONValue?] {
        let reply = try await page.request(
            "GET", "/parse/classes/Note?order=title&\(query)",
            headers: name.map { ["X-Relata-View-As": $0] } ?? [:])
        #expect(reply.status == 200, "\(reply.text)")
        return try reply.json["results"]?.array?.map { $0["title"] } ?? []
    }

    @Test func pagesShowWhatAnotherUserSees() async throws {
        try await running { (server, _) async throws in
            let page = try await page(server)
            let (mei, _) = try await fill(page)
            #expect(try await titles(page, "", as: nil) == ["a", "b", "c"])
            #expect(try await titles(page, "", as: "nobody") == ["a", "b"])
            #expect(try await titles(page, "", as: "role:Editors") == ["a", "b", "c"])
            let priced = "where=%7B%22price%22:%7B%22$exists%22:true%7D%7D"
            #expect(try await titles(page, priced, as: nil) == ["a", "b", "c"])
            #expect(try await titles(page, priced, as: "user:\(mei)") == ["a"])
            #expect(try await titles(page, priced, as: "role:Editors") == [])
            let counted = try await page.request(
                "GET", "/parse/classes/Note?count=1&limit=0", headers: ["X-Relata-View-As": "nobody"])
            #expect(try counted.json["code"] == 119, "\(counted.text)")
        }
    }

    @Test func viewingAsAnotherUserChangesNothing() async throws {
        try await running { (server, _) async throws in
            let page = try await page(server)
            let (mei, notes) = try await fill(page)
            let view = ["X-Relata-View-As": "user:\(mei)"]
            for (method, path, body) in [
                ("PUT", "/parse/classes/Note/\(notes[0])", ["title": "x"]), ("POST", "/parse/classes/Note", [:]),
                ("DELETE", "/parse/classes/Note/\(notes[0])", nil),
                ("POST", "/parse/classes/Note", ["_method": "GET"]), ("POST", "/exports", ["format": "json"]),
                ("PUT", "/parse/schemas/Note", [:]),
            ] as [(String, String, JSONValue?)] {
                let reply = try await page.request(method, path, body, headers: view)
                #expect(reply.status == 403, "\(method) \(path): \(reply.text)")
            }
            let login = try await page.request(
                "GET", "/parse/login?username=mei&password=a%20secret", headers: view)
            #expect(try login.json["code"] == 119, "\(login.text)")
            for path in ["/parse/schemas", "/parse/aggregate/Note", "/parse/jobs"] {
                #expect(try await page.request("GET", path, headers: view).status >= 400, "\(path)")
            }
            #expect(try await titles(page, "", as: nil) == ["a", "b", "c"])
        }
    }

    /// An invalid name must not fall back to the rights of the master key.
    @Test(arguments: ["master", "user", "mei", "user:nobody", "role:None", "user:", ":", ""])
    func anUnknownCallerSeesNothing(_ name: String) async throws {
        try await running { (server, _) async throws in
            let page = try await page(server)
            _ = try await fill(page)
            for path in [
                "/parse/classes/Note", "/access/Note", "/counts/Note?relations=%5B%22x%22%5D&ids=%5B%22x%22%5D",
            ] {
                let reply = try await page.request("GET", path, headers: ["X-Relata-View-As": name])
                #expect(reply.status >= 400, "\(path): \(reply.text)")
            }
        }
    }

    @Test func pagesGetTheDecidingRule() async throws {
        try await running { (server, _) async throws in
            let page = try await page(server)
            let (mei, notes) = try await fill(page)
            func explanation(_ path: String, _ name: String) async throws -> JSONValue {
                try await page.request("GET", "/access/Note\(path)", headers: ["X-Relata-View-As": name]).json
            }
            func outcome(_ json: JSONValue, _ operation: String) -> JSONValue? {
                json["verdicts"]?.array?.first { $0["operation"]?.string == operation }?["outcome"]
            }
            let whole = try await explanation("", "user:\(mei)")
            #expect(whole["hiddenFields"] == [] && whole["partlyHiddenFields"] == ["price"], "\(whole)")
            #expect(outcome(whole, "create") == "denied" && outcome(whole, "find") == "allowed")
            let own = try await explanation("/\(notes[0])", "user:\(mei)")
            #expect(outcome(own, "update") == "allowed" && own["hiddenFields"] == [], "\(own)")
            let other = try await explanation("/\(notes[2])", "user:\(mei)")
            #expect(outcome(other, "get") == "hidden" && other["hiddenFields"] == ["price"], "\(other)")
            #expect(try await page.request("GET", "/access/Note").status == 400)
            #expect(try await server.request("GET", "/dashboard/api/access/Note").status == 401)
        }
    }
}
#endif
