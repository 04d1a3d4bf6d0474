import RelataParse
import TestEngines
import Testing

/// Batches with expectations of objects' values.
@Suite(.onEveryEngine) struct BatchExpectationTests {
    private let server: TestServer
    private let genre: String
    private let book: String

    init() async throws {
        server = try TestServer()
        genre = try await server.create("Genre", ["name": "Fantasy"])
        book = try await server.create(
            "Book",
            [
                "title": "Mort", "year": 1987, "tags": ["a", "b"],
                "read": ["__type": "Date", "iso": "2026-03-01T12:00:00.000Z"],
                "genre": ["__type": "Pointer", "className": "Genre", "objectId": .string(genre)],
            ])
        _ = try await server.send("PUT", "/schemas/Book", ["fields": ["note": ["type": "String"]]])
    }

    private func send(
        _ fields: JSONValue, id: String? = nil, isTransaction: Bool = true, isMaster: Bool = true
    ) async throws -> TestServer.Reply {
        try await server.send(
            "POST", "/batch",
            [
                "transaction": .bool(isTransaction),
                "requests": [
                    ["method": "PUT", "path": .string("/parse/classes/Book/\(book)"), "body": ["title": "Sourcery"]]
                ],
                "expected": [["className": "Book", "objectId": .string(id ?? book), "fields": fields]],
            ], isMaster: isMaster)
    }

    private func title() async throws -> JSONValue? { try await server.get("Book", book)["title"] }

    @Test func aBatchWhoseExpectationsHoldIsWritten() async throws {
        let expected: JSONValue = [
            "title": "Mort", "year": 1987, "note": .null, "tags": ["a", "b"],
            "read": ["__type": "Date", "iso": "2026-03-01T12:00:00.000Z"],
            "genre": ["__type": "Pointer", "className": "Genre", "objectId": .string(genre)],
        ]
        #expect(try await send(expected).status == 200)
        #expect(try await title() == "Sourcery")
    }

    @Test func expectationsApplyToBatchesThatOnlyRead() async throws {
        for (title, status) in [("Mort", 200), ("Faust", 409)] {
            let reply = try await server.send(
                "POST", "/batch",
                [
                    "transaction": true,
                    "requests": [["method": "GET", "path": .string("/parse/classes/Book/\(book)")]],
                    "expected": [
                        ["className": "Book", "objectId": .string(book), "fields": ["title": .string(title)]]
                    ],
                ], isMaster: true)
            #expect(reply.status == status, "\(title): \(reply.json)")
        }
    }

    @Test(
        arguments: [
            ["title": "Faust"], ["year": 1988], ["note": "x"], ["title": .null], ["genre": .null],
            ["tags": ["b", "a"]],
        ] as [JSONValue])
    func nothingIsWrittenIfAFieldHasAnotherValue(fields: JSONValue) async throws {
        let reply = try await send(fields)
        #expect(reply.status == 409)
        #expect(reply.code == 119)
        #expect(try await title() == "Mort")
    }

    @Test func nothingIsWrittenIfAnObjectIsMissing() async throws {
        #expect(try await send([:], id: "gone").status == 409)
        #expect(try await title() == "Mort")
    }

    @Test func aRelationIsExpectedToBeginWithSomeObjects() async throws {
        let authors = try await server.save("Author", ["name": "a"], ["name": "b"], ["name": "c"])
        let pointers = authors.map { pointer("Author", $0) }
        try await server.send("PUT", "/classes/Book/\(book)", ["writers": adding(pointers[2], pointers[0])])
        let refused: [[JSONValue]] = [
            [pointers[0], pointers[2]], [pointers[2], pointers[1]], [pointers[2], pointers[0], pointers[1]],
            [pointer("Genre", genre)], ["x"],
        ]
        for expected in refused {
            let reply = try await send(["writers": .array(expected)])
            #expect(reply.status == 409, "\(expected): \(reply.json)")
        }
        for expected in [[], [pointers[2]], [pointers[2], pointers[0]]] as [[JSONValue]] {
            let reply = try await send(["writers": .array(expected)])
            #expect(reply.status == 200, "\(expected): \(reply.json)")
        }
    }

    @Test func expectationsNeedTheMasterKeyATransactionAndExistingFields() async throws {
        #expect(try await send(["title": "Mort"], isMaster: false).status == 403)
        #expect(try await send(["title": "Mort"], isTransaction: false).code == 107)
        #expect(try await send(["pages": 3]).code == 102)
        #expect(try await send("title").code == 107)
        #expect(try await title() == "Mort")
    }
}
