import RelataStories
import Testing

@Test func storiesAreFoundByNameInAnyCase() {
    #expect(Story.named("Bookshelf")?.name == "bookshelf")
    #expect(Story.named("nothing") == nil)
    #expect(Story.all.map(\.name) == ["bookshelf", "courses", "gallery", "notes", "setlists"])
}
