import Testing

@testable import RelataParse

/// Texts that look the same but use different Unicode compositions are different.
@Suite(.onEveryEngine) struct ByteEqualityTests {
    private let composed: JSONValue = "\u{E9}"
    private let decomposed: JSONValue = "e\u{301}"

    @Test func elementsOfArraysAreDistinguished() async throws {
        let server = try TestServer()
        let id = try await server.create("Word", ["forms": [composed]])
        let added = try await server.send(
            "PUT", "/classes/Word/\(id)", ["forms": ["__op": "AddUnique", "objects": [decomposed, composed]]])
        #expect(added["forms"] == [composed, decomposed])
        let removed = try await server.send(
            "PUT", "/classes/Word/\(id)", ["forms": ["__op": "Remove", "objects": [composed]]])
        #expect(removed["forms"] == [decomposed])
        #expect(try await server.find("Word", ["forms": composed]).isEmpty)
        #expect(try await server.find("Word", ["forms": decomposed]).count == 1)
    }

    @Test func membersOfObjectsAreDistinguished() async throws {
        let server = try TestServer()
        let id = try await server.create("Word", ["info": ["\u{E9}": 1, "e\u{301}": 2]])
        let info = try await server.get("Word", id)["info"]
        #expect(info?["\u{E9}"] == 1 && info?["e\u{301}"] == 2)
        try await server.send("PUT", "/classes/Word/\(id)", ["info.\u{E9}": 3])
        #expect(try await server.get("Word", id)["info"]?["\u{E9}"] == 3)
        #expect(try await server.get("Word", id)["info"]?["e\u{301}"] == 2)
        #expect(try await server.find("Word", ["info.e\u{301}": 2]).count == 1)
    }

    /// Columns store objects with sorted members, so objects with the same members are equal.
    @Test func objectsAreFoundRegardlessOfTheOrderOfTheirMembers() async throws {
        let server = try TestServer()
        try await server.save("Thing", ["o": ["b": 1, "a": ["d": 2, "c": 3]], "list": [["y": 1, "x": 2]]])
        #expect(try await server.find("Thing", ["o": ["a": ["c": 3, "d": 2], "b": 1]]).count == 1)
        #expect(try await server.find("Thing", ["list": ["x": 2, "y": 1]]).count == 1)
        #expect(try await server.find("Thing", ["list": ["$in": [["x": 2, "y": 1]]]]).count == 1)
    }

    @Test func includedObjectsAreDistinguished() async throws {
        var options = ParseService.Options()
        options.allowsCustomObjectIDs = true
        let server = try TestServer(options: options)
        for (id, name) in [(composed, "one"), (decomposed, "two")] as [(JSONValue, JSONValue)] {
            #expect(try await server.send("POST", "/classes/Word", ["objectId": id, "name": name]).status == 201)
        }
        let list = try await server.create(
            "List", ["words": [pointer("Word", "e\u{301}"), pointer("Word", "\u{E9}"), pointer("Word", "e\u{301}")]])
        let words = try await server.get("List", list, "include=words")["words"]?.array
        #expect(words?.map { $0["name"] } == ["two", "one", "two"])
        // The new object isn't confused with the existing one either.
        let batch = try await server.send(
            "POST", "/batch",
            [
                "requests": [
                    [
                        "method": "POST", "path": "/classes/Mark",
                        "body": ["objectId": composed, "of": pointer("Mark", "x")],
                    ],
                    [
                        "method": "POST", "path": "/classes/Mark",
                        "body": ["objectId": "x", "of": pointer("Mark", "e\u{301}")],
                    ],
                ], "transaction": true,
            ])
        #expect(batch.code == 101, "\(batch.json)")
    }
}
