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
                    "owner": ["type": "Pointer", "targetClass": "_User"], "editors": ["type": "Array"],
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

    /// Those of the two fields that a user sees.
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
    @Test(arguments: [false, true]) func theValueOfAHiddenFieldChangesNoReply(ownersGetIt: Bool) async throws {
        let genre = try await server.create("Genre", ["name": "g"])
        let owner = pointer("_User", sam.id)
        let id = try await server.create("Book", ["title": "a", "rank": 1, "owner": owner])
        let other = try await server.create(
            "Book", ["title": "b", "price": 5, "rank": 2, "notes": ["deep": 5], "owner": owner])
        let shelf = try await server.create("Shelf", ["best": pointer("Book", id), "list": [pointer("Book", id)]])
        let hidden: JSONObject = ["*": ["price", "notes", "genre"]]
        try await protect(ownersGetIt ? hidden.merging(["userField:owner": []]) : hidden)
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

    /// Of several lists that concern a caller and an object, a field must be in each.
    @Test func aFieldIsShownToUsersThatTheObjectPointsTo() async throws {
        func book(_ title: String, _ owner: TestServer.Person?, _ editors: [TestServer.Person]) async throws {
            var body: JSONObject = ["title": .string(title), "price": 1, "rank": 2]
            if let owner { body["owner"] = pointer("_User", owner.id) }
            body["editors"] = .array(editors.map { pointer("_User", $0.id) })
            _ = try await server.create("Book", .object(body))
        }
        for person in [mei, sam] {
            try await server.send("PUT", "/users/\(person.id)", ["ACL": acl(read: ["*"])])
        }
        try await book("a", mei, [])
        try await book("b", sam, [mei])
        try await book("c", nil, [sam])
        func shown(_ person: TestServer.Person?, _ field: String) async throws -> [String] {
            let reply = try await server.send(as: person, "GET", "/classes/Book?order=title")
            return reply.results.filter { $0[field] != nil }.compactMap { $0["title"]?.string }
        }
        try await protect(["*": ["price", "rank"], "userField:owner": ["rank"], "userField:editors": ["price"]])
        for (person, price, rank) in [(mei, ["a"], ["b"]), (sam, ["b"], ["c"]), (lee, [], []), (nil, [], [])]
            as [(TestServer.Person?, [String], [String])]
        {
            #expect(try await shown(person, "price") == price)
            #expect(try await shown(person, "rank") == rank)
        }
        // Conditions and orders only find shown values.
        for (person, titles) in [(mei, ["a"]), (sam, ["b"]), (lee, [])] {
            #expect(try await server.titles(as: person, "Book", "where=%7B%22price%22:1%7D") == titles)
            let count = try await server.send(
                as: person, "GET", "/classes/Book?count=1&limit=0&where=%7B%22price%22:%7B%22$exists%22:true%7D%7D")
            #expect(count["count"]?.integer == Int64(titles.count))
        }
        // The list of a pointer hides nothing that no other list hides, as in Parse's own server.
        try await protect(["userField:owner": ["price"]])
        for person in [mei, lee, nil] { #expect(try await shown(person, "price") == ["a", "b", "c"]) }
    }

    /// Also the pointer by which a field is shown may be hidden from all others.
    @Test func aPointerIsShownToItsTarget() async throws {
        for person in [mei, sam] {
            _ = try await server.create(
                "Book", ["title": .string(person.id), "price": 1, "owner": pointer("_User", person.id)])
        }
        try await protect(["*": ["owner", "price"], "userField:owner": []])
        for (person, other) in [(mei, sam), (sam, mei)] {
            let condition = "where=%7B%22owner%22:\(JSONWriter.text(pointer("_User", other.id)))%7D"
            #expect(try await server.titles(as: person, "Book", condition) == [])
            let books = try await server.send(as: person, "GET", "/classes/Book?order=-owner").results
            #expect(books.map { $0["owner"] != nil } == [true, false], "\(books)")
            #expect(books.map { $0["price"] != nil } == [true, false], "\(books)")
            #expect(books.first?["title"]?.string == person.id)
        }
    }

    @Test func deletionsCannotBePreviewedIfLinksAreHidden() async throws {
        let genre = try await server.create("Genre", ["name": "g"])
        _ = try await server.create("Book", ["genre": pointer("Genre", genre), "owner": pointer("_User", sam.id)])
        for lists in [["*": ["genre"]], ["*": ["genre"], "userField:owner": []]] as [JSONObject] {
            try await protect(lists)
            for (method, target) in [("GET", "?deletionPlan=1"), ("DELETE", "?dryRun=1")] {
                let reply = try await server.send(as: mei, method, "/classes/Genre/\(genre)\(target)")
                #expect(reply.code == 119, "\(reply.json)")
            }
        }
        try await protect(["*": ["price"]])
        let plan = try await server.send(as: mei, "GET", "/classes/Genre/\(genre)?deletionPlan=1")
        #expect(plan["unset"]?.array?.count == 1, "\(plan.json)")
    }

    @Test func partlyShownFieldsAreRevealedOnlyWhereShown() async throws {
        let own = try await server.create("Book", ["title": "a", "price": 1, "owner": pointer("_User", mei.id)])
        let other = try await server.create("Book", ["title": "b", "price": 1, "owner": pointer("_User", sam.id)])
        try await protect(["*": ["price"], "userField:owner": []])
        for (id, price) in [(own, 3), (other, nil)] as [(String, JSONValue?)] {
            let reply = try await server.send(
                as: mei, "PUT", "/classes/Book/\(id)", ["price": ["__op": "Increment", "amount": 2]])
            #expect(reply.status == 200 && reply["price"] == price, "\(reply.json)")
            #expect(try await server.get("Book", id)["price"] == 3)
        }
    }

    @Test func partlyShownPointersAreFollowedOnlyWhereShown() async throws {
        let genre = try await server.create("Genre", ["name": "g"])
        for (title, owner) in [("a", mei), ("b", sam)] {
            _ = try await server.create(
                "Book",
                ["title": .string(title), "genre": pointer("Genre", genre), "owner": pointer("_User", owner.id)])
        }
        try await protect(["*": ["genre"], "userField:owner": []])
        let books = try await server.send(as: mei, "GET", "/classes/Book?order=title&include=genre").results
        #expect(books.map { $0["genre"]?["name"] } == ["g", nil])
        #expect(try await server.titles(as: mei, "Book", "where=%7B%22genre.name%22:%22g%22%7D") == ["a"])
        #expect(
            try await server.titles(
                as: mei, "Book",
                "where=%7B%22$relatedTo%22:%7B%22object%22:%7B%22__type%22:%22Pointer%22,%22className%22:%22Genre%22,%22objectId%22:%22\(genre)%22%7D,%22key%22:%22books%22%7D%7D"
            ) == ["a"])
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
