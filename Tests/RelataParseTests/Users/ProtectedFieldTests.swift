import Foundation
import RelataParse
import TestEngines
import Testing

/// Fields that are hidden from some of the callers who see an object.
@Suite(.onEveryEngine) struct ProtectedFieldTests {
    private let server: TestServer
    private let mei, sam, lee: TestServer.Person

    init() async throws {
        (server, mei, sam) = try await TestServer.withTwoUsers()
        lee = try await server.signUp("lee")
        try await server.makeRole("Editors", users: [lee])
        try await server.makeRole("Staff", users: [mei])
        try await server.send("POST", "/schemas/Genre", ["fields": ["name": ["type": "String"]]])
        try await server.send(
            "POST", "/schemas/Book",
            [
                "fields": [
                    "title": ["type": "String"], "price": ["type": "Number"], "rank": ["type": "Number"],
                    "notes": ["type": "Object"], "genre": ["type": "Pointer", "targetClass": "Genre"],
                ]
            ])
        try await server.send(
            "PUT", "/schemas/Genre",
            ["fields": ["books": ["type": "Relation", "targetClass": "Book", "inverse": "genre"]]])
    }

    private func protect(_ fields: JSONObject, _ className: String = "Book") async throws {
        try await server.allow(["protectedFields": .object(fields)], in: className)
    }

    /// Which of the two fields a user sees.
    private func seen(_ person: TestServer.Person?) async throws -> Set<String> {
        let reply = try await server.send(as: person, "GET", "/classes/Book")
        let names = reply.results.first?.object?.keys.map(\.self) ?? []
        return Set(names).intersection(["price", "rank"])
    }

