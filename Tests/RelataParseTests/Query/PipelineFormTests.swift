import Foundation
import TestEngines
import Testing

@testable import RelataParse

/// The forms of pipelines: a list, an object, and parameters of a URL.
@Suite(.onEveryEngine) struct PipelineFormTests {
    let server: TestServer

    init() async throws {
        server = try TestServer()
        for (name, kind, score) in [("a", "x", 3), ("b", "x", 1), ("c", "y", 2), ("d", "y", 4)] {
            try await server.save(
                "Game", ["name": .string(name), "kind": .string(kind), "score": .integer(Int64(score))])
        }
    }

    /// The results of a request with these parameters in its URL.
    private func get(_ parameters: (String, String)...) async throws -> [JSONValue] {
        let query = parameters.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        }
        let reply = try await server.send("GET", "/aggregate/Game?\(query.joined(separator: "&"))")
        return try #require(reply["results"]?.array, "\(reply.json)")
    }

    /// The results of a request whose body is this text.
    private func post(_ text: String) async throws -> [JSONValue] {
        var body = try #require(try JSONParser.parse(text).object)
        body["_method"] = "GET"
        let reply = try await server.send("POST", "/aggregate/Game", .object(body))
        return try #require(reply["results"]?.array, "\(reply.json)")
    }

    @Test func stagesAreParametersOfAURL() async throws {
        #expect(
            try await get(("group", #"{"objectId":null,"total":{"$sum":"$score"}}"#)) == [
                ["objectId": .null, "total": 10]
            ])
        #expect(
            try await get(
                ("match", #"{"kind":"x"}"#), ("sort", #"{"score":1}"#), ("project", #"{"name":1,"objectId":0}"#))
                == [["name": "b"], ["name": "a"]])
        #expect(
            try await get(("sort", #"{"score":-1}"#), ("skip", "1"), ("limit", "2")).map { $0["name"] } == ["a", "c"])
        #expect(try await get(("match", #"{"kind":"x"}"#), ("count", "games")) == [["games": 2]])
        #expect(try await get(("distinct", "kind"), ("limit", "1")) == ["x", "y"])
    }

    @Test func stagesInAnObjectRunInTheirOrder() async throws {
        #expect(
            try await post(#"{"match":{"score":{"$gt":1}},"group":{"objectId":null,"total":{"$sum":"$score"}}}"#)
                == [["objectId": .null, "total": 9]])
        #expect(try await post(#"{"sort":{"score":-1},"limit":1}"#).map { $0["name"] } == ["d"])
        #expect(try await post(#"{"sort":{"score":1},"skip":1,"limit":2}"#).map { $0["name"] } == ["c", "a"])
        #expect(try await post(#"{"sort":{"score":1},"limit":2,"skip":1}"#).map { $0["name"] } == ["c"])
        #expect(
            try await post(
                #"{"pipeline":{"$match":{"score":{"$gt":1}},"$group":{"objectId":null,"total":{"$sum":"$score"}}}}"#)
                == [["objectId": .null, "total": 9]])
    }

    @Test func severalFieldsAreSortedByInTheirOrder() async throws {
        #expect(
            try await post(#"{"pipeline":[{"$sort":{"kind":-1,"score":1}}]}"#).map { $0["name"] } == [
                "c", "d", "b", "a",
            ])
        #expect(
            try await post(#"{"pipeline":[{"$sort":{"score":-1,"kind":1}}]}"#).map { $0["name"] } == [
                "d", "a", "c", "b",
            ])
        // The order is the same when sorted in memory.
        #expect(
            try await post(
                #"{"pipeline":[{"$addFields":{"k":"$kind"}},{"$sort":{"k":-1,"score":1}},{"$project":{"name":1}}]}"#
            ).map { $0["name"] } == ["c", "d", "b", "a"])
    }

    @Test(arguments: ["{}", "[]", "\"\"", "null"])
    func allDocumentsAreOneGroup(id: String) async throws {
        #expect(
            try await post(#"{"pipeline":[{"$group":{"objectId":\#(id),"n":{"$sum":1}}}]}"#) == [
                ["objectId": .null, "n": 4]
            ])
    }
}
