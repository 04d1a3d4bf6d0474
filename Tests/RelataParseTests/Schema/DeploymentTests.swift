import RelataParse
import RelataEngine
import RelataSQLite
import TestEngines
import Testing

@Suite(.onEveryEngine) struct DeploymentTests {
    private func development() async throws -> TestServer {
        let server = try TestServer()
        try await server.send(
            "POST", "/schemas/Book", ["fields": ["genre": ["type": "Pointer", "targetClass": "Genre"]]])
        try await server.send(
            "PUT", "/schemas/Genre",
            ["fields": ["books": ["type": "Relation", "targetClass": "Book", "inverse": "genre"]]])
        _ = try await server.create("Book", ["title": "A", "tags": ["x"]])
        try await server.send("PUT", "/schemas/Book", ["indexes": ["by_title": ["title": 1]]])
        return server
    }

    @Test func classesAreDeployedToAnotherStore() async throws {
        let development = try await development()
        let exported = try await development.store.schemaJSON()
        let production = try TestServer(mode: .production)
        let document = try SchemaDocument(exported)
        let changes = try await production.store.deploymentPlan(for: document).changes
        #expect(changes.contains("add the class Book") && changes.contains("add Book.title: String"), "\(changes)")
        #expect(try await production.send("GET", "/schemas").results.isEmpty)
        try await production.store.deploy(document)
        #expect(try await production.store.schemaJSON() == exported)
        #expect(try await production.store.deploymentPlan(for: document).isEmpty)
        #expect(try await production.send("POST", "/classes/Book", ["title": "B"]).status == 201)
    }

    @Test func nothingDiffersAfterADeployment() async throws {
        let wanted = try SchemaDocument(try await development().store.schemaJSON())
        let production = try TestServer(mode: .production)
        let before = try SchemaDocument(try await production.store.schemaJSON()).differences(to: wanted)
        #expect(before.map(\.name) == ["Book", "Genre"] && before.allSatisfy { $0.here == nil }, "\(before)")
        try await production.store.deploy(wanted)
        #expect(try SchemaDocument(try await production.store.schemaJSON()).differences(to: wanted) == [])
    }

