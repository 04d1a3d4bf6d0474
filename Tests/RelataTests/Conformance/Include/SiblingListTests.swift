import Relata
import RelataTesting
import Testing

/// Several lists of one object in one fetch: each has its own members, regardless of the others.
@Suite struct SiblingListTests {
    /// Discs with 0 to 4 pieces and 0 to 3 tags each, in every combination.
    private static func store(_ engine: Engine) throws -> (Store, StatementRecorder) {
        let recorder = StatementRecorder()
        let store = try TestStore.make(engine, for: Disc.self, options: recorder.options)
        let band = try store.save(Band(name: "Ash"))
        let words = try store.save((0..<3).map { Keyword(word: "w\($0)") })
        for number in 0..<20 {
            var disc = Disc(id: number + 1, title: "\(number)", band: ToOne(band))
            disc.pieces.add(
                (0..<number % 5).map { Piece(title: "\(number).\($0)", seconds: 60 * $0, disc: .unset) })
            disc.tags.set((0..<number / 5).map { words[$0] }.reversed())
            try store.insert(disc)
        }
        return (store, recorder)
    }

    private static func expect(_ disc: Disc, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let number = try #require(disc.id) - 1
        let (pieces, tags) = (try disc.pieces.objects, try disc.tags.objects)
        #expect(
            pieces.map(\.title).sorted() == (0..<number % 5).map { "\(number).\($0)" }, sourceLocation: sourceLocation)
        #expect(tags.map(\.word) == (0..<number / 5).map { "w\($0)" }.reversed(), sourceLocation: sourceLocation)
    }

    @Test(arguments: Engine.allCases) func noListMultipliesTheMembersOfAnother(_ engine: Engine) throws {
        let (store, recorder) = try Self.store(engine)
        let query = Disc.sorted { $0.id }.including {
            $0.pieces
            $0.tags
        }
        let discs = try recorder.expectQueries(3) { try store.fetch(query) }
        #expect(discs.map(\.id) == (1...20).map { $0 })
        for disc in discs { try Self.expect(disc) }
        // Whole tables aren't read for pages, for one object, or for objects that were fetched before.
        let page = try store.page(query, size: 7, after: try store.page(query, size: 7).next)
        #expect(page.objects.count == 7)
        for disc in page.objects { try Self.expect(disc) }
        let last = try store.load(try #require(try store.fetch(Disc.self, id: 20))) {
            $0.tags
            $0.pieces
        }
        try Self.expect(last)
    }

    @Test(arguments: Engine.allCases) func nestedListsDoNotMultiplyEachOther(_ engine: Engine) throws {
        let (store, recorder) = try Self.store(engine)
        let bands = try recorder.expectQueries(5) {
            try store.fetch(
                Band.all.including {
                    $0.discs.including {
                        $0.pieces
                        $0.tags.including { $0.discs }
                    }
                })
        }
        let discs = try #require(try bands.first?.discs.objects)
        #expect(discs.count == 20)
        for disc in discs { try Self.expect(disc) }
        // Back again through the inverse of the many-to-many.
        let word = try #require(try discs.first { $0.id == 20 }?.tags.objects.first { $0.word == "w2" })
        #expect(Set(try word.discs.objects.map(\.id)) == Set(16...20))
    }

    @Test(arguments: Engine.allCases) func eachListKeepsItsOwnFilterOrderAndLimit(_ engine: Engine) throws {
        let (store, recorder) = try Self.store(engine)
        let discs = try recorder.expectQueries(3) {
            try store.fetch(
                Disc.sorted { $0.id }.including {
                    $0.pieces.where { $0.seconds > 0 }.sorted { $0.seconds.descending }.limit(2)
                    $0.tags.sorted { $0.word }.limit(1)
                })
        }
        for disc in discs {
            let number = try #require(disc.id) - 1
            let seconds = (0..<number % 5).map { 60 * $0 }.filter { $0 > 0 }.reversed().prefix(2)
            #expect(try disc.pieces.objects.map(\.seconds) == Array(seconds))
            #expect(try disc.tags.objects.map(\.word) == (number / 5 > 0 ? ["w0"] : []))
        }
    }
}
