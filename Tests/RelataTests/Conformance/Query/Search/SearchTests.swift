import Relata
import Testing

/// Full-text search of declared attributes.
@Suite struct SearchTests {
    @Test(arguments: Engine.allCases) func allWordsMustOccurInSomeAttribute(_ engine: Engine) throws {
        let library = try SearchLibrary(engine)
        #expect(try library.titles("moon") == ["Blue Moon", "Moon River", "Waiting"])
        #expect(try library.titles("MOON wider") == ["Moon River"])
        #expect(try library.titles("moon absent") == [])
    }

    @Test(arguments: Engine.allCases) func partsOfTextsAreSearchedFor(_ engine: Engine) throws {
        let library = try SearchLibrary(engine)
        let words = "find: moon wider".dropFirst(6)
        #expect(try library.titles(Ballad.search(words)) == ["Moon River"])
        #expect(try library.titles(Ballad.where { $0.matches(words.prefix(4)) }) == library.titles("moon"))
    }

    @Test(arguments: Engine.allCases) func phrasesPrefixesExclusionsAndAlternatives(_ engine: Engine) throws {
        let library = try SearchLibrary(engine)
        #expect(try library.titles("\"blue moon\"") == ["Blue Moon"])
        #expect(try library.titles("“moon so blue”") == ["Waiting"])
        #expect(try library.titles("wai*") == ["Waiting"])
        #expect(try library.titles("\"wait for lo\"*") == ["Waiting"])
        #expect(try library.titles("moon -blue") == ["Moon River"])
        #expect(try library.titles("moon -\"moon so\"") == ["Blue Moon", "Moon River"])
        #expect(try library.titles("river OR waiting") == ["Moon River", "Waiting"])
        #expect(try library.titles("moon river OR waiting") == ["Moon River", "Waiting"])
        // No phrase reaches from one attribute into the next.
        #expect(try library.titles("\"river wider\"") == [])
    }

    @Test(arguments: Engine.allCases) func anySearchTextIsValid(_ engine: Engine) throws {
        let library = try SearchLibrary(engine)
        for text in [
            "", " ", "\"", "*", "-", "- -", "OR", "OR OR", "a OR", "( ) {", "title:moon", "AND NOT NEAR(", "'",
            "''';--",
            "^moon + ?", "-moon", "\u{0}", "moon\u{0}", ":*", "<->", "!", "\\", "\"*", "😀",
            String(repeating: "word ", count: 500),
            String(repeating: "x", count: 5000), "\u{301}",
        ] {
            _ = try library.titles(text)
        }
        #expect(try library.titles("") == [])
        #expect(try library.titles("-moon") == [])
        #expect(try library.titles("(moon) 'river'") == ["Moon River"])
    }

    @Test(arguments: Engine.allCases) func textOfAnyScriptIsFound(_ engine: Engine) throws {
        let library = try SearchLibrary(engine)
        #expect(try library.titles("deja") == ["Déjà vu"])
        #expect(try library.titles("ÉTÉ") == ["Déjà vu"])
        #expect(try library.titles("strasse") == ["Déjà vu"])
        #expect(try library.titles("月亮") == ["月亮代表我的心"])
        #expect(try library.titles("代表 爱你") == ["月亮代表我的心"])
        #expect(try library.titles("亮月") == [])
        #expect(try library.titles("我爱你有几") == ["月亮代表我的心"])
        #expect(try library.titles("歩こう") == ["上を向いて歩こう"])
        #expect(try library.titles("こぼれ") == ["上を向いて歩こう"])
        #expect(try library.titles("사랑") == ["사랑을 했다"])
        #expect(try library.titles("หายใจ") == ["ลมหายใจ"])
    }

