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
}

/// An é that is one character, and an e with an accent: equal to Swift, and two texts to a database.
@Suite struct ComposedTextTests {
    private let composed = "caf\u{e9}"
    private let decomposed = "cafe\u{301}"

    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test(arguments: Engine.allCases) func anUpdateThatOnlyComposesATextIsWritten(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: AccentedLine.self)
        let line = try store.insert(AccentedLine(text: decomposed))
        try store.update(line.id) { $0.text = composed }
        let stored = try store.refresh(line)
        #expect(bytes(stored.text) == bytes(composed))
    }

    @Test(arguments: Engine.allCases) func sqlIsNotTakenForSQLThatLooksTheSame(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: AccentedLine.self)
        try store.insert([AccentedLine(text: composed), AccentedLine(text: decomposed)])
        #expect(try store.rows("SELECT text FROM AccentedLine WHERE text = 'caf\u{e9}'") == [[.text(composed)]])
        #expect(try store.rows("SELECT text FROM AccentedLine WHERE text = 'cafe\u{301}'") == [[.text(decomposed)]])
    }

    @Test(arguments: Engine.allCases) func observersOfTextsThatLookTheSameGetTheirOwn(_ engine: Engine) async throws {
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

    @Test(arguments: Engine.allCases) func noObjectIsLostWhoseKeyLooksLikeAnothers(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: AccentedTopic.self)
        let (one, other) = (AccentedTopic(name: composed), AccentedTopic(name: decomposed))
        #expect(thrown { try store.save([one, other]) }?.kind == "invalidUse")
        #expect(
            thrown { try store.save(AccentedTopic(name: "x", related: ToMany([one, other]))) }?.kind == "invalidUse")
        #expect(try store.count(AccentedTopic.all) == 0)
        try store.save(one)
        try store.save(other)
        #expect(try store.count(AccentedTopic.all) == 2)
        let key = composed
        #expect(thrown { try store.update(AccentedTopic.self, id: key) { $0.name = decomposed } }?.kind == "invalidUse")
        try store.update(AccentedTopic.self, id: key) { $0.note = "n" }
        #expect(try store.rows("SELECT name FROM AccentedTopic WHERE note = 'n'") == [[.text(composed)]])
    }
}
