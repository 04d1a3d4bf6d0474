import Relata
import Testing

@Suite struct AncestryTests {
    @Test func ancestorsAndDescendantsAreQueriesLikeAnyOther() throws {
        let store = try Store.inMemory(for: Folder.self)
        let root = Folder(name: "root")
        let docs = Folder(name: "docs", parent: ToOne(id: root.id))
        let drafts = Folder(name: "drafts", parent: ToOne(id: docs.id))
        let music = Folder(name: "music", parent: ToOne(id: root.id))
        try store.write { tx in
            try tx.insert([root, docs, drafts, music])
            let below = root.descendants { $0.children }
            #expect(try tx.fetch(below.sorted { $0.name }).map(\.name) == ["docs", "drafts", "music"])
            #expect(try tx.count(below.where { $0.name.hasPrefix("d") }) == 2)
            #expect(try tx.fetch(drafts.ancestors { $0.parent }.sorted { $0.name }).map(\.name) == ["docs", "root"])
            #expect(try tx.count(music.descendants { $0.children }) == 0)
        }
    }
}
