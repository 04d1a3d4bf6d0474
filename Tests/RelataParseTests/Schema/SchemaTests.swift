import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestEngines
import Testing

@testable import RelataParse

@Suite(.onEveryEngine) struct SchemaTests {
    @Test(.onSQLite) func concurrentWritesOfAnotherProcessAreNotDroppedWithTheClass() async throws {
        let folder = try TestDatabases()
        let server = try TestServer(path: folder.path("store.sqlite"))
        #expect(try await server.send("POST", "/schemas/Book", ["fields": ["title": ["type": "String"]]]).status == 200)
        try await withCheckedThrowingContinuation { (isWriting: CheckedContinuation<Void, any Error>) in
            // A separate thread, because a task may sleep for longer than others wait for the file.
            Thread.detachNewThread {
                do {
                    let other = try Connection(path: folder.path("store.sqlite"))
                    try other.execute(
                        """
                        BEGIN IMMEDIATE;
                        INSERT INTO Book (objectId, title, createdAt, updatedAt) VALUES ('b', 'Dune', 0, 0)
                        """)
                    isWriting.resume()
                    usleep(500_000)
                    try? other.execute("COMMIT")
                    try? other.close()
                } catch {
                    isWriting.resume(throwing: error)
                }
            }
        }
        #expect(try await server.send("DELETE", "/schemas/Book").code == 255)
        #expect(try await server.get("Book", "b")["title"] == "Dune")
        try server.store.close()
    }

    @Test func aClassIsDescribedAsItWasCreated() async throws {
        let server = try TestServer()
        let reply = try await server.send(
            "POST", "/schemas/Book",
            [
                "className": "Book",
                "fields": [
                    "title": ["type": "String", "required": true], "year": ["type": "Number", "defaultValue": 1900],
                    "genre": ["type": "Pointer", "targetClass": "Genre", "onTargetDelete": "cascade"],
                    "authors": ["type": "Relation", "targetClass": "Author"], "tags": ["type": "Array"],
                ],
                "indexes": ["by_title": ["title": 1]], "uniqueIndexes": ["isbn": ["title": 1, "year": -1]],
                "classLevelPermissions": ["find": ["*": true]],
            ])
        #expect(reply.status == 200, "\(reply.json)")
        let stored = try await server.send("GET", "/schemas/Book")
        #expect(stored.json == reply.json)
        #expect(stored["fields"]?["title"] == ["type": "String", "required": true])
        #expect(stored["fields"]?["year"] == ["type": "Number", "defaultValue": 1900])
        #expect(stored["fields"]?["genre"]?["targetClass"] == "Genre")
        #expect(stored["fields"]?["genre"]?["onTargetDelete"] == "cascade")
        #expect(stored["fields"]?["authors"] == ["type": "Relation", "targetClass": "Author"])
        #expect(stored["fields"]?["tags"]?["type"] == "Array" && stored["fields"]?["objectId"]?["type"] == "String")
        #expect(stored["indexes"]?["by_title"] == ["title": 1])
        #expect(stored["uniqueIndexes"]?["isbn"] == ["title": 1, "year": -1])
        let all = try await server.send("GET", "/schemas")
        #expect(Set(all.results.compactMap { $0["className"]?.string }) == ["Book", "Genre", "Author"])
        #expect(try await server.send("POST", "/schemas/Book", [:]).code == 103)
    }

