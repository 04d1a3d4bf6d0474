import Foundation
import RelataParse
import TestEngines
import Testing

/// A query's parameter `predicate`, for pages whose users may do everything.
@Suite(.onEveryEngine) struct PredicateParameterTests {
    private func server() async throws -> TestServer {
        let server = try TestServer()
        let genre = try await server.create("Genre", ["name": "Fantasy"])
        let pointer: JSONValue = ["__type": "Pointer", "className": "Genre", "objectId": .string(genre)]
        _ = try await server.create("Book", ["title": "Mort", "year": 1987, "genre": pointer])
        _ = try await server.create("Book", ["title": "Good Omens", "year": 1990, "genre": pointer])
        _ = try await server.create("Book", ["title": "Dune", "year": 1965])
        return server
    }

    private func titles(_ server: TestServer, where condition: JSONValue = [:], _ predicate: String) async throws
        -> [String]
    {
        let text = try #require(predicate.addingPercentEncoding(withAllowedCharacters: .alphanumerics))
        return try await server.find("Book", where: condition, "order=title&predicate=\(text)")
            .compactMap { $0["title"]?.string }
    }

    @Test func aPredicateFindsObjectsThroughTheirRelationships() async throws {
        let server = try await server()
        #expect(try await titles(server, "genre.name == 'Fantasy'") == ["Good Omens", "Mort"])
        #expect(try await titles(server, "title CONTAINS[c] 'd'") == ["Dune", "Good Omens"])
        #expect(try await titles(server, "") == ["Dune", "Good Omens", "Mort"])
    }

    @Test func aLongPredicateIsRefused() async throws {
        let server = try await server()
        let body: JSONValue = [
            "_method": "GET", "predicate": .string((0..<20_000).map { "year = \($0)" }.joined(separator: " OR ")),
        ]
        let reply = try await server.send("POST", "/classes/Book", body)
        #expect(reply.status == 400 && reply.code == 102, "\(reply.json)")
    }

    @Test func bothConditionsMustBeMet() async throws {
        let server = try await server()
        #expect(try await titles(server, where: ["year": ["$gt": 1987]], "genre.name == 'Fantasy'") == ["Good Omens"])
    }

    @Test func theKeyIsCalledObjectID() async throws {
        let server = try await server()
        let id = try #require(try await server.find("Book", where: ["title": "Dune"]).first?["objectId"]?.string)
        #expect(try await titles(server, "objectId == '\(id)'") == ["Dune"])
    }

    @Test func countsFollowThePredicate() async throws {
        let server = try await server()
        let reply = try await server.send("GET", "/classes/Book?limit=0&count=1&predicate=year%20%3E%201970")
        #expect(reply["count"] == 2)
    }

    @Test func anErrorNamesItsColumn() async throws {
        let server = try await server()
        let reply = try await server.send("GET", "/classes/Book?predicate=title%20%3D%20%3D%203")
        #expect(reply.status == 400)
        #expect(reply.code == 102)
        #expect(reply["error"]?.string?.contains("at column 9 of") == true, "\(reply.json)")
        let unknown = try await server.send("GET", "/classes/Book?predicate=pages%20%3D%203")
        #expect(unknown.code == 102)
        let other = try await server.send("GET", "/classes/Nothing?predicate=title%20%3D%20%3D%203")
        #expect(other.code == 102)
    }

    @Test func predicatesNeedTheMasterKey() async throws {
        let server = try await server()
        let reply = try await server.send("GET", "/classes/Book?predicate=year%20%3E%201970", isMaster: false)
        #expect(reply.code == 102)
    }
}
