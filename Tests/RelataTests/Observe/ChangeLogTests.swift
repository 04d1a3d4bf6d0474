import Foundation
import Relata
import RelataCore
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

    @Test(arguments: Engine.shared) func readersResumeAfterReopening(_ engine: Engine) async throws {
        let database = TestDatabase(engine)
        let store = try database.open(Book.self, options: options)
        let authors = try await store.insert([Author(name: "A"), Author(name: "B")])
        try await store.update(authors[0].id) { $0.name = "C" }
        let first = try await store.changes(after: 0, atLeast: 2)
        #expect(first.map(\.change.kind) == [.insert, .update])
        #expect(first[0].change.keys.map(\.values) == authors.map { [.uuid($0.id.uuid)] })
        #expect(first[1].change.properties == ["name"])
        try store.close()

        let again = try database.open(Book.self, options: options)
        try await again.delete(Author.all)
        let second = try await again.changes(after: first[1].position, atLeast: 1)
        #expect(second.map(\.change.kind) == [.delete])
        #expect(Set(second[0].change.keys) == Set(authors.map { KeyValue(.uuid($0.id.uuid)) }))
        #expect(try await again.changes(after: second[0].position).isEmpty)
    }

    @Test(arguments: Engine.allCases) func theLogIsCommittedWithTheTransaction(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self, options: options)
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
        let changes = try await store.changes(after: 0, atLeast: 2)
        #expect(changes.count == 2 && Set(changes.map(\.batch)) == [changes[0].position])
        for await set in feed {
            #expect(set.position == changes[1].position)
            break
        }
    }

    @Test(arguments: Engine.allCases) func transactionsNameTheirAuthor(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self, options: options)
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
        let logged = try await store.changes(after: 0, atLeast: 4)
        #expect(logged.map(\.origin) == [origin, origin, ChangeOrigin("desk"), nil])
        var fed: [ChangeOrigin?] = []
        for await set in feed {
            fed.append(set.origin)
            if fed.count == 3 { break }
        }
        #expect(fed == [origin, ChangeOrigin("desk"), nil])
    }

    @Test(arguments: Engine.allCases) func objectsWithARevisionAreLoggedWithTheirVersions(_ engine: Engine) async throws
    {
        let store = try TestStore.make(engine, for: Mooring.self, Author.self, options: options)
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
        let logged = try await store.changes(after: 0, atLeast: 9)
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

    @Test(arguments: Engine.allCases) func removedChangesAreReportedAsMissed(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self, options: options)
        try await store.insert(Author(name: "A"))
        try await store.insert(Author(name: "B"))
        let changes = try await store.changes(after: 0, atLeast: 2)
        #expect(try await store.removeChanges(through: changes[0].position) == 1)
        #expect(await thrown { try await store.changes(after: 0) }?.kind == "invalidUse")
        #expect(try await store.changes(after: changes[0].position).count == 1)
        #expect(try await store.removeChanges(through: changes[1].position) == 1)
        #expect(try await store.changes(after: changes[1].position).isEmpty)
        #expect(await thrown { try await store.changes(after: 0) }?.kind == "invalidUse")
    }

    @Test(arguments: Engine.allCases) func callsWithoutAwaitReadTheSameLog(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self, options: options)
        func positions(after position: ChangePosition) throws -> [ChangePosition] {
            try store.changes(after: position).map(\.position)
        }
        func end() throws -> ChangePosition { try store.endOfChanges() }
        func remove(through position: ChangePosition) throws -> Int { try store.removeChanges(through: position) }
        func refusal(after position: ChangePosition) -> RelataError? {
            thrown { try store.changes(after: position) }
        }
        try await store.insert(Author(name: "A"))
        try await store.insert(Author(name: "B"))
        let changes = try await store.changes(after: 0, atLeast: 2)
        #expect(try positions(after: 0) == changes.map(\.position))
        #expect(try positions(after: changes[0].position) == [changes[1].position])
        let position = try end()
        #expect(try positions(after: position) == [])
        try await store.insert(Author(name: "C"))
        let later = try await store.changes(after: position, atLeast: 1)
        #expect(later.map(\.change.kind) == [.insert])
        #expect(try remove(through: changes[1].position) == 2)
        #expect(refusal(after: 0)?.kind == "invalidUse")
        #expect(try positions(after: changes[1].position) == later.map(\.position))
    }

    @Test func keysOfAllTypesRoundTrip() throws {
        let columns = try columns([.integer, .text, .real, .uuid(.blob), .data])
        let id = UUID()
        let keys = KeyList([
            KeyValue([7, "a\"\\\u{1}\n,é😀", .real(1), .uuid(id), .blob(Data([0, 255]))]),
            KeyValue([.integer(.min), "", -2.5, .uuid(id), .blob(Data())]),
        ])
        #expect(try ChangeLogFormat.keys(ChangeLogFormat.json(keys, of: columns), of: columns) == keys)
        #expect(ChangeLogFormat.json(KeyList([KeyValue("a],,[b")]), of: []) == "[\"a],,[b\"]")
        #expect(ChangeLogFormat.json(KeyList([KeyValue([1, 2]), KeyValue([3, 4])]), of: []) == "[[1,2],[3,4]]")
        #expect(thrown { try ChangeLogFormat.keys("[", of: columns) }?.kind == "corruptStore")
        for odd in [#"[{"bytes":"0g"}]"#, #"[{"real":true}]"#, "[{}]"] {
            #expect(thrown { try ChangeLogFormat.keys(odd, of: columns) }?.kind == "corruptStore", "\(odd)")
        }
    }

    /// A column of floating-point numbers may keep integers, and other programs' columns hold anything.
    @Test func numbersRoundTrip() throws {
        let numbers: [Value] = [
            .integer(2), .integer(9_007_199_254_740_993), .integer(.max), .real(2), .real(-0.5), .real(1e300),
            .real(9_007_199_254_740_992), .real(.infinity), .real(-.infinity), .null, "2",
        ]
        let keys = KeyList(values: numbers, width: 1)
        for type in [AttributeType.integer, .real, .text, .date(.seconds)] {
            for keepsIntegers in [false, true] {
                var columns = try columns([type])
                columns[0].keepsIntegers = keepsIntegers
                #expect(
                    try ChangeLogFormat.keys(ChangeLogFormat.json(keys, of: columns), of: columns).values == numbers,
                    "\(type) \(keepsIntegers)")
            }
        }
        #expect(try ChangeLogFormat.keys("[2,2.5]", of: columns([.real])).values == [.real(2), .real(2.5)])
    }

    private func columns(_ types: [AttributeType]) throws -> [Column] {
        let names = types.indices.map { "k\($0)" }
        let properties = zip(names, types).map { Property.attribute(Attribute($0, type: $1)) }
        return try Schema([Entity(name: "A", properties: properties, key: names)]).tables[0].columns
    }

    @Test(arguments: Engine.allCases) func aStoreWithoutALogSaysSo(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Author.self)
        func refusals() -> [RelataError?] {
            [
                thrown { try store.changes(after: 0) }, thrown { try store.endOfChanges() },
                thrown { try store.removeChanges(through: 1) },
            ]
        }
        #expect(refusals().map { $0?.kind } == ["invalidUse", "invalidUse", "invalidUse"])
        #expect(await thrown { try await store.changes(after: 0) }?.kind == "invalidUse")
    }
}