    @Test func aLogOfAPlanHasNoValues() async throws {
        let store = try TestServer().store
        func document(_ value: JSONValue) throws -> SchemaDocument {
            try SchemaDocument([
                [
                    "className": "Book", "fields": ["title": ["type": "String", "defaultValue": value]],
                    "indexes": ["by_title": ["title": 1]], "classLevelPermissions": ["find": ["secret": true]],
                ]
            ])
        }
        let new = try await store.deploy(document("secret: a from b to c"))
        #expect(
            new.placesOfChanges == [
                "add the class Book", "add Book.title", "add the index by_title of Book",
                "set the permissions of Book",
            ], "\(new)")
        let changed = try await store.deploy(document("secret"))
        #expect(changed.placesOfChanges == ["change the rules of Book.title"], "\(changed)")
    }

    @Test func fieldsWithValuesAreNotRemoved() async throws {
        let production = try await development()
        let smaller = try SchemaDocument([["className": "Book", "fields": ["title": ["type": "String"]]]])
        #expect(try await production.store.deploymentPlan(for: smaller) == DeploymentPlan())
        let plan = try await production.store.deploymentPlan(for: smaller, removes: true)
        #expect(plan.kept == ["keep Book.tags: it holds values"] && plan.refusals.isEmpty)
        #expect(Set(plan.changes) == ["remove Book.genre", "remove the class Genre"], "\(plan)")
        #expect(try await production.store.deploy(smaller, removes: true, expecting: plan) == plan)
        #expect(try await production.find("Book").first?["tags"] == ["x"])
        #expect(try await production.send("GET", "/schemas").results.count == 1)
        try await production.send("DELETE", "/purge/Book")
        #expect(try await production.store.deploy(smaller, removes: true).changes == ["remove Book.tags"])
        #expect(try await production.store.deploymentPlan(for: smaller, removes: true) == DeploymentPlan())
    }

    @Test func aClassWithObjectsStaysUnchangedAndTheRestIsRemoved() async throws {
        let production = try await development()
        let genre = try await production.create("Genre", [:])
        try await production.send(
            "POST", "/schemas/Reader",
            [
                "fields": [
                    "nickname": ["type": "String"], "shelf": ["type": "Pointer", "targetClass": "Shelf"],
                    "books": ["type": "Relation", "targetClass": "Book"],
                ]
            ])
        let reader = try await production.create("Reader", [:])
        try await production.send(
            "POST", "/schemas/Empty", ["fields": ["next": ["type": "Pointer", "targetClass": "Nil"]]])
        let wanted = try SchemaDocument([["className": "Book", "fields": ["title": ["type": "String"]]]])
        let plan = try await production.store.deploymentPlan(for: wanted, removes: true)
        #expect(Set(plan.changes) == ["remove the class Empty", "remove the class Nil"], "\(plan)")
        #expect(
            Set(plan.kept) == [
                "keep the class Genre: it holds objects", "keep the class Reader: it holds objects",
                "keep the class Shelf: Reader.shelf leads to it", "keep Book.tags: it holds values",
                "keep Book.genre: Genre.books is its other side",
            ], "\(plan)")
        let before = try await production.send("GET", "/schemas/Reader").json
        try await production.store.deploy(wanted, removes: true, expecting: plan)
        #expect(try await production.send("GET", "/schemas/Reader").json == before)
        #expect(try await production.get("Reader", reader)["objectId"]?.string == reader)
        #expect(try await production.get("Genre", genre)["objectId"]?.string == genre)
        #expect(try await production.store.deploymentPlan(for: wanted, removes: true).isEmpty)
    }

    @Test func allImpossibleChangesAreNamedTogether() async throws {
        let production = try await development()
        _ = try await production.create("Book", ["title": "A"])
        let document = try SchemaDocument([
            [
                "className": "Book",
                "fields": [
                    "title": ["type": "Number"], "pages": ["type": "Number"], "createdAt": ["type": "String"],
                    "tags": ["__op": "Delete"],
                ], "indexes": ["by_title": ["genre": 1], "by_genre": ["genre": 1], "by_nothing": ["nothing": 1]],
                "uniqueIndexes": ["one_title": ["title": 1]],
            ], ["className": "genre"],
            [
                "className": "Shelf",
                "fields": [
                    "books": ["type": "Relation", "targetClass": "Book", "inverse": "shelf"],
                    "name": ["type": "String"],
                ],
            ],
        ])
        let before = try await production.store.schemaJSON()
        let plan = try await production.store.deploymentPlan(for: document)
        #expect(
            plan.changes == [
                "add Book.pages: Number", "add the index by_genre of Book: genre", "add the class Shelf",
                "add Shelf.name: String",
            ], "\(plan)")
        let places = [
            "the class genre: Invalid classname",
            "Book.title: Field title exists, cannot update: it is String, not Number",
            "Book.createdAt: Field createdAt exists", "Book.tags: it holds values", "the index by_title of Book: ",
            "the index by_nothing of Book: ", "the unique index one_title of Book: Tried",
            "Shelf.books: Book has no pointer shelf",
        ]
        #expect(plan.refusals.count == places.count, "\(plan)")
        for place in places {
            #expect(plan.refusals.contains { $0.hasPrefix("can't deploy \(place)") }, "\(place): \(plan)")
        }
        let error = await #expect(throws: ParseError.self) { try await production.store.deploy(document) }
        #expect(error?.code == .classNotEmpty)
        #expect(plan.refusals.allSatisfy { error?.message.contains($0) == true }, "\(String(describing: error))")
        #expect(try await production.store.schemaJSON() == before)
    }

    @Test func thePlanShowsAllPartsOfANewClass() async throws {
        let production = try await development()
        let document = try SchemaDocument([
            [
                "className": "Novel",
                "fields": [
                    "a": ["type": "String", "required": true], "b": ["type": "Number", "defaultValue": 5],
                    "genre": [
                        "type": "Pointer", "targetClass": "Genre", "required": true, "onTargetDelete": "cascade",
                    ],
                    "parts": ["type": "Relation", "targetClass": "Novel", "deleteRule": "deny", "order": false],
                ], "indexes": ["by_b": ["b": -1, "a": 1]], "uniqueIndexes": ["one_a": ["a": 1]],
            ]
        ])
        let changes = try await production.store.deploy(document).changes
        #expect(
            changes == [
                "add the class Novel", "add Novel.a: String, required", "add Novel.b: Number, defaultValue 5",
                "add Novel.genre: *Genre, required, onTargetDelete cascade",
                "add Novel.parts: Relation<Novel>, deleteRule deny, order false",
                "add the index by_b of Novel: b descending, a", "add the unique index one_a of Novel: a",
            ], "\(changes)")
    }

    /// Another program's table may contain parts that can't be rewritten.
    @Test(.onSQLite) func changesThatTheTablesCannotFollowAreReportedFirst() async throws {
        let folder = try TestDatabases()
        let connection = try Connection(path: folder.path("file.sqlite"))
        try connection.execute(
            """
            CREATE TABLE genre (id INTEGER PRIMARY KEY);
            CREATE TABLE book (id INTEGER PRIMARY KEY, pages INTEGER CHECK (pages > 0),
                genre INTEGER REFERENCES genre(id));
            CREATE VIEW Names AS SELECT id FROM genre
            """)
        try connection.close()
        let server = try TestServer(path: folder.path("file.sqlite"))
        defer { try? server.store.close() }
        let classes: [JSONValue] = [
            ["className": "genre"], ["className": "book", "fields": ["pages": ["type": "Number"]]],
        ]
        let remade = try await server.store.deploymentPlan(for: try SchemaDocument(.array(classes)), removes: true)
        #expect(remade.refusals.count == 1 && remade.refusals[0].contains("book"), "\(remade)")
        #expect(remade.changes == ["remove genre.books", "remove book.genre"])
        let view = try await server.store.deploymentPlan(for: try SchemaDocument([["className": "Names"]]))
        #expect(view.refusals.count == 1 && view.refusals[0].contains("has a view of that name"), "\(view)")
    }

    @Test func onlyTheExpectedPlanIsDeployed() async throws {
        let production = try await development()
        try await production.send("DELETE", "/purge/Book")
        let smaller = try SchemaDocument([["className": "Book", "fields": ["title": ["type": "String"]]]])
        let agreed = try await production.store.deploymentPlan(for: smaller, removes: true)
        try await production.send("POST", "/schemas/Reader", [:])
        let before = try await production.store.schemaJSON()
        let error = await #expect(throws: ParseError.self) {
            try await production.store.deploy(smaller, removes: true, expecting: agreed)
        }
        #expect(error?.code == .operationForbidden && error?.message.contains("changed since") == true)
        #expect(try await production.store.schemaJSON() == before)
        try await production.send("DELETE", "/schemas/Reader")
        #expect(try await production.store.deploy(smaller, removes: true, expecting: agreed) == agreed)
    }

    @Test func anotherTypeIsRefused() async throws {
        let production = try await development()
        let other = try SchemaDocument([["className": "Book", "fields": ["title": ["type": "Number"]]]])
        await #expect(throws: ParseError.self) { try await production.store.deploy(other) }
        #expect(throws: ParseError.self) { try SchemaDocument(["className": "Book"]) }
    }
}
