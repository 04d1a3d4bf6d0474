import RelataParse
import TestEngines
import Testing

/// A description that takes something away and puts another in its place.
@Suite(.onEveryEngine) struct SchemaReplacementTests {
    private static let gone: JSONValue = ["__op": "Delete"]

    @Test func aGeoPointIsReplacedByAnother() async throws {
        let server = try TestServer()
        let point: JSONValue = ["__type": "GeoPoint", "latitude": 1, "longitude": 2]
        let id = try await server.create("Place", ["at": point, "name": "A"])
        let replaced = try await server.send(
            "PUT", "/schemas/Place", ["fields": ["at": Self.gone, "there": ["type": "GeoPoint"]]])
        #expect(replaced.status == 200, "\(replaced.json)")
        #expect(replaced["fields"]?["at"] == nil && replaced["fields"]?["there"]?["type"]?.string == "GeoPoint")
        #expect(try await server.send("PUT", "/classes/Place/\(id)", ["there": point]).status == 200)
        let found = try await server.get("Place", id)
        #expect(found["there"] == point && found["at"] == nil && found["name"] == "A")
        // One deleted GeoPoint makes room for one new one only.
        let two: JSONValue = ["fields": ["there": Self.gone, "b": ["type": "GeoPoint"], "c": ["type": "GeoPoint"]]]
        let refused = try await server.send("PUT", "/schemas/Place", two)
        #expect(refused.code == 111, "\(refused.json)")
        let beside = try await server.send("PUT", "/schemas/Place", ["fields": ["d": ["type": "GeoPoint"]]])
        #expect(beside.code == 111, "\(beside.json)")
        #expect(try await server.get("Place", id)["there"] == point)
    }

    @Test func aFieldIsDeletedWithAnIndexOnIt() async throws {
        let server = try TestServer()
        _ = try await server.create("Book", ["title": "A", "shelf": 1])
        let indexes: JSONValue = [
            "by_shelf": ["shelf": 1], "by_both": ["title": 1, "shelf": 1], "by_title": ["title": 1],
        ]
        #expect(try await server.send("PUT", "/schemas/Book", ["indexes": indexes]).status == 200)
        let reply = try await server.send(
            "PUT", "/schemas/Book", ["fields": ["shelf": Self.gone], "indexes": ["by_shelf": Self.gone]])
        #expect(reply.status == 200, "\(reply.json)")
        #expect(reply["indexes"]?["by_shelf"] == nil && reply["indexes"]?["by_both"] == nil, "\(reply.json)")
        #expect(reply["indexes"]?["by_title"] != nil)
        let missing = try await server.send("PUT", "/schemas/Book", ["indexes": ["by_shelf": Self.gone]])
        #expect(missing.code == 102, "\(missing.json)")
    }

    @Test func anIndexOnADeletedFieldIsRefused() async throws {
        let server = try TestServer()
        _ = try await server.create("Book", ["title": "A", "shelf": 1])
        let reply = try await server.send(
            "PUT", "/schemas/Book", ["fields": ["shelf": Self.gone], "indexes": ["by_shelf": ["shelf": 1]]])
        #expect(reply.code == 102, "\(reply.json)")
        // Nothing is changed, and a later description may give the name another type.
        #expect(try await server.send("GET", "/schemas/Book")["fields"]?["shelf"]?["type"]?.string == "Number")
        #expect(try await server.send("PUT", "/schemas/Book", ["fields": ["shelf": Self.gone]]).status == 200)
        let text = try await server.send("PUT", "/schemas/Book", ["fields": ["shelf": ["type": "String"]]])
        #expect(text["fields"]?["shelf"]?["type"]?.string == "String", "\(text.json)")
    }

    @Test func anIndexOfWordsIsReplacedByAnother() async throws {
        let server = try TestServer()
        _ = try await server.create("Book", ["title": "A whale", "text": "A captain"])
        let words: JSONValue = ["indexes": ["words": ["title": "text"]]]
        #expect(try await server.send("PUT", "/schemas/Book", words).status == 200)
        let reply = try await server.send(
            "PUT", "/schemas/Book", ["indexes": ["all": ["title": "text", "text": "text"], "words": Self.gone]])
        #expect(reply.status == 200, "\(reply.json)")
        let found = try await server.find(
            "Book", where: ["text": ["$text": ["$search": ["$term": "captain"]]]])
        #expect(found.count == 1)
    }
}