    @Test func aFieldIsHiddenIfEveryApplicableListContainsIt() async throws {
        _ = try await server.create("Book", ["title": "a", "price": 1, "rank": 2])
        #expect(try await seen(nil) == ["price", "rank"])
        try await protect(["*": ["price"]])
        for person in [mei, sam, lee, nil] { #expect(try await seen(person) == ["rank"]) }
        try await protect(["*": ["price", "rank"], "authenticated": ["price"], "role:Editors": []])
        #expect(try await seen(nil) == [])
        #expect(try await seen(sam) == ["rank"])
        #expect(try await seen(lee) == ["price", "rank"])
        try await protect(JSONObject([("role:Staff", .array(["price"])), (sam.id, .array(["rank"]))]))
        #expect(try await seen(nil) == ["price", "rank"])
        #expect(try await seen(mei) == ["rank"])
        #expect(try await seen(sam) == ["price"])
        #expect(try await server.send("GET", "/classes/Book").results.first?["price"] == 1)
    }

    /// The value of a hidden field changes no byte of any reply to callers who don't see the field.
    @Test func theValueOfAHiddenFieldChangesNoReply() async throws {
        let genre = try await server.create("Genre", ["name": "g"])
        let id = try await server.create("Book", ["title": "a", "rank": 1])
        let other = try await server.create("Book", ["title": "b", "price": 5, "rank": 2, "notes": ["deep": 5]])
        let shelf = try await server.create("Shelf", ["best": pointer("Book", id), "list": [pointer("Book", id)]])
        try await protect(["*": ["price", "notes", "genre"]])
        func escaped(_ condition: JSONValue) -> String {
            JSONWriter.text(condition).addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        }
        let conditions: [(String, JSONValue)] = [
            ("Book", ["price": 7]), ("Book", ["price": ["$gt": 3]]), ("Book", ["price": ["$exists": true]]),
            ("Book", ["notes.deep": 7]), ("Book", ["genre": pointer("Genre", genre)]), ("Book", ["genre.name": "g"]),
            ("Book", ["$or": [["price": 7], ["title": "b"]]]), ("Book", ["price": ["$ne": 7]]),
            ("Shelf", ["best.price": 7]),
            ("Shelf", ["best": ["$inQuery": ["className": "Book", "where": ["price": 7]]]]),
            ("Book", ["rank": ["$select": ["key": "price", "query": ["className": "Book", "where": [:]]]]]),
            ("Genre", ["books.title": "a"]), ("Genre", ["books": pointer("Book", id)]),
            ("Book", ["$relatedTo": ["object": pointer("Genre", genre), "key": "books"]]),
        ]
        let targets =
            [
                "/classes/Book", "/classes/Book/\(id)", "/classes/Book?order=price", "/classes/Book?order=-price,title",
                "/classes/Book?keys=price,title", "/classes/Book?include=genre", "/classes/Book?order=genre.name",
                "/classes/Shelf?include=best,list&order=best.price", "/classes/Genre?include=*",
                "/classes/Book?order=notes.deep",
            ] + conditions.map { "/classes/\($0.0)?count=1&where=\(escaped($0.1))" }
        let stamp = try Regex(#""updatedAt":"[^"]*""#)
        func replies() async throws -> [String] {
            var replies: [String] = []
            for person in [mei, nil] {
                for target in targets {
                    let reply = try await server.send(as: person, "GET", target)
                    #expect(reply.status < 500, "\(target): \(reply.json)")
                    let text = JSONWriter.text(reply.json).replacing(stamp, with: "")
                    replies.append("\(target) \(text)")
                }
            }
            return replies
        }
        let before = try await replies()
        let changed = try await server.send(
            "PUT", "/classes/Book/\(id)", ["price": 7, "notes": ["deep": 7], "genre": pointer("Genre", genre)])
        #expect(changed.status == 200, "\(changed.json)")
        let after = try await replies()
        for (old, new) in zip(before, after) { #expect(old == new) }
        // Callers who see the field do get it in these replies.
        let told = try await server.send("GET", "/classes/Book?where=\(escaped(["price": 7]))")
        #expect(told.results.count == 1 && other != id && !shelf.isEmpty)
    }

    /// As in Parse Server, a caller who may change an object can also write fields that it can't read.
    @Test func aHiddenFieldCanBeWrittenAndIsNotInTheReply() async throws {
        try await protect(["*": ["price", "notes"]])
        let made = try await server.send(
            as: mei, "POST", "/classes/Book", ["title": "a", "price": 3, "notes": ["a": 1]])
        let id = try #require(made["objectId"]?.string, "\(made.json)")
        let changed = try await server.send(
            as: mei, "PUT", "/classes/Book/\(id)",
            ["price": ["__op": "Increment", "amount": 2], "rank": ["__op": "Increment", "amount": 2], "notes.b": 2])
        #expect(changed["price"] == nil && changed["notes"] == nil && changed["rank"] == 2, "\(changed.json)")
        let stored = try await server.get("Book", id)
        #expect(stored["price"] == 5 && stored["notes"] == ["a": 1, "b": 2], "\(stored)")
        // The field's type is known, so the class gets no new field.
        let wrong = try await server.send(as: mei, "PUT", "/classes/Book/\(id)", ["price": "x"])
        #expect(wrong.code == 111, "\(wrong.json)")
    }

    @Test func aUserGetsItsOwnHiddenFields() async throws {
        try await server.send("PUT", "/users/\(mei.id)", ["phone": "123", "ACL": acl(read: ["*"])])
        try await protect(["*": ["phone"]], "_User")
        #expect(try await server.send(as: mei, "GET", "/users/me")["phone"] == "123")
        let other = try await server.send(as: sam, "GET", "/users/\(mei.id)")
        #expect(other["username"] == "mei" && other["phone"] == nil, "\(other.json)")
        let found = try await server.send(as: sam, "GET", "/users?where=%7B%22phone%22%3A%22123%22%7D")
        #expect(found.results == [], "\(found.json)")
        #expect(try await server.send(as: mei, "PUT", "/users/\(mei.id)", ["phone": "456"]).status == 200)
        #expect(try await server.send(as: mei, "GET", "/users/me")["phone"] == "456")
    }
}
