import DocumentationSupport
import Foundation
import Relata
import RelataStories
import Testing

/// With `RELATA_RECORD=1` in the environment the pictures are drawn again instead.
@Test(arguments: Story.all.map(\.name)) func thePageOfAStoryShowsItsEntities(name: String) throws {
    let models: [String: [any Model.Type]] = [
        "bookshelf": [Book.self], "courses": [Series.self], "gallery": [Artist.self], "notes": [Note.self],
        "setlists": [Setlist.self],
    ]
    let schema = try Store.inMemory(for: try #require(models[name])).schema
    let picture = "Images/\(name.capitalized).svg"
    #expect(
        try PackageFiles.holds("Documentation/\(picture)", schema.diagram().svg),
        "\(picture) differs from the models; RELATA_RECORD=1 draws it anew")
    let page = PackageFiles.root.appendingPathComponent("Documentation/Stories/\(name.capitalized).md")
    #expect(try String(contentsOf: page, encoding: .utf8).contains("](../\(picture))"))
}
