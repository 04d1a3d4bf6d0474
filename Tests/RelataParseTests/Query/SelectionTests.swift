import Foundation
import RelataCore
import TestEngines
import Testing

@testable import RelataParse

/// The fields in a reply.
@Suite(.onEveryEngine) struct SelectionTests {
    private let server: TestServer
    private let book: String

    init() async throws {
        server = try TestServer()
        let author = try await server.create("Author", ["name": "le", "born": 1929])
        book = try await server.create(
            "Book",
            [
                "title": "A", "year": 1969, "author": pointer("Author", author), "people": [pointer("Author", author)],
                "info": ["k": 1],
            ])
    }

    private func shown(_ parameters: String) async throws -> JSONValue {
        try await server.get("Book", book, parameters)
    }

    private static let given: Set<String> = ["objectId", "createdAt", "updatedAt"]

    @Test(arguments: ["keys=", "keys=%20", "keys=,", "keys=%5B%5D"])
    func emptyKeysShowOnlyTheFieldsOfEveryObject(parameters: String) async throws {
        #expect(Set(try await shown(parameters).object.map { Array($0.keys) } ?? []) == Self.given)
        let found = try #require(try await server.find("Book", parameters).first)
        #expect(Set(found.object.map { Array($0.keys) } ?? []) == Self.given)
    }

    @Test func excludingAFieldOfAPointersObjectIncludesTheObject() async throws {
        let object = try await shown("excludeKeys=year,author.born")
        #expect(object["year"] == nil && object["title"] == "A")
        #expect(object["author"]?["name"] == "le" && object["author"]?["born"] == nil)
        #expect(object["author"]?["__type"] == "Object")
        #expect(object["people"]?.array?.first?["__type"] == "Pointer")
        #expect(try await shown("excludeKeys=author,author.born")["author"] == nil)
        #expect(try await shown("excludeKeys=info.k")["info"] == ["k": 1])
        #expect(try await shown("excludeKeys=nope.deeper") == shown(""))
    }

    @Test(arguments: ["include=*", "includeAll=true", "include=author,*"])
    func includedPointersAreShownRegardlessOfKeys(parameters: String) async throws {
        let object = try await shown("\(parameters)&keys=title")
        #expect(object["title"] == "A" && object["year"] == nil && object["info"] == nil)
        #expect(object["author"]?["born"] == 1929)
        #expect(object["people"]?.array?.first?["name"] == "le")
        let part = try await shown("\(parameters)&keys=title,author.name&excludeKeys=people")
        #expect(part["people"] == nil && part["author"]?["name"] == "le" && part["author"]?["born"] == nil)
    }

    @Test func ordersAcceptTheStoredNamesOfTheStamps() async throws {
        try await server.save("Note", ["n": 1], ["n": 2])
        for order in ["_created_at,n", "createdAt,n", "_updated_at,n"] {
            #expect(try await server.values(of: "n", "Note", [:], ["order": .string(order)]) == [1, 2], "\(order)")
        }
        #expect(try await server.values(of: "n", "Note", [:], ["order": "-_created_at,-n"]) == [2, 1])
        let inner: JSONValue = ["className": "Note", "order": "-_created_at", "limit": 1]
        #expect(try await server.values(of: "n", "Note", ["n": ["$select": ["key": "n", "query": inner]]]).count == 1)
        let error = try await server.error("Note", [:], ["order": "_other"])
        #expect(error.code == 105 && error.message == "Invalid field name: _other.")
        // In a condition, these names aren't accepted.
        #expect(try await server.error("Note", ["_created_at": 1]).code == 105)
    }

