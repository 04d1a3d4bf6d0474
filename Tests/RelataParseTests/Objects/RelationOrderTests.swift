import Relata
import RelataParse
import TestEngines
import Testing

@Model struct MixTape {
    @Attribute(.primaryKey) let name: String
    @Relationship(inverse: \MixSong.tape, ordered: true) var songs: ToMany<MixSong>
    @Relationship(inverse: \MixSong.favouriteOn, order: \MixSong.rank) var favourites: ToMany<MixSong>
    @Relationship(inverse: \MixSong.bonusOn) var bonuses: ToMany<MixSong>
}

@Model struct MixSong {
    @Attribute(.primaryKey) let name: String
    var rank: Int = 0
    var tape: ToOne<MixTape>?
    var favouriteOn: ToOne<MixTape>?
    var bonusOn: ToOne<MixTape>?
}

/// The order of the objects in a relation.
@Suite(.onEveryEngine) struct RelationOrderTests {
    private let server: TestServer
    private let authors: [String]
    private let book: String

    init() async throws {
        server = try TestServer()
        authors = try await server.save("Author", ["name": "a"], ["name": "b"], ["name": "c"], ["name": "d"])
        book = try await server.create(
            "Book", ["authors": adding(pointer("Author", authors[1]), pointer("Author", authors[0]))])
    }

    private func author(_ name: Character) -> JSONValue {
        pointer("Author", authors[Int(name.asciiValue ?? 0x61) - 0x61])
    }

    private func placing(_ names: String, after other: Character? = nil) -> JSONValue {
        var operation: JSONObject = ["__op": "PlaceRelation", "objects": .array(names.map(author))]
        if let other { operation["after"] = author(other) }
        return .object(operation)
    }

    private func members(_ key: String = "authors") async throws -> String {
        let related: JSONValue = ["$relatedTo": ["object": pointer("Book", book), "key": .string(key)]]
        return try await server.find("Author", related).compactMap { $0["name"]?.string }.joined()
    }

    private func change(_ changes: JSONValue...) async throws -> TestServer.Reply {
        let change = changes.count == 1 ? changes[0] : ["__op": "Batch", "ops": .array(changes)]
        return try await server.send("PUT", "/classes/Book/\(book)", ["authors": change])
    }

    @Test func objectsArePlacedAfterAnotherOrFirst() async throws {
        for (change, order) in [
            (placing("c", after: "b"), "bca"), (placing("a"), "abc"), (placing("ca", after: "b"), "bca"),
            (placing("dc"), "dcba"), (placing("dc"), "dcba"), (placing("c", after: "c"), "dcba"),
        ] {
            let reply = try await self.change(change)
            #expect(reply.status == 200, "\(reply.json)")
            #expect(try await members() == order)
        }
    }

    @Test func operationsOnARelationSeeThoseBeforeThem() async throws {
        _ = try await change(adding(author("c")), placing("d", after: "c"), placing("a", after: "d"))
        #expect(try await members() == "bcda")
        let removing: JSONValue = ["__op": "RemoveRelation", "objects": [author("b"), author("a")]]
        _ = try await change(removing, adding(author("b")), adding(author("a")))
        #expect(try await members() == "cdba")
        _ = try await change(["__op": "Delete"], adding(author("d"), author("b")), placing("a", after: "d"))
        #expect(try await members() == "dab")
        // A new object's relation, too.
        let new = try await server.create(
            "Book", ["authors": ["__op": "Batch", "ops": [adding(author("a")), placing("c")]]])
        let related: JSONValue = ["$relatedTo": ["object": pointer("Book", new), "key": "authors"]]
        #expect(try await server.find("Author", related).map { $0["name"] } == ["c", "a"])
    }

    @Test func newObjectsOfABatchArePlaced() async throws {
        let reply = try await server.send(
            "POST", "/batch",
            [
                "transaction": true,
                "requests": [
                    [
                        "method": "PUT", "path": .string("/parse/classes/Book/\(book)"),
                        "body": [
                            "authors": [
                                "__op": "Batch",
                                "ops": [
                                    adding(pointer("Author", "new-1")),
                                    [
                                        "__op": "PlaceRelation", "objects": [pointer("Author", "new-2"), author("b")],
                                        "after": pointer("Author", "new-1"),
                                    ],
                                ],
                            ]
                        ],
                    ],
                    ["method": "POST", "path": "/parse/classes/Author", "placeholder": "new-1", "body": ["name": "e"]],
                    ["method": "POST", "path": "/parse/classes/Author", "placeholder": "new-2", "body": ["name": "f"]],
                ],
            ])
        #expect(reply.status == 200, "\(reply.json)")
        #expect(try await members() == "aefb")
    }

