import Foundation
import RelataRecords
import Synchronization
import TestEngines
import Testing

/// Classes and fields that are made by use, and refused in production.
@Suite(.onEveryEngine) struct MakingByUseTests {
    @Test func valuesOfEveryKindAreReadBackAsTheyWereSaved() async throws {
        let store = try RecordStore.make()
        let other = try await store.save(Record("Other", ["name": "O"]))
        let values: [String: RecordValue] = [
            // PostgreSQL's text can't hold U+0000.
            "text": TestEngine.current == .sqlite ? "t\u{0}é" : "té", "integer": .integer(.max), "real": 0.1,
            "boolean": true,
            "date": .date(Date(timeIntervalSince1970: 1_234_567_890.25)), "data": .data(Data([0, 255])),
            "uuid": .uuid(UUID()), "decimal": .decimal(Decimal(string: "12345678901234567890.123456789")!),
            "json": .json("{\"a\": [1]}"), "link": .link(other), "links": .links([other]),
        ]
        let saved = try await store.save(Record("Thing", values))
        let found = try #require(
            try await store.first(RecordQuery("Thing").including("links").including("link")))
        for (name, value) in values {
            #expect(saved[name] == value, "\(name)")
            #expect(found[name] == value, "\(name)")
        }
        #expect(saved.key == found.key && found.isStored && found.edits.isEmpty)
        #expect(found["createdAt"].date != nil && found["nothing"].isNull)
        #expect(found["link"]["name"] == "O" && found["links"].records.map { $0["name"] } == ["O"])
    }

    /// The number of statements that make a field of a class with this many fields, in a store with this many other
    /// classes.
    private func statements(classes: Int, fields: Int) async throws -> Int {
        let folder = try TestDatabases()
        var options = RecordStore.Options()
        let count = Atomic(0)
        options.trace = { _, _ in count.add(1, ordering: .relaxed) }
        let store = try RecordStore.open(folder.path(), options: options)
        defer { try? store.close() }
        for number in 0..<classes { try await store.save(Record("Class\(number)", ["name": "a"])) }
        let names = (0..<fields).map { ("field\($0)", RecordValue.text("a")) }
        try await store.save(Record("Note", Dictionary(uniqueKeysWithValues: names)))
        count.store(0, ordering: .relaxed)
        try await store.save(Record("Note", ["more": "a"]))
        return count.load(ordering: .relaxed)
    }

    @Test func otherClassesAndFieldsAddNoStatementsToANewField() async throws {
        let few = try await statements(classes: 2, fields: 2)
        #expect(try await statements(classes: 40, fields: 2) == few)
        #expect(try await statements(classes: 2, fields: 200) == few)
        #expect(few > 0 && few < 100)
    }

    @Test func fieldsAreCreatedOnFirstUse() async throws {
        let folder = try TestDatabases()
        let store = try RecordStore.open(folder.path())
        let one = try await store.save(Record("Note", ["text": "one"]))
        try await store.save(Record("Note", ["text": "two", "stars": 2]))
        #expect(try await store.fetch(RecordQuery("Note", where: "stars == nil")).map(\.key) == [one.key])
        #expect(try await store.refreshed(one)?["stars"] == .null)
        try store.close()
        let again = try RecordStore.open(folder.path(), mode: .production)
        #expect(try await again.classes.map(\.name) == ["Note"])
        #expect(try await again.count(RecordQuery("Note", where: "stars > 1")) == 1)
    }

    @Test func aRollbackRemovesNewClasses() async throws {
        let store = try RecordStore.make()
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await store.write { tx in
                try tx.save(Record("Note", ["text": "one"]))
                throw Stop()
            }
        }
        #expect(try await store.classes.isEmpty)
        try await store.write { tx in
            try tx.save(Record("Note", ["text": "one"]))
            try? tx.savepoint { inner in
                try inner.save(Record("Page", ["number": 1]))
                throw Stop()
            }
            // An invalid value of one field, together with a field that doesn't exist yet.
            #expect(throws: RelataError.self) { try tx.save(Record("Note", ["text": 1, "other": 2])) }
            try tx.save(Record("Note", ["text": "two", "stars": 1]))
        }
        let classes = try await store.classes
        #expect(classes.map(\.name) == ["Note"])
        #expect(classes[0].fields.map(\.name) == ["id", "createdAt", "updatedAt", "text", "stars"])
        #expect(try await store.count(RecordQuery("Note")) == 2)
    }

    @Test func productionRefusesUnknownNamesAndSuggestsSimilarOnes() async throws {
        let folder = try TestDatabases()
        let development = try RecordStore.open(folder.path())
        try await development.addMusic()
        let store = try RecordStore.open(folder.path(), mode: .production)
        func message(_ record: Record) async -> String {
            do {
                try await store.save(record)
                return ""
            } catch { return "\(error)" }
        }
        #expect(
            await message(Record("Albun", ["title": "A"])).hasPrefix("there is no class Albun: did you mean Album?"))
        #expect(
            await message(Record("Album", ["titel": "A"])).hasPrefix("Album has no field titel: did you mean title?"))
        await #expect(throws: RelataError.self) { try await store.fetch(RecordQuery("Albun")) }
        #expect(try await store.save(Record("Album", ["title": "A"])).isStored)
        // Development makes the class when it is used, so there may be none yet.
        #expect(try await development.fetch(RecordQuery("Label")).isEmpty)
        #expect(try await development.count(RecordQuery("Label")) == 0)
        #expect(try await development.fetch("Label", id: 1) == nil)
        await #expect(throws: RelataError.self) {
            try await development.fetch(RecordQuery("Album", where: "titel == 'A'"))
        }
    }

    @Test func typeErrorsNameTheClassTheFieldAndTheFix() async throws {
        let store = try RecordStore.make()
        let (miles, albums) = try await store.addMusic()
        let wrong: [(RecordValue, String)] = [
            ("soon", "Album.year: takes .integer, and was given a text (soon)"),
            (1959.5, "Album.year: takes .integer, and was given a floating-point number (1959.5)"),
            (.link(miles), "Album.year: takes .integer, and was given a link"),
        ]
        for (value, message) in wrong {
            do {
                var album = albums[0]
                album["year"] = value
                try await store.save(album)
                Issue.record("\(value) was saved")
            } catch { #expect("\(error)".hasPrefix(message), "\(error)") }
        }
        var album = albums[0]
        album["artist"] = .link(albums[1])
        await #expect(throws: RelataError.self) { try await store.save(album) }
        album["artist"] = "Miles"
        await #expect(throws: RelataError.self) { try await store.save(album) }
        #expect(try await store.refreshed(albums[0])?["artist"].link?.key == miles.key)
    }

    @Test func concurrentStoresCreateAClassOnce() async throws {
        let folder = try TestDatabases()
        let stores = [try RecordStore.open(folder.path()), try RecordStore.open(folder.path())]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let tag = Record("Tag", ["name": "tag \(number % 5)"])
                    try await stores[number % 2].save(
                        Record("Note", ["field\(number % 7)": .integer(Int64(number)), "tag": .link(tag)]))
                }
            }
            try await group.waitForAll()
        }
        for store in stores {
            #expect(try await store.count(RecordQuery("Note")) == 40)
            let note = try #require(try await store.classes.first { $0.name == "Note" })
            #expect(Set(note.fields.map(\.name)).isSuperset(of: (0..<7).map { "field\($0)" } + ["tag"]))
            #expect(try await store.count(RecordQuery("Note", where: "tag.name == 'tag 3'")) == 8)
        }
    }

    @Test func codeWithoutAsyncReadsAndWritesInTransactions() throws {
        let store = try RecordStore.make()
        let note = try store.write { tx in try tx.save(Record("Note", ["text": "one"])) }
        #expect(try store.read { tx in try tx.refreshed(note)?["text"] } == "one")
    }

    @Test func invalidNamesAreRefusedWithAFix() async throws {
        let store = try RecordStore.make()
        try await store.addMusic()
        let refused: [(Record, String)] = [
            (Record("album", ["title": "A"]), "there can't be a class album beside Album"),
            (Record("Album", ["Title": "A"]), "Album can't have a field Title beside title"),
            (Record("relata_x", ["title": "A"]), "a class can't be called \"relata_x\""),
            (Record("json_each", ["title": "A"]), "a class can't be called \"json_each\""),
            (Record("", ["title": "A"]), "a class can't be called \"\""),
            (Record("Album", ["": "A"]), "Album: a field's name can't be empty"),
            (
                Record("Album", ["tracks": .links([RecordLink("Trakc", key: KeyValue(1))])]),
                "Album.tracks leads to the class"
            ),
            (Record("Album", ["notes": .json("{")]), "Album.notes: isn't valid JSON: {"),
        ]
        for (record, message) in refused {
            do {
                try await store.save(record)
                Issue.record("\(record) was saved")
            } catch { #expect("\(error)".hasPrefix(message), "\(error)") }
        }
        #expect(try await store.classes.map(\.name) == ["Artist", "Album"])
        #expect(try await store.classes[1].fields.map(\.name).last == "year")
        try await store.save(Record("Ein \"Name\" 🎺", ["ein 'Feld'": 1]))
        #expect(try await store.fetch(RecordQuery("Ein \"Name\" 🎺", where: "`ein 'Feld'` == 1")).count == 1)
    }
}