    @Test func explainShowsTheSQLAndItsPlan() async throws {
        let reply = try await server.send("GET", "/classes/Book?where=%7B%22title%22%3A%22A%22%7D&explain=true&count=1")
        let plan = try #require(reply.results.first, "\(reply.json)")
        #expect(reply.results.count == 1 && reply["count"] == nil)
        #expect(
            plan["sql"]?.string?.contains("\"title\" = \(TestEngine.current == .sqlite ? "?1" : "$1")") == true,
            "\(plan)")
        #expect(
            plan["plan"]?.array?.contains { $0["detail"]?.string?.uppercased().contains("SCAN") == true } == true,
            "\(plan)")
        for kind in ["queryPlanner", "executionStats"] {
            #expect(try await server.send("GET", "/classes/Book?explain=\(kind)").results.first?["sql"] != nil)
        }
        #expect(try await server.send("GET", "/classes/Book?explain=false").results.first?["title"] == "A")
        #expect(try await server.send("GET", "/classes/Nothing?explain=true").results.isEmpty)
        for parameters in ["distinct=title", "group=%7B%22objectId%22%3A%22%24title%22%7D", "count=%22n%22", "limit=1"]
        {
            let reply = try await server.send("GET", "/aggregate/Book?\(parameters)&explain=true")
            #expect(reply.results.first?["sql"]?.string?.hasPrefix("SELECT") == true, "\(parameters): \(reply.json)")
        }
        let bad = try await server.send("GET", "/classes/Book?explain=maybe")
        #expect(bad.code == 102 && bad["error"] == "Invalid value for explain")
        let open = try await server.send("GET", "/classes/Book?explain=true", isMaster: false)
        #expect(open.code == 102 && open["error"] == "Using the explain query parameter requires the master key")
        #expect(try await server.send("GET", "/classes/Book/\(book)?explain=true").code == 102)
    }

    @Test func aHintNamesAnIndex() async throws {
        let index: JSONValue = ["indexes": ["by_title": ["title": 1], "by_author": ["_p_author": 1]]]
        #expect(try await server.send("PUT", "/schemas/Book", index).status == 200)
        for hint: JSONValue in [
            "by_title", "_id_", ["title": 1], ["_id": 1], ["_p_author": 1], "{\"title\":1}", "", .null,
        ] {
            let found = try await server.find("Book", ["title": "A"], ["hint": hint])
            #expect(found.count == 1, "\(hint)")
        }
        for hint: JSONValue in ["by_year", ["year": 1], 5, ["title", "year"]] {
            #expect(try await server.error("Book", [:], ["hint": hint]).code == 102, "\(hint)")
        }
        #expect(try await server.find("Nothing", [:], ["hint": "by_year"]).isEmpty)
        #expect(try await server.send("GET", "/aggregate/Book?distinct=title&hint=by_title").results == ["A"])
        #expect(try await server.send("GET", "/aggregate/Book?distinct=title&hint=by_year").code == 102)
    }

    /// The first index in the plan of a query.
    private func used(_ target: String) async throws -> String? {
        let explained = try await server.send("GET", "\(target)\(target.contains("?") ? "&" : "?")explain=true")
        let details = explained.results.first?["plan"]?.array?.compactMap { $0["detail"]?.string } ?? []
        return details.first { $0.hasPrefix("SCAN") || $0.hasPrefix("SEARCH") }
    }

    private func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    @Test(.onSQLite) func aHintOverridesTheChoiceOfTheDatabase() async throws {
        let index: JSONValue = [
            "indexes": ["by_title": ["title": 1], "by_author": ["_p_author": 1], "by_both": ["year": 1, "title": -1]],
            "fields": ["year": ["type": "Number"]],
        ]
        #expect(try await server.send("PUT", "/schemas/Book", index).status == 200)
        for number in 0..<200 {
            _ = try await server.create("Book", ["title": .string("T\(number % 5)"), "year": .integer(Int64(number))])
        }
        let whole = "/classes/Book?order=year&where=" + encoded(#"{"title":"T1","year":{"$lt":50}}"#)
        let expected = try await server.send("GET", whole).results
        #expect(expected.count == 10)
        let hints = [
            ("by_title", "index_Book_title"), ("by_both", "index_Book_year_title"), ("_id_", "sqlite_autoindex_Book_1"),
            (#"{"_p_author":1}"#, "index_Book_author"),
        ]
        for (hint, name) in hints {
            let target = "\(whole)&hint=\(encoded(hint))"
            let step = try await used(target)
            #expect(step?.contains("INDEX \(name)") == true, "\(hint): \(step ?? "")")
            #expect(try await server.send("GET", target).results == expected, "\(hint)")
            let counted = try await server.send("GET", "\(target)&count=1&limit=0")
            #expect(counted.json["count"] == 10, "\(hint)")
            for request in [
                "distinct=title", "pipeline=" + encoded(#"[{"$match":{"title":"T1"}},{"$sort":{"year":1}}]"#),
            ] {
                let step = try await used("/aggregate/Book?\(request)&hint=\(encoded(hint))")
                #expect(step?.contains("INDEX \(name)") == true, "\(request) \(hint): \(step ?? "")")
            }
        }
        // All objects, by an index whose first field has no condition.
        #expect(try await used("/classes/Book?hint=by_title")?.contains("index_Book_title") == true)
        #expect(try await server.send("GET", "/classes/Book?hint=by_title&limit=1000").results.count == 201)
        #expect(try await used(whole)?.contains("sqlite_autoindex") == false)
    }

    @Test func aHintThatCannotBeFollowedIsRefused() async throws {
        #expect(try await server.send("PUT", "/schemas/Book", ["indexes": ["by_title": ["title": 1]]]).status == 200)
        let owner = try await server.create(
            "Shelf", ["books": ["__op": "AddRelation", "objects": [pointer("Book", book)]]])
        let related: JSONValue = ["$relatedTo": ["object": pointer("Shelf", owner), "key": "books"]]
        #expect(try await server.find("Book", related).count == 1)
        let refused = try await server.error("Book", related, ["hint": "by_title"])
        #expect(refused.code == 102 && refused.message.contains("found by their links"))
        // Another program has deleted the index.
        try server.store.pool.withWriter { try $0.execute("DROP INDEX \"index_Book_title\"") }
        #expect(try await server.error("Book", [:], ["hint": "by_title"]).code == 102)
    }

    @Test func aCommentIsForTheLog() async throws {
        var headers = ["x-parse-application-id": "app"]
        headers["x-parse-master-key"] = "master"
        func comment(_ query: String) async -> String? {
            await server.service.respond(
                to: WireRequest(method: "GET", path: "/classes/Book", query: query, headers: headers)
            ).comment
        }
        #expect(await comment("comment=slow%20page") == "slow page")
        #expect(await comment("comment=a%0D%0Ab%00c%1B%E2%80%A8d") == "a b c  d")
        #expect(await comment("limit=1") == nil)
        #expect(await comment("comment=\(String(repeating: "x", count: 1000))")?.count == 256)
        // A character can have any number of bytes.
        let accents = "x" + String(repeating: "%CC%81", count: 1000)
        #expect((await comment("comment=\(accents)")?.utf8.count ?? 0) < 600)
        #expect(try await server.error("Book", [:], ["comment": 5]).code == 102)
    }
}
