import RelataParse
import TestEngines
import Testing

/// Queries through pointers and relations, and subqueries.
@Suite(.onEveryEngine) struct PointerQueryTests {
    let server: TestServer
    let log: SQLStatements
    /// Genres by name: sf and essay.
    let genres: [String]
    /// Authors by name: le, mi and zo.
    let authors: [String]
    /// Books by name: a, b, c and d.
    let books: [String]

    init() async throws {
        log = SQLStatements()
        server = try TestServer(trace: log)
        let countries = try await server.save("Country", ["name": "us"], ["name": "uk"])
        genres = try await server.save("Genre", ["name": "sf", "rank": 1], ["name": "essay", "rank": 2])
        authors = try await server.save(
            "Author", ["name": "le", "country": pointer("Country", countries[0]), "tags": ["wise"]],
            ["name": "mi", "country": pointer("Country", countries[1])], ["name": "zo"])
        books = try await server.save(
            "Book",
            ["name": "a", "genre": pointer("Genre", genres[0]), "authors": adding(pointer("Author", authors[0]))],
            [
                "name": "b", "genre": pointer("Genre", genres[1]),
                "authors": adding(pointer("Author", authors[1]), pointer("Author", authors[0])),
            ],
            ["name": "c", "genre": pointer("Genre", genres[0])], ["name": "d", "title": "sf"])
    }

