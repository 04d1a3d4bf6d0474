import Relata
import TestEngines
import Testing

@testable import RelataParse

/// Hooks run for every way in which a client changes objects.
@Suite(.onEveryEngine) struct HookTests {
    private let told = ToldLines()

    private func server(_ store: Store) throws -> TestServer {
        let told = told
        return TestServer(
            try ParseStore.serving(store) { hooks in
                hooks.beforeSave(ShelfBook.self) { book, change in
                    if book.title == "fixed", change.original?.genre != book.genre {
                        throw ParseError(.validationError, "it stays where it is")
                    }
                    told.add("saving \(book.title), \(change.isNew ? "new" : "known")")
                }
                hooks.afterSave(ShelfBook.self) { book in told.add("saved \(book.title)") }
                hooks.beforeDelete(ShelfBook.self) { book, _ in
                    if book.title == "kept" { throw ParseError(.operationForbidden, "kept") }
                    told.add("deleting \(book.title)")
                }
                hooks.afterDelete(ShelfBook.self) { book in told.add("deleted \(book.title)") }
            })
    }

    @Test func objectsThatJoinARelationAreSaved() async throws {
        let store = try Store.make(for: ShelfBook.self)
        let server = try server(store)
        let genre = try await server.create("ShelfGenre", ["name": "Fantasy"])
        let free = try await server.create("ShelfBook", ["title": "free", "year": 1])
        let fixed = try await server.create("ShelfBook", ["title": "fixed", "year": 1])
        let before = told.all.count
        let add = try await server.send(
            "PUT", "/classes/ShelfGenre/\(genre)", ["books": adding(pointer("ShelfBook", free))])
        #expect(add.status == 200, "\(add.json)")
        #expect(Array(told.all[before...]) == ["saving free, known", "saved free"])
        // The object is a member already, so nothing changes.
        _ = try await server.send(
            "PUT", "/classes/ShelfGenre/\(genre)", ["books": adding(pointer("ShelfBook", free))])
        #expect(told.all.count == before + 2)
        let refused = try await server.send(
            "PUT", "/classes/ShelfGenre/\(genre)",
            ["name": "Other", "books": adding(pointer("ShelfBook", fixed))])
        #expect(refused.code == 142)
        #expect(try await server.get("ShelfGenre", genre)["name"] == "Fantasy")
        #expect(try await server.get("ShelfBook", fixed)["genre"] == nil)
        #expect(try await server.get("ShelfBook", free)["genre"] == pointer("ShelfGenre", genre))
    }

    @Test func aPurgeCallsTheHooksForEachObject() async throws {
        let store = try Store.make(for: ShelfBook.self)
        let server = try server(store)
        for title in ["a", "b"] { _ = try await server.create("ShelfBook", ["title": .string(title), "year": 1]) }
        let kept = try await server.create("ShelfBook", ["title": "kept", "year": 1])
        #expect(try await server.send("DELETE", "/purge/ShelfBook").code == 119)
        #expect(try await store.fetch(ShelfBook.all).count == 3)
        #expect(!told.all.contains { $0.hasPrefix("deleted") })
        try await server.send("PUT", "/classes/ShelfBook/\(kept)", ["title": "c"])
        let before = told.all.count
        #expect(try await server.send("DELETE", "/purge/ShelfBook").status == 200)
        #expect(
            Set(told.all[before...])
                == ["deleting a", "deleting b", "deleting c", "deleted a", "deleted b", "deleted c"])
        #expect(try await store.fetch(ShelfBook.all).isEmpty)
    }
}
