import Relata
import Testing

/// Queries combined with `||` and `&&`, texts joined, orders of languages, and groups in order.
@Suite struct CombinedQueryTests {
    @Test(arguments: Engine.allCases) func conditionsOfTwoQueriesAreJoined(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let live = Disc.where { $0.isLive == true }
        let many = Disc.where { $0.copies > 5 }
        try discs.expect("ABCD", live || many)
        try discs.expect("", live && many)
        try discs.expect("B", live && Disc.matching("rating == nil"))
        try discs.expect("BDE", live || Disc.matching("title == %@", "E"))
        try discs.expect("BD", (live || Disc.matching("title == 'E'")).where { $0.title != "E" })
        try discs.expect("ABCDE", Disc.all || many)
        try discs.expect("AC", Disc.all && many)
        try discs.expect("D", (live || many) && (Disc.matching("copies < 0") || Disc.where { $0.title == "E" }))
    }

    @Test(arguments: Engine.allCases) func limitsApplyToTheirSide(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let first = Disc.sorted { $0.title }.limit(2)
        let last = Disc.sorted { $0.title.descending }.limit(1)
        try discs.expect("ABE", first || last)
        try discs.expect("B", first && Disc.where { $0.isLive == true })
        try discs.expect("B", Disc.matching("isLive == TRUE") && first)
        #expect(try discs.titles((first || last).limit(2)) == "AB")
        #expect(try discs.titles(Disc.where { $0.copies > 5 }.sorted { $0.title.descending } || last) == "ECA")
        let ash = discs.ash
        try discs.expect("ABE", ash.related { $0.discs } || last)
        try discs.expect("A", ash.related { $0.discs } && Disc.where { $0.copies > 5 })
        let loaded = try discs.store.fetch(first.including { $0.band } || last.including { $0.label })
        #expect(loaded.allSatisfy { $0.band.loaded != nil && $0.label?.loaded != nil })
        #expect(thrown { try discs.store.fetch(Disc.all.limit(-1) || last) }?.kind == "invalidUse")
    }

    @Test(arguments: Engine.allCases) func combinedQueriesAreObservedAsOne(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let query = Disc.matching("title == %@", "A") || Disc.matching("format == %@", Disc.Format.file)
        let same = Disc.matching("title == %@", "A") || Disc.matching("format == %@", Disc.Format.file)
        #expect(query.observedIdentity == same.observedIdentity && query.observedIdentity != nil)
        #expect(query.observedIdentity != (same && same).observedIdentity)
        try discs.expect("ADE", query)
    }

    @Test(arguments: Engine.allCases) func textsAreJoined(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("A", Disc.where { $0.title + " by " + $0.band.name == "A by Ash" })
        try discs.expect("B", Disc.where { "disc " + $0.title == "disc B" })
        try discs.expect("C", Disc.where { $0.title + ($0.notes ?? "?") == "C?" })
        try discs.expect("A", Disc.matching("title + ' by ' + band.name == 'A by Ash'"))
        let names = try discs.store.fetch(Disc.sorted { $0.title }.limit(2).select { $0.band.name + "/" + $0.title })
        #expect(names == ["Ash/A", "Ash/B"])
        #expect(try discs.store.fetch(Disc.sorted { ($0.band.name + $0.title).descending }).first?.title == "E")
        try discs.store.update(Disc.where { $0.title == "A" }) { $0.notes.set(to: $0.title + "!") }
        try discs.expect("A", Disc.where { $0.notes == "A!" })
        #expect(thrown { try discs.store.fetch(Disc.matching("title + copies == 'x'")) }?.kind == "predicateFormat")
    }

