#if Server
import Foundation
import RelataParse
import ServerClient
import TestEngines
import Testing

@testable import RelataServer

/// The dashboard's exports and imports.
@Suite(.onEveryEngine) struct DashboardMoveTests: DashboardSuite {
    private func addBooks(_ page: DashboardPage) async throws {
        let genre = try await page.request("POST", "/parse/classes/Genre", ["name": "Fantasy"])
        let pointer: JSONValue = [
            "__type": "Pointer", "className": "Genre",
            "objectId": .string(try #require(try genre.json["objectId"]?.string)),
        ]
        for title in ["Mort", "Good Omens"] {
            let reply = try await page.request(
                "POST", "/parse/classes/Book", ["title": .string(title), "genre": pointer])
            #expect(reply.status == 201)
        }
    }

    private func ended(_ page: DashboardPage, _ id: String) async throws -> JSONValue {
        let end = ContinuousClock.now + .seconds(30)
        while true {
            let json = try await page.request("GET", "/transfers/\(id)").json
            if json["phase"] != "running" { return json }
            try #require(ContinuousClock.now < end, "\(json)")
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func exported(_ page: DashboardPage, _ options: JSONValue) async throws -> [String: [UInt8]] {
        let begun = try await page.request("POST", "/exports", options)
        #expect(begun.status == 201, "\(begun.text)")
        let id = try #require(try begun.json["id"]?.string)
        let done = try await ended(page, id)
        #expect(done["phase"] == "done", "\(done)")
        var files: [String: [UInt8]] = [:]
        for file in done["files"]?.array ?? [] {
            let name = try #require(file["name"]?.string)
            let size = Int(try #require(file["size"]?.integer))
            let whole = try await page.request("GET", "/transfers/\(id)/\(name)?offset=0")
            #expect(whole.text.utf8.count == size)
            let rest = try await page.request("GET", "/transfers/\(id)/\(name)?offset=10")
            #expect(rest.text == String(decoding: whole.text.utf8.dropFirst(10), as: UTF8.self))
            #expect(try await page.request("GET", "/transfers/\(id)/\(name)?offset=\(size + 1)").status == 409)
            files[name] = Array(whole.text.utf8)
        }
        #expect(try await page.request("DELETE", "/transfers/\(id)").status == 200)
        #expect(try await page.request("GET", "/transfers/\(id)").status == 404)
        return files
    }

    /// Uploads each file in two pieces.
    private func brought(_ page: DashboardPage, _ files: [String: [UInt8]]) async throws -> String {
        let described = files.map { name, bytes -> JSONValue in
            ["name": .string(name), "size": .integer(Int64(bytes.count))]
        }
        let begun = try await page.request("POST", "/imports", ["files": .array(described)])
        #expect(begun.status == 201, "\(begun.text)")
        let id = try #require(try begun.json["id"]?.string)
        for (name, bytes) in files {
            let half = bytes.count / 2
            let path = "/transfers/\(id)/\(name)?offset="
            #expect(try await page.send("PUT", path + "0", Array(bytes[..<half])).status == 200)
            #expect(try await page.request("POST", "/imports/\(id)/run", [:]).status == 409)
            // The same piece is sent again, as after a lost reply.
            let again = try await page.send("PUT", path + "0", Array(bytes[..<half]))
            if half > 0 {
                #expect(again.status == 409)
                #expect(try again.json["size"]?.integer == Int64(half))
            }
            #expect(try await page.send("PUT", path + "\(half)", Array(bytes[half...])).status == 200)
        }
        return id
    }

    private func titles(_ page: DashboardPage) async throws -> [String?] {
        let query = "order=title&include=genre"
        let results = try await page.request("GET", "/parse/classes/Book?" + query).json["results"]?.array ?? []
        return results.flatMap { [$0["title"]?.string, $0["genre"]?["name"]?.string] }
    }

    @Test(arguments: ["jsonl", "csv"]) func anExportIsImportedWithItsRelationships(format: String) async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            try await self.addBooks(page)
            let files = try await self.exported(page, ["format": .string(format)])
            #expect(files.keys.sorted() == (format == "csv" ? ["Book.csv", "Genre.csv"] : ["objects.jsonl"]))
            for name in ["Book", "Genre"] {
                #expect(try await page.request("DELETE", "/parse/purge/\(name)").status == 200)
            }
            let id = try await self.brought(page, files)
            #expect(try await page.request("POST", "/imports/\(id)/run", ["onConflict": "refuse"]).status == 200)
            let done = try await self.ended(page, id)
            #expect(done["phase"] == "done", "\(done)")
            #expect(try await self.titles(page) == ["Good Omens", "Fantasy", "Mort", "Fantasy"])
        }
    }

    @Test func badRowsAreListedWithTheirLinesAndNothingIsImported() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            try await self.addBooks(page)
            #expect(
                try await page.request("PUT", "/parse/schemas/Book", ["fields": ["year": ["type": "Number"]]]).status
                    == 200)
            let csv = "objectId,title,year\nb1,Dune,1965\nb2,Kindred,soon\n"
            let id = try await self.brought(page, ["Book.csv": Array(csv.utf8)])
            #expect(try await page.request("POST", "/imports/\(id)/run", [:]).status == 200)
            let done = try await self.ended(page, id)
            #expect(done["phase"] == "refused", "\(done)")
            #expect(done["report"]?["badRowCount"]?.integer ?? 0 >= 1)
            let row = try #require(done["badRows"]?.array?.first { $0["field"]?.string == "year" })
            #expect(row["file"] == "Book.csv")
            #expect(row["line"] == 3)
            #expect(row["reason"]?.string?.contains("soon") == true)
            #expect(try await self.titles(page).count == 4)
        }
    }

    @Test func aDryRunImportsNothingAndTheFilesStayForTheImport() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            try await self.addBooks(page)
            let files = try await self.exported(page, ["classes": ["Genre"]])
            #expect(try await page.request("DELETE", "/parse/purge/Book").status == 200)
            #expect(try await page.request("DELETE", "/parse/purge/Genre").status == 200)
            let id = try await self.brought(page, files)
            for (options, count) in [(["isDryRun": true], 0), ([:], 1)] as [(JSONValue, Int64)] {
                #expect(try await page.request("POST", "/imports/\(id)/run", options).status == 200)
                #expect(try await self.ended(page, id)["phase"] == "done")
                let counted = try await page.request("GET", "/parse/classes/Genre?count=1&limit=0")
                #expect(try counted.json["count"]?.integer == count)
            }
            #expect(try await page.request("POST", "/imports/\(id)/run", [:]).status == 409)
        }
    }

    @Test func invalidAndTooLargeFilesAreRefused() async throws {
        try await running(maximumImport: 1000) { (server, _) async throws in
            let page = try await self.page(server)
            for name in ["", "../Book.csv", "a/Book.csv", ".csv", "Book.sqlite", "Book", "a\\b.csv", "a\nb.csv"] {
                let files: JSONValue = ["files": [["name": .string(name), "size": 1]]]
                #expect(try await page.request("POST", "/imports", files).status == 400, "\(name)")
            }
            for files in [
                [], [["name": "A.csv"]], [["name": "A.csv", "size": 1001]], [["name": "A.csv", "size": -1]],
                [["name": "A.csv", "size": 1], ["name": "A.csv", "size": 1]],
            ] as [JSONValue] {
                #expect(try await page.request("POST", "/imports", ["files": files]).status == 400, "\(files)")
            }
            let two: JSONValue = [["name": "A.csv", "size": 600], ["name": "B.csv", "size": 600]]
            #expect(try await page.request("POST", "/imports", ["files": two]).status == 413)
            let begun = try await page.request("POST", "/imports", ["files": [["name": "A.csv", "size": 3]]])
            let id = try #require(try begun.json["id"]?.string)
            #expect(try await page.send("PUT", "/transfers/\(id)/A.csv?offset=0", [65, 66, 67, 68]).status == 413)
            #expect(try await page.send("PUT", "/transfers/\(id)/B.csv?offset=0", [65]).status == 404)
            #expect(try await page.send("PUT", "/transfers/\(id)/A.csv", [65]).status == 400)
            #expect(try await page.request("GET", "/transfers/\(id)/A.csv?offset=0").status == 409)
            for _ in 1..<8 {
                _ = try await page.request("POST", "/imports", ["files": [["name": "A.csv", "size": 3]]])
            }
            let many = try await page.request("POST", "/imports", ["files": [["name": "A.csv", "size": 3]]])
            #expect(many.status == 503)
        }
    }

    @Test func aReadOnlyDashboardExportsAndImportsNothing() async throws {
        try await running(isReadOnly: true) { (server, _) async throws in
            let page = try await self.page(server)
            #expect(
                try await page.request("POST", "/imports", ["files": [["name": "A.csv", "size": 3]]]).status == 403)
            #expect(try await page.request("POST", "/exports", [:]).status == 201)
        }
    }

    @Test func otherCallersCannotExportOrImport() async throws {
        try await running { (server, _) async throws in
            let page = try await self.page(server)
            for (method, path) in [("POST", "/exports"), ("POST", "/imports"), ("GET", "/transfers/x")] {
                #expect(try await server.request(method, "/dashboard/api" + path).status == 401)
                #expect(
                    try await server.request(method, "/dashboard/api" + path, headers: ["Cookie": page.cookie]).status
                        == 403)
            }
        }
    }
}
#endif
