import RelataRecords
import TestEngines
import Testing

/// Full-text search of classes.
@Suite(.onEveryEngine) struct SearchTests {
    @Test func classesAreSearchableOnceTheyDeclareIt() async throws {
        let store = try RecordStore.make()
        try await store.addMusic()
        await #expect(throws: RelataError.self) { try await store.fetch(Self.query("blue")) }
        try await store.alter { try $0.addSearch("title", in: "Album") }
        #expect(try await store.titles(Self.query("blue")) == ["Kind of Blue"])
        #expect(try await store.classes.first { $0.name == "Album" }?.search == ["title"])
        var album = try #require(try await store.first(Self.query("brew")))
        album["title"] = "Bitches Tea"
        try await store.save(album)
        #expect(try await store.titles(Self.query("brew")) == [])
        #expect(try await store.titles(Self.query("te*")) == ["Bitches Tea"])
        #expect(try await store.count(Self.query("kind OR tea", where: "year < 1965")) == 1)
        try await store.alter { try $0.addSearch(in: "Album") }
        await #expect(throws: RelataError.self) { try await store.fetch(Self.query("blue")) }
    }

    @Test func removedFieldsAreNotSearched() async throws {
        let store = try RecordStore.make()
        try await store.addMusic()
        try await store.alter { try $0.addSearch("title", in: "Album") }
        try await store.alter { try $0.removeField("title", of: "Album") }
        #expect(try await store.classes.first { $0.name == "Album" }?.search == [])
    }

    private static func query(_ text: String, where condition: String? = nil) -> RecordQuery {
        var query = RecordQuery("Album", where: condition)
        query.search = text
        return query
    }
}