    @Test(.onSQLite) func anIndexKeepsTheOrderOfItsFields() async throws {
        let server = try TestServer()
        let description: JSONValue = [
            "fields": ["a": ["type": "Number"], "b": ["type": "Number"]], "indexes": ["by_b_a": ["b": 1, "a": -1]],
            "uniqueIndexes": ["one": ["b": 1, "a": 1]],
        ]
        let made = try await server.send("POST", "/schemas/Point", description)
        #expect(made["indexes"]?["by_b_a"]?.object.map { Array($0.keys) } == ["b", "a"])
        #expect(made["uniqueIndexes"]?["one"]?.object.map { Array($0.keys) } == ["b", "a"])
        let query = """
            SELECT group_concat(field.name) FROM pragma_index_list('Point') list, pragma_index_info(list.name) field
            WHERE list.origin <> 'pk' GROUP BY list.name
            """
        let indexed = try await server.store.read(as: .master) { try $0.connection.values(SQLStatement(query)) }
        #expect(!indexed.isEmpty && indexed.allSatisfy { $0 == [.text("b,a")] }, "\(indexed)")
        let exported = try await server.store.schemaJSON()
        let other = try TestServer()
        try await other.store.deploy(try SchemaDocument(exported))
        #expect(try await other.store.schemaJSON() == exported)
        let again = try await other.send("GET", "/schemas/Point")
        #expect(again["indexes"]?["by_b_a"]?.object.map { Array($0.keys) } == ["b", "a"])
    }

    @Test func theRulesOfAClassApplyToItsObjects() async throws {
        let server = try TestServer()
        try await server.send(
            "POST", "/schemas/Book",
            [
                "fields": [
                    "title": ["type": "String", "required": true], "year": ["type": "Number", "defaultValue": 1900],
                    "genre": ["type": "Pointer", "targetClass": "Genre", "onTargetDelete": "deny"],
                ], "uniqueIndexes": ["title": ["title": 1]],
            ])
        #expect(try await server.send("POST", "/classes/Book", ["year": 1]).code == 142)
        let genre = try await server.create("Genre", ["name": "Fantasy"])
        let created = try await server.send("POST", "/classes/Book", ["title": "A", "genre": pointer("Genre", genre)])
        #expect(created["year"] == 1900)
        #expect(try await server.send("POST", "/classes/Book", ["title": "A"]).code == 137)
        let id = try #require(created["objectId"]?.string)
        #expect(try await server.send("PUT", "/classes/Book/\(id)", ["title": ["__op": "Delete"]]).code == 142)
        let denied = try await server.send("DELETE", "/classes/Genre/\(genre)")
        #expect(denied.code == 119 && denied["error"]?.string?.contains("Book") == true)
        try await server.send("DELETE", "/classes/Book/\(id)")
        #expect(try await server.send("DELETE", "/classes/Genre/\(genre)").status == 200)
    }