    @Test(arguments: Engine.allCases) func theBestMatchesComeFirst(_ engine: Engine) throws {
        let library = try SearchLibrary(engine)
        let found = try library.store.fetch(Ballad.search("moon").select { ($0.title, $0.relevance) })
        #expect(found.map(\.0).first == "Blue Moon")
        #expect(found.map(\.1) == found.map(\.1).sorted(by: >))
        #expect(found.allSatisfy { $0.1 > 0 })
        let whole = try library.store.fetch(Ballad.search("moon")).map(\.title)
        #expect(whole == found.map(\.0))
        #expect(try library.store.fetch(Ballad.search("moon").limit(1)).map(\.title) == Array(whole.prefix(1)))
        #expect(
            try library.store.fetch(Ballad.search("moon").limit(2, offset: 1)).map(\.title) == Array(whole.dropFirst()))
        #expect(
            try library.store.fetch(Ballad.search("moon").sorted { $0.title.descending }).map(\.title)
                == ["Waiting", "Moon River", "Blue Moon"])
        #expect(thrown { try library.store.fetch(Ballad.all.select { $0.relevance }) }?.kind == "invalidUse")
    }

    @Test(arguments: Engine.allCases) func pagesFollowTheOrder(_ engine: Engine) throws {
        let library = try SearchLibrary(engine)
        let query = Ballad.search("moon OR mile OR straße OR 爱")
        let whole = try library.store.fetch(query).map(\.title)
        #expect(whole.count == 5)
        var titles: [String] = []
        var place: PagePosition?
        repeat {
            let page = try library.store.page(query, size: 2, after: place)
            titles += page.objects.map(\.title)
            place = page.next
        } while place != nil
        #expect(titles == whole)
    }

    @Test(arguments: Engine.allCases) func searchesCombineWithConditionsLinksAndIncludes(_ engine: Engine) throws {
        let library = try SearchLibrary(engine)
        #expect(try library.titles(Ballad.search("moon").where { $0.year > 1960 }) == ["Moon River", "Waiting"])
        #expect(try library.titles(Ballad.where { $0.matches("moon") && $0.year > 1990 }) == ["Waiting"])
        #expect(try library.titles(Ballad.where { !$0.matches("moon") && $0.year < 1970 }) == ["上を向いて歩こう"])
        #expect(try library.titles(Ballad.where { $0.record.matches("stars") }) == ["Blue Moon", "Moon River"])
        #expect(
            try library.store.fetch(LongPlayer.where { $0.tunes.contains { $0.matches("river") } }).map(\.name)
                == ["Moons and Stars"])
        #expect(try library.store.count(Ballad.search("moon")) == 3)
        #expect(try library.store.count(Ballad.search("moon").limit(2)) == 2)
        #expect(try library.titles(library.moons.related { $0.tunes }.search("blue")) == ["Blue Moon"])
        #expect(try library.titles(Ballad.search("moon") && Ballad.where { $0.year < 1950 }) == ["Blue Moon"])
        let loaded = try library.store.fetch(Ballad.search("river").including { $0.record })
        #expect(loaded.first?.record?.loaded?.name == "Moons and Stars")
        #expect(try library.store.update(Ballad.search("waiting")) { $0.year.set(to: 7) } == 1)
        #expect(try library.titles(Ballad.where { $0.year == 7 }) == ["Waiting"])
        #expect(try library.store.delete(Ballad.search("waiting")).deletedCount == 1)
        #expect(try library.titles("waiting") == [])
    }

    @Test(arguments: Engine.allCases) func searchesCanBeLimitedToSomeAttributes(_ engine: Engine) throws {
        let library = try SearchLibrary(engine)
        #expect(try library.titles(Ballad.search("moon", in: { $0.title })) == ["Blue Moon", "Moon River"])
        #expect(try library.titles(Ballad.search("moon", in: { $0.lyrics })) == ["Blue Moon", "Waiting"])
        #expect(try library.titles(Ballad.search("moon", in: { ($0.title, $0.lyrics) })).count == 3)
        #expect(
            try library.titles(Ballad.where { $0.matches("moon", in: $0.title) && !$0.matches("blue", in: $0.lyrics) })
                == ["Moon River"])
        let stray = thrown { try library.store.fetch(Ballad.search("moon", in: { $0.year })) }
        #expect(stray?.kind == "invalidUse")
    }

    @Test(arguments: Engine.allCases) func snippetsAndHighlightsAreTheSameOnEveryEngine(_ engine: Engine) throws {
        let library = try SearchLibrary(engine)
        let search = SearchText("love \"moon so\"")
        let found = try library.store.fetch(Ballad.search(search))
        #expect(found.count == 1)
        #expect(
            search.snippet(of: found[0].lyrics ?? "", length: 24).description == "…for *love* under the *moon so*…"
                || search.snippet(of: found[0].lyrics ?? "", length: 24).description.contains("*moon so*"))
    }

    @Test(arguments: Engine.allCases) func searchingAnUnsearchableModelGetsAHint(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let error = thrown { try discs.store.fetch(Disc.search("a")) }
        #expect(error?.kind == "invalidUse")
        #expect("\(error.map { "\($0)" } ?? "")".contains("#Search<Disc>"))
    }
}
