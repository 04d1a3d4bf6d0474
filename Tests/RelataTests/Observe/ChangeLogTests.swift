import Foundation
import Relata
import RelataCore
import RelataSQLite
import Testing

@Model private struct Mooring {
    @Attribute(.primaryKey) var harbour: String
    @Attribute(.primaryKey) var number: Int
    var name: String = ""
    @Attribute(.revision) var revision: Int
}

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

    @Test func aTransactionSaysWhoMadeIt() async throws {
        let store = try TestStore.make(.sqliteFile, for: Author.self, options: options)
        let feed = store.changes
        let origin = ChangeOrigin("Ada's \"phone\"", number: .max)
        try await store.write { tx in
            tx.origin = origin
            #expect(tx.origin == origin)
            try tx.insert(Author(name: "A"))
            try tx.insert(Author(name: "B"))
        }
        try await store.write { tx in
            tx.origin = ChangeOrigin("desk")
            try? tx.savepoint { _ in throw Rollback() }
            try tx.insert(Author(name: "C"))
        }
        try await store.insert(Author(name: "D"))
        let logged = try await store.changes(after: 0)
        #expect(logged.map(\.origin) == [origin, origin, ChangeOrigin("desk"), nil])
        var fed: [ChangeOrigin?] = []
        for await set in feed {
            fed.append(set.origin)
            if fed.count == 3 { break }
        }
        #expect(fed == [origin, ChangeOrigin("desk"), nil])
    }

    @Test func objectsWithARevisionAreLoggedWithTheirVersions() async throws {
        let store = try TestStore.make(.sqliteFile, for: Mooring.self, Author.self, options: options)
        var first = try await store.insert(Mooring(harbour: "a", number: 1))
        try await store.insert(Author(name: "A"))
        let second = try await store.insert(Mooring(harbour: "b", number: 2))
        first.name = "x"
        first = try await store.update(first)
        // Both statements name the version that the transaction ends with.
        let (old, changed) = (first, second)
        try await store.write { tx in
            _ = try tx.update(try tx.update([changed, old])[1])
            let gone = try tx.insert(Mooring(harbour: "c", number: 3))
            try tx.delete(gone)
        }
        try await store.delete(second)
        let logged = try await store.changes(after: 0)
        let versions = logged.map { row in
            let objects = zip(row.change.keys, row.versions).map { "\($0.values[1]):\($1.map(String.init) ?? "none")" }
            return "\(row.change.kind) \(objects.joined(separator: " "))"
        }
        #expect(
            versions == [
                "insert 1:1", "insert ", "insert 2:1", "update 1:2", "update 2:2 1:4", "update 1:4", "insert 3:none",
                "delete ", "delete ",
            ])
    }

    @Test func aLogInTheFirstFormatGoesOn() async throws {
        let path = TestStore.path()
        try TestStore.open(path, for: [Author.self]).close()
        let connection = try Connection(path: path)
        try connection.execute(
            """
            CREATE TABLE relata_changes (
                position INTEGER PRIMARY KEY AUTOINCREMENT, batch INTEGER NOT NULL, time INTEGER NOT NULL,
                entity TEXT NOT NULL, kind TEXT NOT NULL, ids TEXT NOT NULL, properties TEXT NOT NULL)
            """)
        try connection.execute("INSERT INTO relata_changes VALUES (7, 7, 0, 'Author', 'delete', '[]', '[]')")
        try connection.close()
        let store = try TestStore.open(path, for: [Author.self], options: options)
        try await store.write { tx in
            tx.origin = ChangeOrigin("desk", number: 1)
            try tx.insert(Author(name: "A"))
        }
        let logged = try await store.changes(after: 6)
        #expect(logged.map(\.position) == [7, 8])
        #expect(logged.map(\.origin) == [nil, ChangeOrigin("desk", number: 1)])
    }

    @Test func aLogInANewerFormatIsRefusedAndLeftAlone() async throws {
        let path = TestStore.path()
        try TestStore.open(path, for: [Author.self], options: options).close()
        let connection = try Connection(path: path)
        try connection.execute("UPDATE relata_metadata SET value = '3' WHERE name = 'change log'")
        try connection.close()
        let options = options
        let before = try Data(contentsOf: URL(fileURLWithPath: path))
        // Another model would change the tables.
        let error = thrown { try TestStore.open(path, for: [Author.self, Mooring.self], options: options) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        #expect("\(error.map(String.init(describing:)) ?? "")".contains("in version 3 of its format"))
        try TestStore.open(path, for: [Author.self]).close()
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
