import Relata
import RelataStories
import Testing

@Test func theGalleryFollowsItsDeleteRules() async throws {
    let told = try await Told(.gallery)
    #expect(
        try told.part("Five keys of two types; one isn't there").filter { $0.contains("Amara") } == [
            "! Artist Amara Diallo doesn't exist: insert it, or use save to insert or update",
            "Amara Diallo is saved; once more for what was missing:",
            "✓ Artist Amara Diallo",
        ])
    let each = try told.part("Each object by itself: one fails, what needs it fails with it, the others are saved")
    #expect(each.map { $0.prefix(1) } == ["✓", "!", "!", "✓"])
    let plan = try told.part("An artist goes, with her works and what hangs on them")
    #expect(Array(plan[1...3]) == Array(plan[5...7]), "the plan and the deletion differ")

    let store = try await Gallery.open(in: told.folder).store
    #expect(try await store.rows("SELECT name, country FROM Artist") == [["Mei Chen", "China"]])
    #expect(
        try await store.rows("SELECT title, year, artistId, collectionId FROM Artwork") == [
            ["Paper Lanterns", 2004, "Mei Chen", nil]
        ])
    #expect(try await store.rows("SELECT * FROM Collection").isEmpty)
    #expect(try await store.rows("SELECT * FROM Comment").isEmpty)
    #expect(try await store.rows("PRAGMA foreign_key_check").isEmpty)
}

@Test func aReferenceThatMayDangleKeepsItsKey() async throws {
    let told = try await Told(.gallery)
    let store = try await Store.open(told.file("loose-gallery.sqlite"), for: LooseGallery.Artwork.self)
    #expect(try await store.count(LooseGallery.Artist.all) == 0)
    let lanterns = try #require(try await store.fetch(LooseGallery.Artwork.self, id: "Paper Lanterns"))
    #expect(lanterns.artist.id == "Mei Chen")
    #expect(try await store.fetch(lanterns.artist) == nil)
}
