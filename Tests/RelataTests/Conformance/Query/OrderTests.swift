import Foundation
import Relata
import Testing

/// Orders, limits and pages.
@Suite struct OrderTests {
    @Test(arguments: Engine.allCases) func unsetValuesComeFirstOrLast(_ engine: Engine) throws {
        let discs = try Discs(engine)
        #expect(try discs.titles(Disc.sorted { $0.rating }) == "BECAD")
        #expect(try discs.titles(Disc.sorted { $0.rating.ascending.nulls(.first) }) == "BECAD")
        #expect(try discs.titles(Disc.sorted { $0.rating.ascending.nulls(.last) }) == "ECADB")
        #expect(try discs.titles(Disc.sorted { $0.rating.nulls(.last) }) == "ECADB")
        #expect(try discs.titles(Disc.sorted { $0.rating.descending }) == "ADCEB")
        #expect(try discs.titles(Disc.sorted { $0.rating.descending.nulls(.first) }) == "BADCE")
        #expect(try discs.titles(Disc.sorted { $0.rating.descending.nulls(.last) }) == "ADCEB")
    }

    @Test(arguments: Engine.allCases) func ownAndRelatedProperties(_ engine: Engine) throws {
        let discs = try Discs(engine)
        #expect(try discs.titles(Disc.sorted { $0.price }) == "EDABC")
        #expect(try discs.titles(Disc.sorted { $0.released.descending }) == "EADBC")
        #expect(
            try discs.titles(
                Disc.sorted {
                    $0.isLive; $0.copies.descending
                }) == "ACEBD")
        #expect(
            try discs.titles(
                Disc.sorted {
                    $0.label.name; $0.title.descending
                }) == "CEDAB")
        #expect(
            try discs.titles(
                Disc.sorted {
                    $0.label.country.descending.nulls(.last); $0.title
                }) == "ADEBC")
        #expect(try discs.titles(Disc.sorted { $0.band.origin.name.ascending.nulls(.last) }) == "CABDE")
        #expect(
            try discs.titles(
                Disc.sorted {
                    $0.pieces.count.descending; $0.title
                }) == "DABEC")
        #expect(
            try discs.titles(
                Disc.sorted {
                    $0.copies * $0.copies; $0.title.descending
                }) == "BEDCA")
        // The last requested order has precedence.
        #expect(try discs.titles(Disc.sorted { $0.title.descending }.sorted { $0.isLive }) == "ECADB")
        let byNotes = Disc.where { $0.notes != nil }
        #expect(try discs.titles(byNotes.sorted { $0.notes }) == "EDBA")
        try discs.store.update(Disc.where { $0.title == "B" }) { $0.notes.set(to: "etf") }
        let folded = byNotes.sorted { $0.notes.ascending.caseInsensitive.diacriticInsensitive }
        #expect(try discs.titles(folded) == "EDAB")
    }

    @Test(arguments: Engine.allCases) func limitsAndOffsets(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let all = Disc.sorted { $0.title }
        #expect(try discs.titles(all.limit(2)) == "AB")
        #expect(try discs.titles(all.limit(2, offset: 3)) == "DE")
        #expect(try discs.titles(all.limit(10, offset: 4)) == "E")
        #expect(try discs.titles(all.limit(10, offset: 5)) == "")
        #expect(try discs.titles(all.limit(0)) == "")
        #expect(try discs.store.count(all.limit(2)) == 2)
        #expect(try discs.store.count(all.limit(9, offset: 4)) == 1)
        #expect(try !discs.store.exists(all.limit(9, offset: 5)))
        #expect(try discs.store.first(Disc.sorted { $0.title.descending })?.title == "E")
        #expect(try discs.store.first(all.limit(9, offset: 2))?.title == "C")
        #expect(try discs.store.first(all.limit(0)) == nil)
        #expect(try discs.store.first(Disc.where { $0.title == "none" }) == nil)
        for query in [all.limit(-1), all.limit(1, offset: -1)] {
            #expect(thrown { try discs.store.fetch(query) }?.kind == "invalidUse")
        }
    }

    @Test(arguments: Engine.allCases, 0..<6)
    func pagesStayRightWhileObjectsAreAdded(_ engine: Engine, _ number: Int) throws {
        let discs = try Discs(engine)
        let orders: [Query<Disc>] = [
            Disc.sorted { $0.title }, Disc.sorted { $0.rating }, Disc.sorted { $0.rating.descending },
            Disc.sorted { $0.rating.descending.nulls(.first) },
            Disc.sorted {
                $0.label.country.ascending.nulls(.last); $0.isLive.descending
            },
            Disc.sorted {
                $0.price.descending; $0.band.name
            },
        ]
        let query = orders[number]
        var expected = try discs.titles(query)
        for size in 1...4 {
            var titles = ""
            var page = try discs.store.page(query, size: size)
            titles += page.objects.map(\.title).joined()
            var added = 0
            while let next = page.next {
                // A copy of the first object sorts before the current page: no later page shows it.
                if size == 2, added == 0, var copy = try discs.store.first(query) {
                    copy.id = 0
                    copy.title = "0"
                    added += 1
                    try discs.store.insert(copy)
                }
                page = try discs.store.page(query, size: size, after: next)
                titles += page.objects.map(\.title).joined()
            }
            #expect(titles == expected)
            expected = try discs.titles(query)
        }
    }

    @Test(arguments: Engine.allCases) func aPageOfAnotherOrderIsRefused(_ engine: Engine) throws {
        let store = try Discs(engine).store
        let next = try #require(try store.page(Disc.sorted { $0.title }, size: 2).next)
        let sent = try JSONDecoder().decode(PagePosition.self, from: try JSONEncoder().encode(next))
        #expect(try store.page(Disc.sorted { $0.title }, size: 2, after: sent).objects.map(\.title) == ["C", "D"])
        let other = Disc.sorted {
            $0.rating; $0.title; $0.copies
        }
        #expect(thrown { try store.page(other, size: 2, after: next) }?.kind == "invalidUse")
        for refused in [Disc.all.limit(3), Disc.all.limit(3, offset: 1)] {
            #expect(thrown { try store.page(refused, size: 2) }?.kind == "invalidUse")
        }
        #expect(thrown { try store.page(Disc.all, size: 0) }?.kind == "invalidUse")
    }
}