    @Test func invalidPlacesAreRefused() async throws {
        _ = try await server.create("Genre", ["name": "x"])
        let plain: JSONValue = ["editors": ["type": "Relation", "targetClass": "Author", "order": false]]
        #expect(try await server.send("PUT", "/schemas/Book", ["fields": plain]).status == 200)
        let genre = pointer("Genre", "g")
        let refused: [(String, JSONValue, Int64)] = [
            ("editors", placing("a"), 111), ("authors", ["__op": "PlaceRelation"], 107),
            ("authors", ["__op": "PlaceRelation", "objects": [author("a")], "after": "b"], 107),
            ("authors", ["__op": "PlaceRelation", "objects": [author("a")], "after": genre], 111),
            ("authors", ["__op": "PlaceRelation", "objects": [genre]], 111),
            ("authors", ["__op": "PlaceRelation", "objects": [pointer("Author", "gone")]], 101),
            ("authors", placing("a", after: "c"), 102),
        ]
        for (field, change, code) in refused {
            let reply = try await server.send("PUT", "/classes/Book/\(book)", [field: change])
            #expect(reply.code == code, "\(field) \(change): \(reply.json)")
        }
        #expect(try await members() == "ba")
    }

    @Test func theNumberThatOrdersAnInverseIsWritten() async throws {
        let server = try TestServer()
        try await server.send(
            "POST", "/schemas/Book",
            ["fields": ["genre": ["type": "Pointer", "targetClass": "Genre"], "shelf": ["type": "Number"]]])
        try await server.send(
            "POST", "/schemas/Genre",
            ["fields": ["books": ["type": "Relation", "targetClass": "Book", "inverse": "genre", "order": "shelf"]]])
        let books = try await server.save("Book", ["name": "a"], ["name": "b"], ["name": "c"])
        let pointers = books.map { pointer("Book", $0) }
        let genre = try await server.create("Genre", ["books": adding(pointers[0], pointers[1])])
        func order() async throws -> [JSONValue?] {
            let related: JSONValue = ["$relatedTo": ["object": pointer("Genre", genre), "key": "books"]]
            return try await server.find("Book", where: related).map { $0["name"] }
        }
        let place: JSONValue = ["__op": "PlaceRelation", "objects": [pointers[2], pointers[1], pointers[0]]]
        let reply = try await server.send("PUT", "/classes/Genre/\(genre)", ["books": place])
        #expect(reply.status == 200, "\(reply.json)")
        #expect(try await order() == ["c", "b", "a"])
        #expect(try await server.get("Book", books[2])["genre"] == pointer("Genre", genre))
        let unordered: JSONValue = [
            "fields": ["novels": ["type": "Relation", "targetClass": "Book", "inverse": "topic"]]
        ]
        try await server.send(
            "PUT", "/schemas/Book", ["fields": ["topic": ["type": "Pointer", "targetClass": "Genre"]]])
        #expect(try await server.send("PUT", "/schemas/Genre", unordered).status == 200)
        let refused = try await server.send("PUT", "/classes/Genre/\(genre)", ["novels": place])
        #expect(refused.code == 111, "\(refused.json)")
    }

    @Test func listsOfModelsArePlacedAsTheyAreDeclared() async throws {
        let store = try Store.make(for: MixTape.self)
        var options = ParseService.Options()
        options.allowsCustomObjectIDs = true
        let server = TestServer(try ParseStore.serving(store), options: options)
        for name in ["a", "b", "c"] { _ = try await server.create("MixSong", ["objectId": .string(name)]) }
        _ = try await server.create("MixTape", ["objectId": "T"])
        func pointers(_ names: String) -> JSONValue { .array(names.map { pointer("MixSong", "\($0)") }) }
        for key in ["songs", "favourites"] {
            for (names, order) in [("abc", "abc"), ("ca", "cab"), ("cba", "cba")] {
                let reply = try await server.send(
                    "PUT", "/classes/MixTape/T", [key: ["__op": "PlaceRelation", "objects": pointers(names)]])
                #expect(reply.status == 200, "\(reply.json)")
                let related: JSONValue = ["$relatedTo": ["object": pointer("MixTape", "T"), "key": .string(key)]]
                let found = try await server.find("MixSong", related).compactMap { $0["objectId"]?.string }
                #expect(found.joined() == order, "\(key)")
            }
        }
        let refused = try await server.send(
            "PUT", "/classes/MixTape/T", ["bonuses": ["__op": "PlaceRelation", "objects": pointers("a")]])
        #expect(refused.code == 111, "\(refused.json)")
        let fields = try await server.send("GET", "/schemas/MixTape")["fields"]
        #expect(fields?["songs"]?["order"] == true && fields?["favourites"]?["order"] == "rank", "\(fields ?? .null)")
        #expect(fields?["bonuses"]?["order"] == nil, "\(fields ?? .null)")
    }
}
