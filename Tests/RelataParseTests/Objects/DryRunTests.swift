import RelataCore
import RelataEngine
import RelataParse
import RelataSQLite
import TestEngines
import Testing

/// A spelling mistake in a dry run must not cause a deletion.
@Suite(.onEveryEngine) struct DryRunTests {
    @Test(arguments: ["dryRun", "dryRun=1", "dryRun=true", "dryRun=TRUE", "dryRun="])
    func aDryRunDeletesNothing(_ parameters: String) async throws {
        let server = try TestServer()
        let id = try await server.create("Book", ["title": "A"])
        let plan = try await server.send("DELETE", "/classes/Book/\(id)?\(parameters)")
        #expect(plan["deleted"]?.array?.count == 1, "\(plan.json)")
        let purge = try await server.send("DELETE", "/purge/Book?\(parameters)")
        #expect(purge["deleted"]?.array?.first?["objectIds"]?.array?.first?.string == id, "\(purge.json)")
        #expect(try await server.get("Book", id)["title"] == "A")
    }

    @Test(arguments: ["dryRun=yes", "dryRun=2", "dryRun=on", "dryrun=1", "dry_run=1", "dryRun=1&force=1"])
    func aMisspeltDryRunIsRefused(_ parameters: String) async throws {
        let server = try TestServer()
        let id = try await server.create("Book", ["title": "A"])
        #expect(try await server.send("DELETE", "/classes/Book/\(id)?\(parameters)").code == 102)
        #expect(try await server.send("DELETE", "/purge/Book?\(parameters)").code == 102)
        #expect(try await server.get("Book", id)["title"] == "A")
    }

    @Test func aPlanNamesTheRelationsAlongWhichItSpreads() async throws {
        let server = try TestServer()
        let genre = try await server.create("Genre", ["name": "A"])
        let cascade: JSONValue = ["onTargetDelete": "cascade", "type": "Pointer"]
        for (name, target) in [("Book", "Genre"), ("Review", "Book")] {
            var field = cascade.object ?? [:]
            field["targetClass"] = .string(target)
            let made = try await server.send(
                "POST", "/schemas/\(name)", ["fields": .object(["owner": .object(field)])])
            #expect(made.status == 200, "\(made.json)")
        }
        let book = try await server.create("Book", ["owner": pointer("Genre", genre)])
        _ = try await server.create("Review", ["owner": pointer("Book", book)])
        let plan = try await server.send("GET", "/classes/Genre/\(genre)?deletionPlan=1")
        #expect(
            plan["cascades"]
                == [
                    ["className": "Genre", "relation": "Book.owner", "target": "Book"],
                    ["className": "Book", "relation": "Review.owner", "target": "Review"],
                ], "\(plan.json)")
    }

    @Test func aPlanNamesThePairsThatLeaveRelations() async throws {
        let server = try TestServer()
        let (a, b) = (
            try await server.create("Author", ["name": "A"]), try await server.create("Author", ["name": "B"])
        )
        let authors: JSONValue = ["__op": "AddRelation", "objects": [pointer("Author", a), pointer("Author", b)]]
        let book = try await server.create("Book", ["authors": authors])
        let plan = try await server.send("GET", "/classes/Author/\(a)?deletionPlan=1")
        let pair: JSONValue = [.string(book), .string(a)]
        #expect(plan["removedRelations"] == [["relation": "Book.authors", "pairs": [pair]]], "\(plan.json)")
        #expect(plan["deleted"] == [["className": "Author", "objectIds": [.string(a)]]])
        let all = try await server.send("DELETE", "/classes/Book/\(book)?dryRun=1")["removedRelations"]?.array
        let pairs = all?.first?["pairs"]?.array?.compactMap { $0.array?.compactMap(\.string) } ?? []
        #expect(all?.count == 1 && pairs.count == 2 && Set(pairs) == [[book, a], [book, b]], "\(all ?? [])")
        #expect(try await server.send("DELETE", "/classes/Author/\(a)").status == 200)
        let related: JSONValue = ["$relatedTo": ["object": pointer("Book", book), "key": "authors"]]
        #expect(try await server.find("Author", where: related).compactMap { $0["name"]?.string } == ["B"])
    }

    /// If a trigger prevents the deletion, the reply doesn't say that it was done.
    @Test(.onSQLite) func aDeletionThatATriggerPreventsIsAnError() async throws {
        let folder = try TestDatabases()
        let path = try folder.path("books.sqlite")
        let server = try TestServer(path: path)
        defer { try? server.store.close() }
        let genre = try await server.create("Genre", ["name": "A"])
        let cascade: JSONValue = [
            "fields": ["genre": ["type": "Pointer", "targetClass": "Genre", "onTargetDelete": "cascade"]]
        ]
        #expect(try await server.send("POST", "/schemas/Book", cascade).status == 200)
        let book = try await server.create("Book", ["genre": pointer("Genre", genre)])
        let connection = try Connection(path: path)
        try connection.execute(
            "CREATE TRIGGER guard BEFORE DELETE ON \"Genre\" BEGIN SELECT RAISE(IGNORE); END")
        try connection.close()
        let dryRun = try await server.send("DELETE", "/classes/Genre/\(genre)?dryRun=true")
        #expect(dryRun["deleted"]?.array?.count == 2, "\(dryRun.json)")
        for (method, target) in [("DELETE", "/classes/Genre/\(genre)"), ("DELETE", "/purge/Genre")] {
            let reply = try await server.send(method, target)
            #expect(reply.status >= 400, "\(reply.json)")
            #expect(reply.json["error"]?.string?.contains("trigger") == true, "\(reply.json)")
        }
        #expect(try await server.get("Genre", genre)["name"] == "A")
        #expect(try await server.get("Book", book)["objectId"]?.string == book)
    }

    @Test func aDryRunThatIsOffDeletes() async throws {
        let server = try TestServer()
        for value in ["0", "false"] {
            let id = try await server.create("Book", ["title": "A"])
            #expect(try await server.send("DELETE", "/classes/Book/\(id)?dryRun=\(value)").json == [:])
            #expect(try await server.get("Book", id)["code"] == 101)
        }
    }

    @Test func otherFlagsMustBeTrueOrFalseToo() async throws {
        let server = try TestServer()
        let id = try await server.create("Book", ["title": "A"])
        #expect(try await server.send("GET", "/classes/Book?count=maybe").code == 102)
        #expect(try await server.send("GET", "/classes/Book?count").json["count"] == 1)
        #expect(try await server.send("GET", "/classes/Book/\(id)?deletionPlan=0").json["title"] == "A")
        #expect(try await server.send("GET", "/classes/Book/\(id)?deletionPlan=perhaps").code == 102)
    }

    @Test func aContradictoryDryRunDeletesNothing() async throws {
        let server = try TestServer()
        let id = try await server.create("Book", ["title": "A"])
        #expect(try await server.send("DELETE", "/classes/Book/\(id)?dryRun=1&dryRun=0").code == 102)
        #expect(try await server.send("DELETE", "/classes/Book/\(id)?dryRun=1", ["dryRun": false]).code == 102)
        #expect(try await server.get("Book", id)["title"] == "A")
    }
}
