import Foundation
import Relata
import Testing

/// The durable change log.
struct ChangeLogTests {
    private var options: Store.Options {
        var options = Store.Options()
        options.changeLog = true
        return options
    }

    @Test func aReaderGoesOnWhereItWasAlsoAfterOpeningAnew() async throws {
        let path = TestStore.path()
        let store = try TestStore.open(path, for: [Book.self], options: options)
        let authors = try await store.insert([Author(name: "A"), Author(name: "B")])
        try await store.update(authors[0].id) { $0.name = "C" }
        let first = try await store.changes(after: 0)
        #expect(first.map(\.change.kind) == [.insert, .update])
        #expect(first[0].change.keys.map(\.values) == authors.map { [.uuid($0.id.uuid)] })
        #expect(first[1].change.properties == ["name"])
        try store.close()

        let again = try TestStore.open(path, for: [Book.self], options: options)
        try await again.delete(Author.all)
        let second = try await again.changes(after: first[1].position)
        #expect(second.map(\.change.kind) == [.delete])
        #expect(Set(second[0].change.keys) == Set(authors.map { KeyValue(.uuid($0.id.uuid)) }))
        #expect(try await again.changes(after: second[0].position).isEmpty)
    }

    @Test func theLogIsCommittedWithTheTransactionOrNotAtAll() async throws {
        let store = try TestStore.make(.sqliteFile, for: Author.self, options: options)
        try? await store.write { tx in
            try tx.insert(Author(name: "A"))
            throw Rollback()
        }
        #expect(try await store.changes(after: 0).isEmpty)
        let feed = store.changes
        try await store.write { tx in
            try tx.insert(Author(name: "A"))
            try tx.insert(Author(name: "B"))
        }
        let changes = try await store.changes(after: 0)
        #expect(changes.count == 2 && Set(changes.map(\.batch)) == [changes[0].position])
        for await set in feed {
            #expect(set.position == changes[1].position)
            break
        }
    }

    @Test func changesThatWereRemovedAreMissed() async throws {
        let store = try TestStore.make(.sqliteFile, for: Author.self, options: options)
        try await store.insert(Author(name: "A"))
        try await store.insert(Author(name: "B"))
        let changes = try await store.changes(after: 0)
        #expect(try await store.removeChanges(through: changes[0].position) == 1)
        #expect(await thrown { try await store.changes(after: 0) }?.kind == "invalidUse")
        #expect(try await store.changes(after: changes[0].position).count == 1)
        #expect(try await store.removeChanges(through: changes[1].position) == 1)
        #expect(try await store.changes(after: changes[1].position).isEmpty)
        #expect(await thrown { try await store.changes(after: 0) }?.kind == "invalidUse")
    }

    @Test func keysOfAllTypesComeBack() throws {
        let types: [AttributeType] = [.integer, .text, .real, .uuid(.blob), .data]
        let id = UUID()
        let keys = KeyList([
            KeyValue([7, "a\"\\\u{1}\n,é😀", 1, .uuid(id), .blob(Data([0, 255]))]),
            KeyValue([.integer(.min), "", -2.5, .uuid(id), .blob(Data())]),
        ])
        let expected = KeyList([
            KeyValue([7, "a\"\\\u{1}\n,é😀", .real(1), .uuid(id), .blob(Data([0, 255]))]), keys[1],
        ])
        #expect(try ChangeLogFormat.keys(ChangeLogFormat.json(keys), types: types) == expected)
        #expect(ChangeLogFormat.json(KeyList([KeyValue("a],,[b")])) == "[\"a],,[b\"]")
        #expect(ChangeLogFormat.json(KeyList([KeyValue([1, 2]), KeyValue([3, 4])])) == "[[1,2],[3,4]]")
        #expect(thrown { try ChangeLogFormat.keys("[", types: types) }?.kind == "corruptStore")
        let noBytes = #"[{"bytes":"0g"}]"#
        #expect(thrown { try ChangeLogFormat.keys(noBytes, types: types) }?.kind == "corruptStore")
    }

    @Test func aStoreWithoutALogSaysSo() async throws {
        let store = try TestStore.make(.sqliteMemory, for: Author.self)
        #expect(await thrown { try await store.changes(after: 0) }?.kind == "invalidUse")
    }
}
