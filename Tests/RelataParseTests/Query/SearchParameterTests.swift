import Foundation
import RelataParse
import TestEngines
import Testing

/// A query's parameter `search`, for pages whose users may do everything.
@Suite(.onEveryEngine) struct SearchParameterTests {
    /// Songs with a text index. Those that have nothing to do with the moon make its name a rare word.
    private func server() async throws -> TestServer {
        let server = try TestServer()
        try await server.save(
            "Song",
            [
                "title": "Waiting", "year": 1999,
                "lyrics": "I wait for love under a sky that has neither a sun nor a moon nor any star at all",
            ],
            ["title": "Rain", "year": 1980, "lyrics": "It rains"], ["title": "Snow", "year": 1981],
            ["title": "Fog", "year": 1982], ["title": "Blue moon", "year": 1934, "lyrics": "moon"])
        let index: JSONValue = ["indexes": ["words": ["title": "text", "lyrics": "text"]]]
        let reply = try await server.send("PUT", "/schemas/Song", index)
        #expect(reply.status == 200, "\(reply.json)")
        return server
    }

    private func parameter(_ text: String) throws -> String {
        "search=" + (try #require(text.addingPercentEncoding(withAllowedCharacters: .alphanumerics)))
    }

    private func titles(
        _ server: TestServer, _ search: String, where condition: JSONValue = [:], _ more: String = ""
    ) async throws -> [String] {
        try await server.find("Song", where: condition, "\(try parameter(search))&\(more)")
            .compactMap { $0["title"]?.string }
    }

    @Test func theBestMatchesComeFirst() async throws {
        let server = try await server()
        #expect(try await titles(server, "moon") == ["Blue moon", "Waiting"])
        #expect(try await titles(server, "MOON wait*") == ["Waiting"])
        #expect(try await titles(server, "moon -love") == ["Blue moon"])
        #expect(try await titles(server, "rain OR snow", "order=title") == ["Rain", "Snow"])
        #expect(try await titles(server, "") == ["Waiting", "Rain", "Snow", "Fog", "Blue moon"])
        #expect(try await titles(server, "( \"") == [])
    }

    @Test func aSearchHasConditionsOrdersAndPages() async throws {
        let server = try await server()
        #expect(try await titles(server, "moon", where: ["year": ["$gt": 1950]]) == ["Waiting"])
        #expect(try await titles(server, "moon", "predicate=year%20%3C%201950") == ["Blue moon"])
        #expect(try await titles(server, "moon", "order=-year") == ["Waiting", "Blue moon"])
        #expect(try await titles(server, "moon", "order=$score") == ["Blue moon", "Waiting"])
        #expect(try await titles(server, "moon", "limit=1") == ["Blue moon"])
        #expect(try await titles(server, "moon", "limit=1&skip=1") == ["Waiting"])
        let counted = try await server.send("GET", "/classes/Song?limit=0&count=1&search=moon")
        #expect(counted["count"] == 2)
        let scores = try await server.find("Song", where: [:], "search=moon&keys=title,$score").compactMap {
            $0["score"]?.number
        }
        #expect(scores.count == 2 && scores[0] > scores[1] && scores[1] > 0, "\(scores)")
    }

    @Test func theObjectsOfARelationAreSearched() async throws {
        let server = try await server()
        let ids = try await server.find("Song", where: ["year": ["$gt": 1950]]).compactMap { $0["objectId"]?.string }
        let album = try await server.create(
            "Album", ["songs": adding(pointer("Song", ids[0]), pointer("Song", ids[1]))])
        let related: JSONValue = ["$relatedTo": ["object": pointer("Album", album), "key": "songs"]]
        #expect(try await titles(server, "moon", where: related) == ["Waiting"])
    }

    @Test func aClassWithoutATextIndexHasNoSearch() async throws {
        let server = try await server()
        try await server.save("Book", ["title": "Moon"])
        for className in ["Book", "Nothing"] {
            let reply = try await server.send("GET", "/classes/\(className)?search=moon")
            #expect(reply.status == 400 && reply.code == 102, "\(reply.json)")
            #expect(reply["error"]?.string?.contains("text index") == true, "\(reply.json)")
        }
        let inspected = await server.service.inspection("/classes", query: "") { Issue.record($0) }
        let classes = try JSONParser.parse(try #require(inspected).body)["results"]?.array ?? []
        let searches = classes.reduce(into: [:]) { $0[$1["className"]?.string ?? ""] = $1["search"] }
        #expect(searches["Song"]?.array?.count == 2 && searches["Book"] == nil, "\(searches)")
    }

    @Test func searchesNeedTheMasterKey() async throws {
        let server = try await server()
        let reply = try await server.send("GET", "/classes/Song?search=moon", isMaster: false)
        #expect(reply.code == 102)
    }
}