    @Test func aPointerIsFoundByItsObject() async throws {
        #expect(try await server.names("Book", ["genre": pointer("Genre", genres[0])]) == ["a", "c"])
        #expect(try await server.names("Book", ["genre": .string(genres[1])]) == ["b"])
        #expect(try await server.names("Book", ["genre": ["$ne": pointer("Genre", genres[0])]]) == ["b", "d"])
        #expect(
            try await server.names("Book", ["genre": ["$in": .array(genres.map { pointer("Genre", $0) })]]) == [
                "a", "b", "c",
            ])
        #expect(try await server.names("Book", ["genre": ["$nin": [pointer("Genre", genres[0])]]]) == ["b", "d"])
        #expect(try await server.names("Book", ["genre": .null]) == ["d"])
        #expect(try await server.names("Book", ["genre": ["$exists": true]]) == ["a", "b", "c"])
        #expect(try await server.names("Book", ["genre": pointer("Author", genres[0])]) == [])
        #expect(try await server.names("Book", ["genre": pointer("Genre", "nobody")]) == [])
        #expect(try await server.names("Book", ["genre": 5]) == [])
    }

    @Test func keysFollowPointers() async throws {
        #expect(try await server.names("Book", ["genre.name": "sf"]) == ["a", "c"])
        #expect(try await server.names("Book", ["genre.rank": ["$gte": 2]]) == ["b"])
        #expect(try await server.names("Book", ["genre.name": ["$ne": "sf"]]) == ["b", "d"])
        #expect(try await server.names("Book", ["genre.name": .null]) == ["d"])
        #expect(try await server.names("Book", ["genre.objectId": .string(genres[0])]) == ["a", "c"])
        #expect(try await server.names("Book", ["genre.nope": 1]) == [])
        #expect(try await server.names("Author", ["country.name": "us"]) == ["le"])
        #expect(try await server.names("Book", [:], ["order": "-genre.rank,name"]) == ["b", "a", "c", "d"])
    }

    @Test func relationsAreFoundByAnyMember() async throws {
        let (le, mi) = (pointer("Author", authors[0]), pointer("Author", authors[1]))
        #expect(try await server.names("Book", ["authors": le]) == ["a", "b"])
        #expect(try await server.names("Book", ["authors": ["$ne": mi]]) == ["a", "c", "d"])
        #expect(try await server.names("Book", ["authors": ["$in": [mi, le]]]) == ["a", "b"])
        #expect(try await server.names("Book", ["authors": ["$all": [mi, le]]]) == ["b"])
        #expect(try await server.names("Book", ["authors": ["$containedBy": [le]]]) == ["a", "c", "d"])
        #expect(try await server.names("Book", ["authors": ["$exists": false]]) == ["c", "d"])
        #expect(try await server.names("Book", ["authors.name": "mi"]) == ["b"])
        #expect(try await server.names("Book", ["authors.name": ["$ne": "mi"]]) == ["a", "c", "d"])
        #expect(try await server.names("Book", ["authors.country.name": "us"]) == ["a", "b"])
        #expect(try await server.names("Book", ["authors.tags": "wise"]) == ["a", "b"])
        #expect(try await server.error("Book", [:], ["order": "authors.name"]).code == 102)
    }

    @Test func relatedObjectsComeInTheRelationsOrder() async throws {
        let related: JSONValue = ["object": pointer("Book", books[1]), "key": "authors"]
        func found(_ condition: JSONValue, _ options: JSONObject = [:]) async throws -> [JSONValue?] {
            try await server.find("Author", condition, options).map { $0["name"] }
        }
        #expect(try await found(["$relatedTo": related]) == ["mi", "le"])
        #expect(try await found(["$relatedTo": related], ["order": "name"]) == ["le", "mi"])
        #expect(try await found(["$relatedTo": related, "name": "le"]) == ["le"])
        #expect(try await found(["$relatedTo": related], ["limit": 1, "skip": 1]) == ["le"])
        #expect(try await server.query("Author", ["$relatedTo": related], ["count": 1, "limit": 0])["count"] == 2)
        let other: JSONValue = ["object": pointer("Book", books[0]), "key": "authors"]
        #expect(try await found(["$and": [["$relatedTo": related], ["$relatedTo": other]]]) == ["le"])
        #expect(try await found(["$or": [["$relatedTo": other], ["name": "zo"]]], ["order": "name"]) == ["le", "zo"])
        #expect(try await found(["$nor": [["$relatedTo": related]]]) == ["zo"])
    }

    @Test func missingRelationsAreEmpty() async throws {
        for (className, id, key) in [
            ("Book", "nobody", "authors"), ("Book", books[1], "genre"), ("Book", books[1], "nope"),
            ("Nope", "x", "authors"), ("Author", authors[0], "name"),
        ] {
            let related: JSONValue = ["object": pointer(className, id), "key": .string(key)]
            #expect(try await server.names("Author", ["$relatedTo": related]) == [])
        }
        #expect(
            try await server.names("Genre", ["$relatedTo": ["object": pointer("Book", books[1]), "key": "authors"]])
                == [])
        #expect(try await server.error("Author", ["$relatedTo": ["object": "x", "key": "authors"]]).code == 102)
        #expect(try await server.error("Author", ["$relatedTo": 1]).code == 102)
    }

    @Test func aPointerIsFoundByAQuery() async throws {
        func inQuery(_ condition: JSONValue, _ className: String = "Genre", _ more: JSONObject = [:])
            -> JSONValue
        {
            let query: JSONObject = ["where": condition, "className": .string(className)]
            return .object(query.merging(more))
        }
        #expect(try await server.names("Book", ["genre": ["$inQuery": inQuery(["name": "sf"])]]) == ["a", "c"])
        #expect(try await server.names("Book", ["genre": ["$notInQuery": inQuery(["name": "sf"])]]) == ["b", "d"])
        #expect(try await server.names("Book", ["genre": ["$inQuery": inQuery([:], "Author")]]) == [])
        #expect(try await server.names("Book", ["genre": ["$inQuery": inQuery([:], "Nope")]]) == [])
        #expect(
            try await server.names("Book", ["genre": ["$notInQuery": inQuery([:], "Nope")]]) == ["a", "b", "c", "d"])
        #expect(
            try await server.names(
                "Book", ["genre": ["$inQuery": inQuery([:], "Genre", ["limit": 1, "order": "-rank"])]])
                == ["b"])
        #expect(
            try await server.names(
                "Book", ["genre": ["$inQuery": inQuery([:], "Genre", ["skip": 1, "order": "-rank"])]])
                == ["a", "c"])
        #expect(try await server.names("Book", ["authors": ["$inQuery": inQuery(["name": "mi"], "Author")]]) == ["b"])
        #expect(
            try await server.names("Book", ["authors": ["$notInQuery": inQuery(["name": "mi"], "Author")]]) == [
                "a", "c", "d",
            ])
        let nested = inQuery(["country": ["$inQuery": inQuery(["name": "uk"], "Country")]], "Author")
        #expect(try await server.names("Book", ["authors": ["$inQuery": nested]]) == ["b"])
        #expect(try await server.error("Book", ["genre": ["$inQuery": ["className": "Genre"]]]).code == 102)
        #expect(try await server.error("Book", ["genre": ["$inQuery": inQuery(["name": ["$bad": 1]])]]).code == 107)
    }

    @Test func valuesAreSelectedByAQuery() async throws {
        func select(_ key: String, _ className: String, _ condition: JSONValue = [:]) -> JSONValue {
            ["key": .string(key), "query": ["className": .string(className), "where": condition]]
        }
        #expect(try await server.names("Book", ["title": ["$select": select("name", "Genre")]]) == ["d"])
        #expect(try await server.names("Book", ["title": ["$dontSelect": select("name", "Genre")]]) == ["a", "b", "c"])
        #expect(try await server.names("Book", ["title": ["$select": select("name", "Genre", ["rank": 2])]]) == [])
        #expect(try await server.names("Book", ["title": ["$select": select("rank", "Genre")]]) == [])
        #expect(
            try await server.names("Book", ["title": ["$select": select("genre.name", "Book", ["name": "a"])]]) == ["d"]
        )
        #expect(try await server.names("Genre", ["objectId": ["$select": select("genre", "Book")]]) == [])
        #expect(
            try await server.names("Book", ["genre": ["$select": select("genre", "Book", ["name": "a"])]]) == [
                "a", "c",
            ])
        #expect(try await server.names("Book", ["title": ["$select": select("nope", "Genre")]]) == [])
        #expect(try await server.error("Book", ["title": ["$select": ["key": "name"]]]).code == 102)
        #expect(try await server.names("Book", ["title": ["$select": select("tags", "Author")]]) == [])
    }

    @Test func theNumberOfStatementsDoesntDependOnTheData() async throws {
        let inQuery: JSONValue = ["$inQuery": ["className": "Author", "where": ["country.name": "us"]]]
        let condition: JSONValue = [
            "authors": inQuery, "genre": ["$inQuery": ["className": "Genre", "where": ["rank": ["$lt": 9]]]],
            "name": ["$dontSelect": ["key": "title", "query": ["className": "Book", "where": [:]]]],
        ]
        var found: [String] = []
        let queries = try await log.queries {
            found = try await server.names("Book", condition, ["include": "genre,authors"])
        }
        #expect(found == ["a", "b"])
        #expect(queries.count == 1, "\(queries)")
        let related: JSONValue = ["$relatedTo": ["object": pointer("Book", books[1]), "key": "authors"]]
        var members: [String] = []
        let others = try await log.queries {
            members = try await server.names("Author", related, ["include": "country"])
        }
        #expect(members == ["le", "mi"])
        #expect(others.count == 1, "\(others)")
    }
}
