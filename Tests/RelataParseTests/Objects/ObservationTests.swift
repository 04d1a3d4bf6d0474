import RelataParse
import RelataRecords
import TestEngines
import Testing

/// Clients' changes, as the rest of the program observes them.
@Suite(.timeLimit(.minutes(20)), .onEveryEngine) struct ObservationTests {
    @Test func objectsThatClientsWriteAreObservedWithTheirClass() async throws {
        let server = try TestServer()
        let records = server.store.records
        let feed = records.changes
        var titles = records.observe { tx in try tx.fetch(RecordQuery("Book", sort: "title")).map { $0["title"] } }
            .makeAsyncIterator()
        #expect(try await titles.next() == [])
        let id = try await server.create("Book", ["title": "Emma"])
        #expect(try await titles.next() == ["Emma"])
        try await server.send("PUT", "/classes/Book/\(id)", ["title": "Persuasion", "year": 1817])
        #expect(try await titles.next() == ["Persuasion"])
        try await server.send("DELETE", "/classes/Book/\(id)")
        #expect(try await titles.next() == [])
        // A new class or field is a change of all classes without objects' keys.
        var kinds: [Change.Kind] = []
        for await set in feed {
            for change in set.changes where change.kind != .unknown {
                #expect(change.entity == "Book" && Array(change.keys) == [KeyValue(.text(id))])
                kinds.append(change.kind)
            }
            if kinds.last == .delete { break }
        }
        #expect(kinds == [.insert, .update, .delete])
    }

    @Test func recordsAndClientsWriteTheSameObjects() async throws {
        let server = try TestServer()
        let id = try await server.create("Book", ["title": "Emma", "stars": 4])
        let records = server.store.records
        var book = try #require(try await records.fetch("Book", id: .text(id)))
        #expect(book["title"] == "Emma" && book["stars"].real == 4)
        book["title"] = "Persuasion"
        book["author"] = .link(Record("Author", ["name": "Jane Austen"]))
        try await records.save(book)
        let made = try await records.save(Record("Book", ["title": "Sanditon"]))
        let found = try await server.get("Book", id)
        #expect(found["title"] == "Persuasion" && found["author"]?["className"] == "Author")
        #expect(made.key?.description.count == 10)
        #expect(try await server.get("Book", made.key?.description ?? "")["title"] == "Sanditon")
    }
}
