import Testing

@testable import RelataCore

/// The conditions that an index answers, so that objects are found from those they are related to.
@Suite struct SelectivityTests {
    let schema: Schema
    let album: Table

    init() throws {
        schema = try Schema(MusicEntities.all)
        album = try #require(schema["Album"])
    }

    private func equals(_ path: String, _ value: Value = 1, scope: Int = 0) -> ExpressionNode {
        .comparison(
            .equal, .property(scope: scope, path: path.split(separator: ".").map(String.init)), .value(value), [])
    }

    private func isPinned(_ condition: ExpressionNode) -> Bool { schema.pins(condition, scope: 0, table: album) }

    @Test func keysAndReferencesAreIndexed() {
        #expect(isPinned(equals("id")))
        #expect(isPinned(equals("artist", "a")))
        #expect(isPinned(equals("artist.id", "a")))
        #expect(!isPinned(equals("title", "x")))
        #expect(!isPinned(equals("artist.name", "x")))
        #expect(!isPinned(equals("tracks.id")))
        #expect(!isPinned(equals("id", nil)))
        #expect(!isPinned(equals("id", scope: 1)))
    }

    @Test func oneOfSeveralConditionsIsEnoughIfAllMustHold() {
        #expect(isPinned(.and([equals("title", "x"), equals("id")])))
        #expect(!isPinned(.or([equals("title", "x"), equals("id")])))
        #expect(isPinned(.or([equals("artist", "a"), equals("id")])))
        #expect(!isPinned(.or([])))
    }

    @Test func conditionsOnRelatedObjectsUseTheirIndexes() {
        let tracks = RelatedSet(scope: 0, path: ["tracks"], innerScope: 1)
        #expect(isPinned(.quantified(.any, tracks, condition: equals("id", scope: 1))))
        #expect(!isPinned(.quantified(.any, tracks, condition: equals("title", "x", scope: 1))))
        #expect(!isPinned(.quantified(.none, tracks, condition: equals("id", scope: 1))))
        let others = RelatedSet(scope: 1, path: ["tracks"], innerScope: 2)
        #expect(!isPinned(.quantified(.any, others, condition: equals("id", scope: 2))))
    }
}