    @Test func fieldsAreAddedAndDeleted() async throws {
        let server = try TestServer()
        let genre = try await server.create("Genre", ["name": "Fantasy"])
        let author = try await server.create("Author", ["name": "A"])
        let book = try await server.create(
            "Book", ["title": "A", "year": 1, "genre": pointer("Genre", genre), "tags": ["a"]])
        try await server.send(
            "PUT", "/classes/Book/\(book)",
            ["authors": ["__op": "AddRelation", "objects": [pointer("Author", author)]]])
        let reply = try await server.send(
            "PUT", "/schemas/Book",
            [
                "fields": [
                    "year": ["__op": "Delete"], "genre": ["__op": "Delete"], "authors": ["__op": "Delete"],
                    "tags": ["__op": "Delete"], "title": ["type": "String"], "pages": ["type": "Number"],
                ]
            ])
        #expect(reply.status == 200, "\(reply.json)")
        #expect(
            Set(reply["fields"]?.object?.keys.sorted() ?? []) == [
                "objectId", "createdAt", "updatedAt", "ACL", "title", "pages",
            ])
        #expect(try await server.get("Book", book)["title"] == "A")
        // The names can be used again, with other types.
        let again = try await server.send(
            "PUT", "/classes/Book/\(book)", ["year": "MCM", "genre": "text", "authors": 5, "tags": ["x": 1]])
        #expect(again.status == 200, "\(again.json)")
        #expect(try await server.get("Book", book)["year"] == "MCM")
        #expect(try await server.send("PUT", "/schemas/Book", ["fields": ["title": ["type": "Number"]]]).code == 255)
        #expect(try await server.send("PUT", "/schemas/Book", ["fields": ["nope": ["__op": "Delete"]]]).code == 255)
        #expect(try await server.send("PUT", "/schemas/Pamphlet", ["fields": [:]]).code == 103)
    }

    @Test func aClassCanBeDeletedOnceItIsEmptyAndUnreferenced() async throws {
        let server = try TestServer()
        let genre = try await server.create("Genre", ["name": "Fantasy"])
        _ = try await server.create("Book", ["genre": pointer("Genre", genre)])
        #expect(try await server.send("DELETE", "/schemas/Book").code == 255)
        #expect(try await server.send("DELETE", "/purge/Book").status == 200)
        #expect(try await server.send("DELETE", "/purge/Genre").status == 200)
        #expect(try await server.send("DELETE", "/schemas/Genre").code == 255)
        #expect(try await server.send("DELETE", "/schemas/Book").json == [:])
        #expect(try await server.send("DELETE", "/schemas/Genre").json == [:])
        #expect(try await server.send("GET", "/schemas").results.isEmpty)
        #expect(try await server.send("POST", "/classes/genre", ["name": 5]).status == 201)
    }

    @Test func aRelationCanBeTheInverseOfAPointer() async throws {
        let server = try TestServer()
        try await server.send(
            "POST", "/schemas/Book", ["fields": ["genre": ["type": "Pointer", "targetClass": "Genre"]]])
        let bound = try await server.send(
            "PUT", "/schemas/Genre",
            ["fields": ["books": ["type": "Relation", "targetClass": "Book", "inverse": "genre"]]])
        #expect(bound["fields"]?["books"]?["inverse"] == "genre", "\(bound.json)")
        let genre = try await server.create("Genre", ["name": "Fantasy"])
        let book = try await server.create("Book", ["title": "A"])
        let add: JSONValue = ["books": ["__op": "AddRelation", "objects": [pointer("Book", book)]]]
        #expect(try await server.send("PUT", "/classes/Genre/\(genre)", add).status == 200)
        #expect(try await server.get("Book", book)["genre"] == pointer("Genre", genre))
        let related: JSONValue = ["$relatedTo": ["object": pointer("Genre", genre), "key": "books"]]
        #expect(try await server.find("Book", where: related).count == 1)
        let remove: JSONValue = ["books": ["__op": "RemoveRelation", "objects": [pointer("Book", book)]]]
        #expect(try await server.send("PUT", "/classes/Genre/\(genre)", remove).status == 200)
        #expect(try await server.get("Book", book)["genre"] == nil)
    }

    @Test func onlyTheMasterKeyChangesClasses() async throws {
        let server = try TestServer()
        for (method, target) in [("GET", "/schemas"), ("POST", "/schemas/A"), ("DELETE", "/purge/A")] {
            #expect(try await server.send(method, target, isMaster: false).status == 403)
        }
        let refused: [(JSONValue, Int64)] = [
            (["classLevelPermissions": ["find": ["role": true, "a b": true]]], 107), (["className": "B"], 103),
            (["fields": ["x": ["type": "Pointer"]]], 135), (["fields": ["x": ["type": "Quaternion"]]], 111),
            (["fields": ["a b": ["type": "String"]]], 105),
            (["fields": ["x": ["type": "String", "order": true]]], 111),
            (["fields": ["x": ["type": "Number", "defaultValue": "a"]]], 111),
            (["fields": ["x": ["type": "Pointer", "targetClass": "A", "deleteRule": "explode"]]], 111),
            (["indexes": ["i": ["nope": 1]]], 102), (["indexes": ["i": ["createdAt": "text"]]], 102),
        ]
        for (body, code) in refused {
            let reply = try await server.send("POST", "/schemas/A", body)
            #expect(reply.code == code, "\(body): \(reply.json)")
        }
        #expect(try await server.send("GET", "/schemas").results.isEmpty)
    }
}
