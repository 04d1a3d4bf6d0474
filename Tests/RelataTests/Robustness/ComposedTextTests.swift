import Relata
import Testing

@Model private struct AccentedLine {
    let id: ID<AccentedLine>
    var text: String
}

@Model private struct AccentedTopic {
    @Attribute(.primaryKey) var name: String
    var note: String = ""
    var related: ToMany<AccentedTopic>
    var parent: ToOne<AccentedTopic>?
    @Relationship(inverse: \AccentedTopic.parent) var children: ToMany<AccentedTopic>
    var place: ToOne<AccentedPlace>?
}

@Model private struct AccentedPlace {
    @Attribute(.primaryKey) let name: String
    @Attribute(.primaryKey) let number: Int
}

@Shape(of: AccentedTopic.self) private struct AccentedNote {
    var note: String
}

/// An é that is one character, and an e with an accent: equal to Swift, and two texts to a database.
@Suite struct ComposedTextTests {
    private let composed = "caf\u{e9}"
    private let decomposed = "cafe\u{301}"

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(arguments: Engine.allCases) func normalizingUpdatesAreWritten(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: AccentedLine.self)
        let line = try store.insert(AccentedLine(text: decomposed))
        try store.update(line.id) { $0.text = composed }
        let stored = try store.refresh(line)
        #expect(bytes(stored.text) == bytes(composed))
    }

    @Test(arguments: Engine.allCases) func canonicallyEqualSQLIsDistinguished(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: AccentedLine.self)
        try store.insert([AccentedLine(text: composed), AccentedLine(text: decomposed)])
        #expect(
            try store.rows(#"SELECT "text" FROM "AccentedLine" WHERE "text" = 'caf\#u{e9}'"#) == [[.text(composed)]])
        #expect(
            try store.rows(#"SELECT "text" FROM "AccentedLine" WHERE "text" = 'cafe\#u{301}'"#) == [[.text(decomposed)]]
        )
    }

    @Test(arguments: Engine.allCases) func observersOfCanonicallyEqualTextsAreSeparate(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: AccentedLine.self)
        try await store.insert([
            AccentedLine(text: composed), AccentedLine(text: composed), AccentedLine(text: decomposed),
        ])
        let (one, other) = (composed, decomposed)
        var first = store.observe(countOf: AccentedLine.where { $0.text == one }).makeAsyncIterator()
        var second = store.observe(countOf: AccentedLine.where { $0.text == other }).makeAsyncIterator()
        var third = store.observe(countOf: AccentedLine.matching("text == '\(other)'")).makeAsyncIterator()
        var fourth = store.observe(countOf: AccentedLine.matching("text == '\(one)'")).makeAsyncIterator()
        let counts = try await [first.next(), second.next(), third.next(), fourth.next()]
        #expect(counts == [2, 1, 1, 2])
    }

    @Test(arguments: Engine.allCases) func objectsWithCanonicallyEqualKeysAreKept(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: AccentedTopic.self)
        let (one, other) = (AccentedTopic(name: composed), AccentedTopic(name: decomposed))
        try store.save([one, other])
        let topic = try store.save(AccentedTopic(name: "x", related: ToMany([one, other])))
        #expect(try Set(topic.related.objects.map { bytes($0.name) }) == [bytes(composed), bytes(decomposed)])
        #expect(try store.rows(#"SELECT count(*) FROM "AccentedTopic_related""#) == [[.integer(2)]])
        #expect(try store.count(AccentedTopic.all) == 3)
        let key = composed
        #expect(thrown { try store.update(AccentedTopic.self, id: key) { $0.name = decomposed } }?.kind == "invalidUse")
        try store.update(AccentedTopic.self, id: key) { $0.note = "n" }
        #expect(try store.rows(#"SELECT "name" FROM "AccentedTopic" WHERE "note" = 'n'"#) == [[.text(composed)]])
    }

    @Test(arguments: Engine.allCases) func includesAndTreesSeparateCanonicallyEqualKeys(
        _ engine: Engine
    ) throws {
        let store = try TestStore.make(engine, for: AccentedTopic.self)
        let names = [composed, decomposed]
        let root = try store.save(AccentedTopic(name: "root"))
        for name in names {
            try store.save(AccentedPlace(name: name, number: 1))
            try store.save(AccentedTopic(name: name, note: "\(name.utf8.count)", parent: ToOne(id: "root")))
            let leaf = AccentedTopic(
                name: "of \(name.utf8.count)", related: ToMany([root]), parent: ToOne(id: name),
                place: ToOne(id: AccentedPlace.Key(name: name, number: 1)))
            try store.save(leaf)
            try store.update(AccentedTopic.self, id: leaf.name) { $0.related.add(id: name) }
            try store.update(AccentedTopic.self, id: "root") { $0.related.add(id: name) }
        }
        let expected = names.map(bytes)
        let leaves = try store.fetch(
            AccentedTopic.where { $0.name.hasPrefix("of") }.sorted { $0.name.descending }.including {
                $0.parent; $0.related; $0.place
            })
        #expect(try leaves.map { bytes(try #require($0.parent).object.name) } == expected.reversed())
        #expect(try leaves.map { bytes(try #require($0.place).object.name) } == expected.reversed())
        #expect(
            try leaves.map { try Set($0.related.objects.map { bytes($0.name) }) }
                == expected.reversed().map { [$0, bytes("root")] })
        let all = try #require(try store.first(AccentedTopic.where { $0.name == "root" }.including { $0.related }))
        #expect(try Set(all.related.objects.map { bytes($0.name) }) == Set(expected))
        // Down, and up again.
        let tree = try #require(
            try store.first(AccentedTopic.where { $0.name == "root" }.including { $0.children.recursive() }))
        #expect(try Set(tree.children.objects.map { bytes($0.name) }) == Set(expected))
        for child in try tree.children.objects {
            #expect(try child.children.objects.map(\.name) == ["of \(child.name.utf8.count)"])
        }
        let paths = try store.load(leaves) { $0.parent.recursive() }
        #expect(try paths.map { bytes(try #require($0.parent).object.name) } == expected.reversed())
    }

    @Test(arguments: Engine.allCases) func canonicallyEqualKeysAreDistinguishedEverywhere(_ engine: Engine) async throws
    {
        let store = try TestStore.make(engine, for: AccentedTopic.self)
        let (one, other) = (AccentedTopic(name: composed, note: "1"), AccentedTopic(name: decomposed, note: "2"))
        var topic = try await store.save(AccentedTopic(name: "x", related: ToMany([one, other])))
        let keys = [composed, decomposed].map { ObjectKey(AccentedTopic.self, $0) }
        let found = try await store.fetch(ids: keys)
        #expect(found.map { $0.object(as: AccentedTopic.self)?.note } == ["1", "2"])

        var first = store.observe(AccentedTopic.self, id: composed).makeAsyncIterator()
        var second = store.observe(AccentedTopic.self, id: decomposed).makeAsyncIterator()
        #expect(try await [first.next()??.note, second.next()??.note] == ["1", "2"])

        #expect(ToOne<AccentedTopic>(id: composed) != ToOne(id: decomposed))
        topic.related.remove(one)
        #expect(try topic.related.objects.map { bytes($0.name) } == [bytes(decomposed)])
        topic.related.add([one])
        #expect(try topic.related.objects.count == 2)
        topic.related.remove(id: decomposed)
        #expect(try topic.related.objects.map { bytes($0.name) } == [bytes(composed)])
        topic = try await store.save(topic)
        #expect(try topic.related.objects.map { bytes($0.name) } == [bytes(composed)])

        let (key, names) = (composed, [composed, decomposed])
        var lists = store.observe(AccentedTopic.where { $0.name.in(names) }.sorted { $0.note }).differences
            .makeAsyncIterator()
        var shapes = store.observe(AccentedNote.where { $0.name.in(names) }.sorted { $0.note }).differences
            .makeAsyncIterator()
        #expect(try await lists.next()?.inserted.count == 2)
        #expect(try await shapes.next()?.inserted.count == 2)
        try await store.delete(AccentedTopic.self, id: key)
        let (list, shape) = (try #require(try await lists.next()), try #require(try await shapes.next()))
        #expect(list.removed.map(\.element.note) == ["1"] && list.updated.isEmpty)
        #expect(shape.removed.map(\.element.note) == ["1"] && shape.updated.isEmpty)
    }
}
