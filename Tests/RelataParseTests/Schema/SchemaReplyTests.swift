import RelataParse
import TestEngines
import Testing

/// The content of replies about classes, and the messages of refusals.
@Suite(.onEveryEngine) struct SchemaReplyTests {
    private let server: TestServer

    init() throws { server = try TestServer() }

    @Test func aReplyHasOnlyTheGivenRules() async throws {
        let made = try await server.send(
            "POST", "/schemas/Book",
            [
                "fields": [
                    "title": ["type": "String", "required": true], "year": ["type": "Number", "required": false],
                    "note": ["type": "String"], "tags": ["type": "Relation", "targetClass": "Tag"],
                ]
            ])
        let fields: JSONValue = [
            "ACL": ["type": "ACL"], "objectId": ["type": "String"], "createdAt": ["type": "Date"],
            "updatedAt": ["type": "Date"], "title": ["type": "String", "required": true],
            "year": ["type": "Number", "required": false], "note": ["type": "String"],
            "tags": ["type": "Relation", "targetClass": "Tag"],
        ]
        #expect(made["fields"] == fields, "\(made.json)")
        #expect(made.json.object.map { Set($0.keys) } == ["className", "fields", "classLevelPermissions"])
        #expect(try await server.send("GET", "/schemas/Book").json == made.json)
        #expect(try await server.send("PUT", "/schemas/Book", made.json).json == made.json)
        let implied = try await server.send("GET", "/schemas/Tag")
        #expect(implied["indexes"] == nil)
        _ = try await server.create("Book", ["title": "a", "pages": 5])
        let used = try await server.send("GET", "/schemas/Book")
        #expect(used["fields"]?["pages"] == ["type": "Number"] && used["fields"]?["year"]?["required"] == false)
        let changed = try await server.send(
            "PUT", "/schemas/Book", ["fields": ["year": ["type": "Number", "required": .null]]])
        #expect(changed["fields"]?["year"] == ["type": "Number"])
        _ = try await server.send("PUT", "/schemas/Book", ["fields": ["note": ["type": "String", "required": false]]])
        _ = try await server.send("PUT", "/schemas/Book", ["fields": ["note": ["__op": "Delete"]]])
        let again = try await server.send("PUT", "/schemas/Book", ["fields": ["note": ["type": "String"]]])
        #expect(again["fields"]?["note"] == ["type": "String"])
    }

    @Test func anIndexCanNameThePointersColumn() async throws {
        let fields: JSONValue = [
            "genre": ["type": "Pointer", "targetClass": "Genre"], "title": ["type": "String"],
        ]
        let index: JSONValue = ["_p_genre": 1, "title": -1]
        let made = try await server.send(
            "POST", "/schemas/Book", ["fields": fields, "indexes": ["by_genre": index]])
        #expect(made.status == 200, "\(made.json)")
        #expect(made["indexes"] == ["_id_": ["_id": 1], "by_genre": index])
        let unique = try await server.send("PUT", "/schemas/Book", ["uniqueIndexes": ["one": ["_p_genre": 1]]])
        #expect(unique["uniqueIndexes"]?["one"] == ["_p_genre": 1], "\(unique.json)")
        #expect(try await server.send("PUT", "/schemas/Book", ["indexes": ["by_genre": index]]).status == 200)
        for (index, words) in [
            (["_p_nope": 1], "Field _p_nope does not exist, cannot add index."),
            (["_p_title": 1], "Field _p_title does not exist, cannot add index."),
            (["nope": 1], "Field nope does not exist, cannot add index."),
        ] as [(JSONValue, JSONValue)] {
            let reply = try await server.send("PUT", "/schemas/Book", ["indexes": ["bad": index]])
            #expect(reply.code == 102 && reply["error"] == words, "\(reply.json)")
        }
        let exported = try await server.store.schemaJSON()
        let other = try TestServer()
        try await other.store.deploy(try SchemaDocument(exported))
        #expect(try await other.store.schemaJSON() == exported)
        let gone = try await server.send(
            "PUT", "/schemas/Book",
            ["indexes": ["by_genre": ["__op": "Delete"]], "uniqueIndexes": ["one": ["__op": "Delete"]]])
        #expect(gone.status == 200 && gone["indexes"] == nil && gone["uniqueIndexes"] == nil, "\(gone.json)")
    }

    @Test func refusalsHaveParsesMessages() async throws {
        _ = try await server.create("Book", ["title": "a"])
        let refused: [(method: String, path: String, body: JSONValue, code: Int64, words: String)] = [
            ("POST", "/schemas/Book", [:], 103, "Class Book already exists."),
            ("GET", "/schemas/Nope", .null, 103, "Class Nope does not exist."),
            ("PUT", "/schemas/Nope", [:], 103, "Class Nope does not exist."),
            (
                "POST", "/schemas/Book", ["className": "Other"], 103,
                "Class name mismatch between Other and Book."
            ),
            (
                "PUT", "/schemas/Book", ["fields": ["title": ["type": "Number"]]], 255,
                "Field title exists, cannot update."
            ),
            (
                "PUT", "/schemas/Book", ["fields": ["nope": ["__op": "Delete"]]], 255,
                "Field nope does not exist, cannot delete."
            ),
            ("PUT", "/schemas/Book", ["fields": ["x": ["type": "Wrong"]]], 111, "invalid field type: Wrong"),
            ("PUT", "/schemas/Book", ["fields": ["x": ["type": "Pointer"]]], 135, "type Pointer needs a class name"),
            ("PUT", "/schemas/Book", ["fields": ["x": ["type": "Relation", "targetClass": 5]]], 107, "invalid JSON"),
            ("PUT", "/schemas/Book", ["fields": ["x": [:]]], 107, "invalid JSON"),
            (
                "PUT", "/schemas/Book", ["indexes": ["nope": ["__op": "Delete"]]], 102,
                "Index nope does not exist, cannot delete."
            ),
            (
                "DELETE", "/schemas/Book", .null, 255,
                "Class Book is not empty, contains 1 objects, cannot drop schema."
            ),
            (
                "POST", "/schemas/0Bad", [:], 103,
                "Invalid classname: 0Bad, classnames can only have alphanumeric characters and _, and must start with an alpha character "
            ),
            (
                "POST", "/classes/Book", ["title": 5], 111,
                "schema mismatch for Book.title; expected String but got Number"
            ),
            (
                "POST", "/classes/Book", ["n": ["__op": "Increment", "amount": "1"]], 107,
                "incrementing must provide a number"
            ),
            ("POST", "/classes/Book", ["n": ["__op": "AddUnique"]], 107, "objects to add must be an array"),
            ("POST", "/classes/Book", ["n": ["__op": "Remove"]], 107, "objects to remove must be an array"),
            ("POST", "/classes/Book", ["n": ["__op": "Odd"]], 108, "The Odd operator is not supported yet."),
        ]
        for (method, path, body, code, words) in refused {
            let reply = try await server.send(method, path, body.isNull ? nil : body)
            #expect(reply.code == code && reply["error"] == .string(words), "\(method) \(path): \(reply.json)")
        }
        for path in ["/schemas", "/aggregate/Book", "/serverInfo", "/schemas/Book"] {
            let reply = try await server.send("GET", path, isMaster: false)
            #expect(reply.status == 403 && reply["error"] == "unauthorized: master key is required", "\(path)")
        }
        let polygon: JSONValue = ["__type": "Polygon", "coordinates": [[0, 0], [0, 1]]]
        let line = try await server.send("POST", "/classes/Zone", ["area": polygon])
        #expect(line.code == 111 && line["error"]?.string?.contains("at least 3 different vertices") == true)
    }
}
