import Relata
import Testing

/// Conditions through relationships, at any depth.
@Suite struct RelationshipTests {
    @Test(arguments: Engine.allCases) func throughToOnes(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("ADE", Disc.where { $0.label.country == "NO" })
        // Values behind an unset to-one are unset.
        try discs.expect("BC", Disc.where { $0.label.country == nil })
        try discs.expect("BC", Disc.where { $0.label.country != "NO" })
        try discs.expect("BC", Disc.where { !($0.label.country == "NO") })
        try discs.expect("C", Disc.where { $0.label == nil })
        try discs.expect("AB", Disc.where { $0.band.origin.population > 600 })
        try discs.expect("CDE", Disc.where { $0.band.origin.population == nil })
        try discs.expect("DE", Disc.where { $0.band.origin == nil })
        try discs.expect("BC", Disc.where { $0.label.name.or("none") > "One" && $0.label.country == nil || $0.id == 3 })
        try discs.expect("A", Disc.where { $0.sleeve.color == "red" })
        try discs.expect("BCDE", Disc.where { $0.sleeve == nil })
        let open = try discs.store.fetch(Sleeve.where { $0.disc.band.name != "Ash" })
        #expect(open.map(\.color) == ["grey"])
    }

    @Test(arguments: Engine.allCases) func identity(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let (ash, bee) = (discs.ash, discs.bee)
        try discs.expect("AB", Disc.where { $0.band == ash })
        try discs.expect("CDE", Disc.where { $0.band != ash })
        try discs.expect("AB", Disc.where { $0.band == ash.id })
        try discs.expect("CDE", Disc.where { $0.band != ash.id })
        try discs.expect("ADE", Disc.where { $0.label == "One" })
        try discs.expect("BC", Disc.where { $0.label != "One" })
        try discs.expect("ABC", Disc.where { $0.band.in([ash, bee]) })
        try discs.expect("B", Disc.where { $0.label.in(ids: ["Two", "Void"]) })
        try discs.expect("AB", Disc.where { $0.band.origin == "Oslo" })
        try discs.expect("ABCDE", Disc.where { $0.band == $0.band })
        let first = try #require(try discs.store.first(Disc.where { $0.title == "A" }))
        #expect(try discs.store.count(Piece.where { $0.disc == first.id }) == 2)
        #expect(try discs.store.count(Piece.where { $0.disc != first.id }) == 5)
    }

    @Test(arguments: Engine.allCases) func objectsWithoutAKeyAreRefusedInConditions(_ engine: Engine) throws {
        let store = try Discs(engine).store
        let new = Disc(title: "new", band: .unset)
        for query in [
            Piece.where { $0.disc == new }, Piece.where { $0.disc != new }, Piece.where { $0.disc == new.id },
            Piece.where { $0.disc != new.id }, Piece.where { $0.disc.in([new]) },
        ] {
            let error = thrown { try store.fetch(query) }
            #expect(error?.description.contains("a Disc without a key isn't stored") == true, "\(error as Any)")
        }
        for query in [
            Band.where { $0.discs.contains(new) }, Band.where { !$0.discs.contains(id: new.id) },
        ] {
            #expect(thrown { try store.count(query) }?.kind == "invalidUse")
        }
    }

    @Test(arguments: Engine.allCases) func anyAllNone(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("D", Disc.where { $0.pieces.any { $0.seconds > 250 } })
        try discs.expect("D", Disc.where { $0.pieces.contains { $0.seconds > 250 } })
        try discs.expect("ACD", Disc.where { $0.pieces.all { $0.seconds >= 100 } })
        try discs.expect("BCE", Disc.where { $0.pieces.none { $0.seconds == 200 } })
        try discs.expect("ABCE", Disc.where { !$0.pieces.any { $0.seconds > 250 } })
        try discs.expect("C", Disc.where { $0.pieces.isEmpty })
        try discs.expect("ABD", Disc.where { $0.tags.any { $0.word == "rock" } })
        try discs.expect("CE", Disc.where { $0.tags.all { $0.word == "jazz" } })
        // Both conditions on the same object, or each on one.
        try discs.expect("", Disc.where { $0.pieces.any { $0.seconds == 100 && $0.title.hasSuffix("1") } })
        try discs.expect(
            "A", Disc.where { $0.pieces.any { $0.seconds == 100 } && $0.pieces.any { $0.title.hasSuffix("1") } })
    }

    @Test(arguments: Engine.allCases) func membership(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let rock = discs.rock
        try discs.expect("ABD", Disc.where { $0.tags.contains(rock) })
        try discs.expect("CE", Disc.where { !$0.tags.contains(rock) })
        try discs.expect("DE", Disc.where { $0.tags.contains(id: "jazz") })
        try discs.expect("ADE", Disc.where { $0.tags.contains(ids: ["live", "jazz", "nothing"]) })
        try discs.expect("", Disc.where { $0.tags.contains(ids: []) })
        try discs.expect("B", Disc.where { $0.pieces.contains(id: 20) })
        let words = try discs.store.fetch(Keyword.where { $0.discs.contains(id: 4) }.sorted { $0.word })
        #expect(words.map(\.word) == ["jazz", "rock"])
    }

    @Test(arguments: Engine.allCases) func figuresOfRelatedObjects(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("D", Disc.where { $0.pieces.count == 3 })
        try discs.expect("C", Disc.where { $0.pieces.count == 0 })
        try discs.expect("D", Disc.where { $0.pieces.count(where: { $0.seconds == 200 }) == 2 })
        try discs.expect("AD", Disc.where { $0.pieces.sum { $0.seconds } > 250 })
        try discs.expect("C", Disc.where { $0.pieces.sum { $0.seconds } == 0 })
        try discs.expect("A", Disc.where { $0.pieces.average { $0.seconds } == 150 })
        try discs.expect("C", Disc.where { $0.pieces.average { $0.seconds } == nil })
        try discs.expect("B", Disc.where { $0.pieces.minimum { $0.seconds } == 50 })
        try discs.expect("AD", Disc.where { $0.pieces.maximum { $0.seconds } >= 200 })
        try discs.expect("C", Disc.where { $0.pieces.maximum { $0.title } == nil })
        try discs.expect("DE", Disc.where { $0.band.discs.sum { $0.copies } == 0 })
    }

    @Test(arguments: Engine.allCases) func atDepth(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("DE", Disc.where { $0.band.discs.any { $0.pieces.any { $0.seconds > 250 } } })
        try discs.expect("ADE", Disc.where { $0.label.discs.any { $0.tags.contains(id: "jazz") } })
        try discs.expect("AB", Disc.where { $0.band.discs.pieces.count == 3 })
        try discs.expect("ABDE", Disc.where { $0.band.discs.tags.contains { $0.word == "rock" } })
        try discs.expect("A", Disc.where { disc in disc.pieces.any { $0.seconds == disc.copies * 10 } })
        try discs.expect("ABCE", Disc.where { disc in disc.band.discs.all { $0.price >= disc.price } || disc.id == 2 })
        let store = discs.store
        let bands = try store.fetch(Band.where { $0.discs.pieces.any { $0.seconds < 60 } }.sorted { $0.name })
        #expect(bands.map(\.name) == ["Ash", "Cid"])
        let towns = try store.fetch(
            Piece.where { $0.disc.band.origin.name == "Oslo" }.select { $0.disc.band.origin.name })
        #expect(towns == ["Oslo", "Oslo", "Oslo"])
    }
}
