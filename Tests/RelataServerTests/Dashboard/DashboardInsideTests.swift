#if Server
import Foundation
import RelataParse
import ServerClient
import Testing

@testable import RelataServer

/// The dashboard's view of the server, and its log.
struct DashboardInsideTests: DashboardSuite {
    @Test func theFeedListsChangesAndContinuesAfterANumber() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            let last = try await page.request("GET", "/feed?after=0").json["last"]?.integer ?? 0
            let created = try await page.request("POST", "/parse/classes/Book", ["title": "Dune"])
            let id = try #require(try created.json["objectId"]?.string)
            var changes: [JSONValue] = []
            // The feed gets a commit only afterwards. Creating the class is a change, too.
            for _ in 0..<500 where !changes.contains(where: { $0["kind"] == "insert" }) {
                changes = try await page.request("GET", "/feed?after=\(last)").json["changes"]?.array ?? []
            }
            let change = try #require(changes.first { $0["className"] == "Book" && $0["kind"] == "insert" })
            #expect(change["objectIds"] == [.string(id)])
            let number = try #require(changes.last?["number"]?.integer)
            #expect(try await page.request("GET", "/feed?after=\(number)").json["changes"] == [])
        }
    }

    @Test func metricsAndFindingsAreShown() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            let text = try await page.request("GET", "/metrics").json["text"]?.string ?? ""
            #expect(text.contains("relata_requests_total"))
            #expect(text.contains("process_resident_memory_bytes"))
            let check = try await page.request("GET", "/check")
            #expect(check.status == 200)
            #expect(try check.json["results"] == [])
        }
    }

    @Test(arguments: ["/feed", "/metrics", "/slow", "/audit", "/check"])
    func otherCallersGetNothing(path: String) async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            #expect(try await server.request("GET", "/dashboard/api" + path).status == 401)
            let stolen = try await server.request("GET", "/dashboard/api" + path, headers: ["Cookie": page.cookie])
            #expect(stolen.status == 403)
        }
    }

    @Test func slowRequestsAreListedSlowestFirstWithoutTheirValues() {
        let slow = SlowRequests()
        let query =
            #"where=%7B%22name%22%3A%22secret%22%7D&order=-year&predicate=a+%3D+%22secret%22+AND+b+%3E+4711"#
            + "&search=%7B%22secret%22%3A1%7D"
        for (milliseconds, path) in [(20, "/parse/classes/Book/secret"), (40, "/parse/classes/Book"), (3, "/fast")] {
            slow.note(
                method: "GET", path: path[...], query: query[...], status: 200,
                duration: .milliseconds(Int64(milliseconds)))
        }
        let results = slow.json["results"]?.array ?? []
        #expect(
            results.map { $0["target"]?.string } == [
                #"/parse/classes/Book?where={"name":"…"}&order=-year&predicate=a = … AND b > #&search=…"#,
                #"/parse/classes/Book/…?where={"name":"…"}&order=-year&predicate=a = … AND b > #&search=…"#,
            ])
        #expect(results.first?["milliseconds"] == .double(40))
    }

    @Test func theNumberOfSlowRequestsIsLimited() {
        let slow = SlowRequests()
        for number in 0..<(2 * SlowRequests.maximumCount) {
            slow.note(
                method: "GET", path: "/a", query: "", status: 200, duration: .milliseconds(Int64(10 + number)))
        }
        let times = slow.json["results"]?.array?.compactMap { $0["milliseconds"]?.number } ?? []
        #expect(times.count == SlowRequests.maximumCount)
        #expect(times.first == Double(9 + 2 * SlowRequests.maximumCount))
    }

    @Test func everyChangeIsLoggedWithItsAuthorAndWithoutItsValues() async throws {
        let folder = try ServerFolder()
        let path = folder.path("audit.jsonl")
        try await running(auditFile: path) { (server, _) async throws in
            let page = try await self.page(server)
            let batch: JSONValue = [
                "transaction": true,
                "requests": [["method": "POST", "path": "/classes/Book", "body": ["title": "secret"]]],
            ]
            let made = try await page.request("POST", "/parse/batch", batch)
            let id = try #require(try made.json.array?.first?["success"]?["objectId"]?.string)
            #expect(try await page.request("DELETE", "/parse/classes/Book/\(id)").status == 200)
            #expect(try await page.request("DELETE", "/parse/classes/Book/none").status == 404)
            let told = try await page.request("GET", "/audit").json["results"]?.array ?? []
            #expect(told.map { $0["status"]?.integer } == [404, 200, 200])
            #expect(told.last?["details"] == [.string("POST /classes/Book/\(id) (title)")])
            #expect(told.allSatisfy { $0["session"]?.string?.count == 8 })
        }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.split(separator: "\n").count == 3)
        #expect(text.contains("/parse/classes/Book/none"))
        #expect(!text.contains("secret"))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func theAuditsFileIsRotatedWhenItIsLarge() throws {
        let folder = try ServerFolder()
        let path = folder.path("audit.jsonl")
        let audit = AuditLog(path, maximumSize: 1000, logger: .init(label: "test"))
        for number in 0..<100 {
            audit.add(AuditLog.Entry(session: "s", peer: "p", action: "PUT /a/\(number)", status: 200))
        }
        let size = { try Data(contentsOf: URL(fileURLWithPath: $0)).count }
        #expect(try size(path) < 1200)
        #expect(try size(path + ".1") < 1200)
        #expect(try String(contentsOfFile: path, encoding: .utf8).contains("/a/99"))
    }

    @Test func anAuditThatBecomesAPipeDoesNotBlock() throws {
        let folder = try ServerFolder()
        let path = folder.path("audit.jsonl")
        #expect(mkfifo(path, 0o600) == 0)
        let audit = AuditLog(path, logger: .init(label: "test"))
        audit.add(AuditLog.Entry(session: "s", peer: "p", action: "PUT /a/1", status: 200))
        #expect(audit.json["results"]?.array?.count == 1)
    }
}
#endif
