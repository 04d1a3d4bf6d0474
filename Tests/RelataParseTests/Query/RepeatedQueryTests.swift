import Foundation
import RelataParse
import TestEngines
import Testing

/// Cached queries must not change any result.
@Suite(.onEveryEngine) struct RepeatedQueryTests {
    @Test func aRepeatedQueryShowsFieldsThatWereAddedSince() async throws {
        let server = try TestServer()
        let id = try await server.create("Book", ["title": "Kindred"])
        for _ in 0..<2 {
            #expect(try await server.get("Book", id)["year"] == nil)
            #expect(try await server.find("Book").first?["year"] == nil)
        }
        try await server.send("PUT", "/classes/Book/\(id)", ["year": 1979])
        #expect(try await server.get("Book", id)["year"] == 1979)
        #expect(try await server.find("Book").first?["year"] == 1979)
        try await server.send("PUT", "/schemas/Book", ["className": "Book", "fields": ["year": ["__op": "Delete"]]])
        #expect(try await server.get("Book", id)["year"] == nil)
        #expect(try await server.get("Book", id)["title"] == "Kindred")
    }

    @Test func aRepeatedSelectionShowsEachObjectsOwnFields() async throws {
        var options = ParseService.Options()
        options.allowsCustomObjectIDs = true
        let server = try TestServer(options: options)
        // Swift considers the second and the third equal, but they are different ids.
        let ids = ["plain", "caf\u{E9}", "cafe\u{301}"]
        for id in ids {
            _ = try await server.create(
                "Book", ["objectId": .string(id), "title": .string("title of \(id.utf8.count)")])
        }
        for _ in 0..<2 {
            for id in ids {
                let path = try #require(id.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
                let book = try await server.get("Book", path, "keys=title")
                #expect(book["title"] == .string("title of \(id.utf8.count)"))
                #expect(book["objectId"]?.string.map { Array($0.utf8) } == Array(id.utf8))
            }
        }
        #expect(try await server.send("GET", "/classes/Book/missing?keys=title").code == 101)
    }

    @Test func repeatedPagesOfAListAreDifferent() async throws {
        let server = try TestServer()
        for number in 0..<4 { _ = try await server.create("Book", ["number": .integer(Int64(number))]) }
        for _ in 0..<2 {
            for page in 0..<4 {
                let found = try await server.find("Book", "order=number&limit=1&skip=\(page)")
                #expect(found.map { $0["number"] } == [.integer(Int64(page))])
            }
        }
    }

    @Test func newObjectsOfABatchNeedOneStatementAndFailSeparately() async throws {
        let log = SQLStatements()
        let server = try TestServer(trace: log)
        let author = try await server.create("Author", ["name": "Butler"])
        _ = try await server.create("Book", ["title": "Wild Seed", "author": pointer(author)])
        func request(_ title: String, _ author: String) -> JSONValue {
            [
                "method": "POST", "path": "/parse/classes/Book",
                "body": ["title": .string(title), "author": pointer(author)],
            ]
        }
        log.removeAll()
        let good = try await server.send(
            "POST", "/batch", ["requests": .array((0..<5).map { request("\($0)", author) })])
        #expect(good.json.array?.compactMap { $0["success"]?["objectId"] }.count == 5)
        // Begin (on a server, with the next statement), the schema's number, the objects in a savepoint, commit.
        #expect(log.all.count == (TestEngine.current == .sqlite ? 6 : 5), "\(log.all)")
        let mixed = try await server.send(
            "POST", "/batch", ["requests": [request("a", author), request("b", "nobody"), request("c", author)]])
        #expect(mixed.json.array?.map { $0["error"]?["code"] } == [nil, 101, nil])
        let titles = try await server.find("Book", "order=title").compactMap { $0["title"]?.string }
        #expect(titles == ["0", "1", "2", "3", "4", "Wild Seed", "a", "c"])
    }

    private func pointer(_ id: String) -> JSONValue {
        ["__type": "Pointer", "className": "Author", "objectId": .string(id)]
    }
}
