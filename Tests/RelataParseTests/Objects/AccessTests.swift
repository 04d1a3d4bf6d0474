import RelataCore
import RelataParse
import TestEngines
import Testing

/// Requests of a caller who doesn't see all objects.
@Suite(.onEveryEngine) struct AccessTests {
    private let all: TestServer
    private let seen: TestServer
    private let ids: [String]
    private let artist: String

    init() async throws {
        all = try TestServer()
        artist = try await all.create("Artist", ["name": "Miles"])
        ids = try await all.save(
            "Album", ["title": "Seen", "isOpen": true, "artist": pointer("Artist", artist)],
            ["title": "Hidden", "isOpen": false, "artist": pointer("Artist", artist)])
        try await all.send(
            "PUT", "/classes/Artist/\(artist)",
            [
                "best": pointer("Album", ids[1]),
                "albums": adding(pointer("Album", ids[0]), pointer("Album", ids[1])),
            ])
        let condition = ExpressionNode.comparison(
            .equal, .property(scope: 0, path: ["isOpen"]), .value(.integer(1)), [])
        let access = try Access(["Album": condition], in: all.store.records.currentClasses.schema)
        seen = TestServer(all.store.acting(under: access))
    }

    @Test func aHiddenObjectIsFoundByNoRequest() async throws {
        #expect(try await seen.find("Album").map { $0["title"]?.string } == ["Seen"])
        #expect(try await seen.find("Album", where: ["title": "Hidden"]) == [])
        let count = try await seen.send("GET", "/classes/Album?count=1&limit=0")
        #expect(count["count"] == 1)
        #expect(try await seen.send("GET", "/classes/Album/\(ids[1])").status == 404)
        #expect(try await seen.send("GET", "/classes/Album/\(ids[0])").status == 200)
        let related: JSONValue = ["$relatedTo": ["object": pointer("Artist", artist), "key": "albums"]]
        #expect(try await seen.find("Album", where: related).count == 1)
        #expect(try await all.find("Album", where: related).count == 2)
        let matching: JSONValue = ["best": ["$inQuery": ["className": "Album", "where": ["title": "Hidden"]]]]
        #expect(try await seen.find("Artist", where: matching) == [])
        #expect(try await all.find("Artist", where: matching).count == 1)
        let included = try await seen.get("Artist", artist, "include=best")
        #expect(included["best"]?["title"] == nil)
    }

    @Test func aHiddenObjectCantBeChangedOrDeleted() async throws {
        let change = try await seen.send("PUT", "/classes/Album/\(ids[1])", ["title": "Changed"])
        #expect(change["code"] == 101, "\(change.json)")
        let deletion = try await seen.send("DELETE", "/classes/Album/\(ids[1])")
        #expect(deletion["code"] == 101, "\(deletion.json)")
        #expect(try await all.get("Album", ids[1])["title"] == "Hidden")
        #expect(try await seen.send("PUT", "/classes/Album/\(ids[0])", ["title": "Changed"]).status == 200)
        #expect(try await all.get("Album", ids[0])["title"] == "Changed")
    }

    @Test func figuresExcludeHiddenObjects() async throws {
        let pipeline = "%5B%7B%22%24group%22%3A%7B%22_id%22%3Anull%2C%22n%22%3A%7B%22%24sum%22%3A1%7D%7D%7D%5D"
        let figures = try await seen.send("GET", "/aggregate/Album?pipeline=\(pipeline)")
        #expect(figures["results"]?.array?.first?["n"] == 1, "\(figures.json)")
        let titles = try await seen.send("GET", "/aggregate/Album?distinct=title")
        #expect(titles["results"] == ["Seen"], "\(titles.json)")
    }
}