    @Test(arguments: Engine.allCases) func enumsObjectsAndValuesFillPlaceholders(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.expect("BC", Disc.matching("format == %@", Disc.Format.cd))
        try discs.expect("BCDE", Disc.matching("format IN %@", [Disc.Format.cd, .file]))
        try discs.expect("BCDE", Disc.matching("format IN %@", Set([Disc.Format.cd, .file])))
        try discs.expect("A", Disc.matching("format == %@", Disc.Format.vinyl as Disc.Format?))
        try discs.expect("C", Disc.matching("label == %@", nil as Label?))
        try discs.expect("AB", Disc.matching("band == %@", discs.ash))
        try discs.expect("CDE", Disc.matching("band != %@", discs.ash))
        try discs.expect("AB", Disc.matching("band == %@", ToOne(discs.ash)))
        try discs.expect("ABC", Disc.matching("band IN %@", [discs.ash, discs.bee]))
        let piece = Piece(id: 10, title: "", seconds: 0, disc: ToOne(id: 1))
        try discs.expect("A", Disc.matching("%@ IN pieces", piece))
        struct Strange: Sendable {}
        let error = thrown { try discs.store.fetch(Disc.matching("title == %@", Strange())) }
        #expect(error?.description.contains("a Strange can't be an argument for %@") == true)
        #expect(
            thrown { try discs.store.fetch(Disc.matching("copies == %@", Disc.Format.cd)) }?.kind == "predicateFormat")
        let store = try TestStore.make(engine, for: Consignment.self)
        let address = Consignment.Address(city: "Oslo", number: 2)
        try store.save([Consignment(id: 1, seal: .init(), address: address), Consignment(id: 2, seal: .init())])
        #expect(try store.fetch(Consignment.matching("address == %@", address)).map(\.id) == [1])
    }

    @Test(arguments: Engine.allCases) func textIsSortedByLanguage(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Airport.self)
        let names = ["zoo", "Öl", "Zebra", "Äpfel", "apfel", "Apfel", "oft"]
        try store.save(names.map { Airport(code: $0) })
        func order(_ sort: (Airport.Fields) -> [SortTerm]) throws -> [String] {
            try store.fetch(Airport.sorted { airport in for term in sort(airport) { term } }).map(\.code)
        }
        #expect(
            try order { [$0.code.localized("de")] } == ["apfel", "Apfel", "Äpfel", "oft", "Öl", "Zebra", "zoo"])
        #expect(
            try order { [$0.code.localized("sv_SE")] } == ["apfel", "Apfel", "oft", "Zebra", "zoo", "Äpfel", "Öl"])
        #expect(
            try order { [$0.code.descending.localized("sv-SE")] }
                == ["Öl", "Äpfel", "zoo", "Zebra", "oft", "Apfel", "apfel"])
        var titles: [String] = []
        let query = Airport.sorted { $0.code.localized("de") }
        var page = try store.page(query, size: 2)
        titles += page.objects.map(\.code)
        while let next = page.next {
            page = try store.page(query, size: 2, after: next)
            titles += page.objects.map(\.code)
        }
        #expect(titles == ["apfel", "Apfel", "Äpfel", "oft", "Öl", "Zebra", "zoo"])
        let error = thrown { try store.fetch(Airport.sorted { $0.code.localized("klingon") }) }
        #expect(error?.description.contains("\"klingon\" isn't a locale") == true)
        let quoted = thrown { try store.fetch(Airport.sorted { $0.code.localized("de\" DESC --") }) }
        #expect(quoted?.kind == "invalidUse")
    }

    @Test(arguments: Engine.allCases) func groupsAreSortedAndLimited(_ engine: Engine) throws {
        let store = try Discs(engine).store
        let groups = Disc.all.grouped { $0.format }
        let most = try store.fetch(
            groups.sorted { $0.objectCount.descending }.limit(2).select { ($0.format, $0.objectCount) })
        #expect(most.map(\.0) == [.cd, .file] && most.map(\.1) == [2, 2])
        let rest = try store.fetch(groups.sorted { $0.objectCount.descending }.limit(2, offset: 2).select { $0.format })
        #expect(rest == [.vinyl])
        let sums = try store.fetch(
            groups.having { $0.objectCount > 1 }.sorted { $0.copies.sum().descending }.select {
                ($0.format, $0.copies.sum())
            })
        #expect(sums.map(\.0) == [.cd, .file] && sums.map(\.1) == [7, 0])
        let names = try store.fetch(groups.sorted { $0.format.descending }.select { $0.format })
        #expect(names == [.vinyl, .file, .cd])
        let first: [Disc.Format] = try store.fetch(groups.limit(1).select { $0.format })
        #expect(first == [.cd])
        let error = thrown { try store.fetch(groups.sorted { $0.title }.select { $0.format }) }
        #expect(error?.description.contains("sorted by title, which differs within a group") == true)
    }
}
