import Foundation
import Relata
import Testing

/// Figures, columns, groups and SQL.
@Suite struct SelectionTests {
    @Test(arguments: Engine.allCases) func figures(_ engine: Engine) throws {
        let store = try Discs(engine).store
        #expect(try store.value(of: Disc.all) { $0.copies.sum() } == 17)
        #expect(try store.value(of: Disc.all) { $0.copies.average() } == 3.4)
        #expect(try store.value(of: Disc.all) { $0.copies.minimum() } == -3)
        #expect(try store.value(of: Disc.all) { $0.copies.maximum() } == 10)
        #expect(try store.value(of: Disc.all) { $0.rating.average() } == 3.25)
        #expect(try store.value(of: Disc.all) { $0.rating.count() } == 4)
        #expect(try store.value(of: Disc.all) { $0.rating.count(distinct: true) } == 3)
        #expect(try store.value(of: Disc.all) { $0.objectCount } == 5)
        #expect(try store.value(of: Disc.all) { $0.price.sum() } == Decimal(string: "129.49"))
        #expect(try store.value(of: Disc.all) { $0.price.maximum() } == 100)
        #expect(try store.value(of: Disc.all) { $0.title.maximum() } == "E")
        #expect(try store.value(of: Disc.all) { $0.released.minimum() } == Discs.date("1969-12-31T23:59:59Z"))
        #expect(try store.value(of: Disc.where { $0.isLive }) { $0.copies.sum() } == -3)
        #expect(try store.value(of: Disc.where { $0.label.country == "NO" }) { $0.pieces.count.maximum() } == 3)
        #expect(try store.value(of: Disc.sorted { $0.title }.limit(2)) { $0.copies.sum() } == 10)
    }

    @Test(arguments: Engine.allCases) func aSelectionOfNothingIsRefused(_ engine: Engine) throws {
        let store = try Discs(engine).store
        let error = thrown { try store.fetch(Disc.all.select { _ in () }) }
        #expect(error?.description.contains("select has no columns") == true, "\(error as Any)")
    }

    @Test(arguments: Engine.allCases) func aggregatesOfNothing(_ engine: Engine) throws {
        let store = try Discs(engine).store
        let none = Disc.where { $0.title == "none" }
        #expect(try store.value(of: none) { $0.copies.sum() } == 0)
        #expect(try store.value(of: none) { $0.rating.sum() } == 0)
        #expect(try store.value(of: none) { $0.price.sum() } == 0)
        #expect(try store.value(of: none) { $0.copies.average() } == nil)
        #expect(try store.value(of: none) { $0.copies.minimum() } == nil)
        #expect(try store.value(of: none) { $0.copies.maximum() } == nil)
        #expect(try store.value(of: none) { $0.objectCount } == 0)
        #expect(try store.value(of: Disc.where { $0.rating == nil }) { $0.rating.sum() } == 0)
        #expect(try store.value(of: Disc.where { $0.rating == nil }) { $0.rating.average() } == nil)
        #expect(try store.count(none) == 0 && !store.exists(none))
    }

    @Test(arguments: Engine.allCases) func columnsAreTuples(_ engine: Engine) throws {
        let store = try Discs(engine).store
        let query = Disc.sorted { $0.title }
        let rows = try store.fetch(query.select { ($0.title, $0.rating, $0.label.country, $0.pieces.count) })
        #expect(rows.map { "\($0.0) \($0.1 ?? 0) \($0.3)" } == ["A 4.5 2", "B 0.0 1", "C 3.0 0", "D 4.5 3", "E 1.0 1"])
        let formats = try store.fetch(query.select { $0.format })
        #expect(formats == [.vinyl, .cd, .cd, .file, .file])
        let dates = try store.fetch(query.select { ($0.released, $0.price, $0.id) })
        #expect(dates[0].0 == Discs.date("2001-02-03T04:05:06Z") && dates[0].1 == Decimal(string: "9.99"))
        #expect(dates[2].0 == nil && dates[2].2 == 3)
        let distinct = try store.fetch(Disc.all.select { $0.format }.distinct)
        #expect(distinct.map(\.rawValue).sorted() == ["cd", "file", "vinyl"])
        let pairs = try store.fetch(query.select { ($0.isLive, $0.label.name.or("-")) }.distinct)
        #expect(Set(pairs.map { "\($0) \($1)" }) == ["false One", "true Two", "false -", "true One"])
        // Behind an unset to-one there is no value. The error says so, and how to select it.
        let error = thrown { try store.fetch(query.select { $0.label.name }) }
        #expect(error?.description.contains(".optional") == true)
        #expect(try store.fetch(query.select { $0.label.name.optional }) == ["One", "Two", nil, "One", "One"])
    }

    @Test(arguments: Engine.allCases) func groups(_ engine: Engine) throws {
        let store = try Discs(engine).store
        let formats = Disc.all.grouped { $0.format }.select { ($0.format, $0.objectCount, $0.copies.sum()) }
        let rows = try store.fetch(formats).map { "\($0.0.rawValue) \($0.1) \($0.2)" }
        #expect(rows.sorted() == ["cd 2 7", "file 2 0", "vinyl 1 10"])
        let large = Disc.where { $0.title != "B" }.grouped { $0.format }.having { $0.objectCount > 1 }
        let dearest = try store.fetch(large.select { ($0.format, $0.price.maximum()) })
        #expect(dearest.map(\.0.rawValue) == ["file"])
        let both = Disc.all.grouped { ($0.band.name, $0.isLive) }.having { $0.rating.average() >= 1 }
        let keys = try store.fetch(both.select { ($0.band.name, $0.isLive, $0.rating.average()) })
        #expect(
            keys.map { "\($0) \($1) \($2 ?? 0)" }.sorted() == [
                "Ash false 4.5", "Bee false 3.0", "Cid false 1.0", "Cid true 4.5",
            ])
        let unset = Disc.all.grouped { $0.label.country }.select { ($0.label.country, $0.objectCount) }
        #expect(Set(try store.fetch(unset).map { "\($0 ?? "none") \($1)" }) == ["NO 3", "none 2"])
        let none = Disc.where { $0.title == "none" }.grouped { $0.format }.select { ($0.format, $0.objectCount) }
        #expect(try store.fetch(none).isEmpty)
    }

    @Test(arguments: Engine.allCases) func aLimitBeforeGroupsCountsObjects(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let store = discs.store
        func rows(_ groups: Groups<Disc>) throws -> [String] {
            try store.fetch(groups.select { ($0.band.name, $0.objectCount) }).map { "\($0) \($1)" }
        }
        func sorted(_ groups: Groups<Disc>) throws -> [String] { try rows(groups).sorted() }
        let dearest = Disc.sorted { $0.price.descending }
        #expect(try sorted(dearest.limit(4).grouped { $0.band.name }) == ["Ash 2", "Bee 1", "Cid 1"])
        #expect(try sorted(dearest.limit(2, offset: 3).grouped { $0.band.name }) == ["Cid 2"])
        let first = dearest.limit(3).grouped { $0.band.name }.sorted { $0.objectCount.descending }.limit(1)
        #expect(try sorted(first) == ["Ash 2"])
        #expect(try sorted(dearest.limit(3).where { $0.copies > 5 }.grouped { $0.band.name }) == ["Ash 1", "Bee 1"])
        let text = Disc.matching("band.name != 'Bee'").sorted { $0.title }.limit(3).grouped { $0.band.name }
        #expect(try sorted(text) == ["Ash 2", "Cid 1"])
        #expect(try sorted(discs.cid.related { $0.discs }.limit(1).grouped { $0.band.name }) == ["Cid 1"])
        #expect(thrown { try rows(dearest.limit(-1).grouped { $0.band.name }) }?.kind == "invalidUse")
        // Without a limit, the groups' own order applies.
        #expect(try rows(Disc.sorted { $0.band.name.descending }.grouped { $0.band.name }).first == "Cid 2")
        let error = thrown { try rows(dearest.grouped { $0.band.name }) }?.description ?? ""
        #expect(error.hasPrefix("groups can't be sorted by price") && error.contains("sort before grouped"))
    }

    @Test(arguments: Engine.allCases) func aToOneGroupsByItsObject(_ engine: Engine) throws {
        let store = try Discs(engine).store
        // Two bands with the same name are two groups.
        try store.insert(Disc(title: "F", band: Band(name: "Ash")))
        let bands = Disc.all.grouped { $0.band }
            .sorted {
                $0.objectCount.descending
                $0.band.name
            }
            .select { ($0.band.id, $0.band.name, $0.objectCount) }
        let rows = try store.fetch(bands)
        #expect(rows.map { "\($0.1) \($0.2)" } == ["Ash 2", "Cid 2", "Ash 1", "Bee 1"])
        #expect(Set(rows.map(\.0)).count == 4)
        let labels = Disc.all.grouped { $0.label }.select {
            ($0.label.name.optional, $0.label.country, $0.objectCount)
        }
        #expect(
            Set(try store.fetch(labels).map { "\($0.0 ?? "-") \($0.1 ?? "-") \($0.2)" }) == [
                "One NO 3", "Two - 1", "- - 2",
            ])
        let both = Disc.all.grouped { ($0.label, $0.isLive) }.having { $0.label.country == "NO" }
        let lives = try store.fetch(both.select { ($0.isLive, $0.objectCount) })
        #expect(lives.map { "\($0.0) \($0.1)" }.sorted() == ["false 2", "true 1"])
        let sleeves = Disc.all.grouped { $0.sleeve }.select { ($0.sleeve.color.optional, $0.objectCount) }
        #expect(Set(try store.fetch(sleeves).map { "\($0.0 ?? "-") \($0.1)" }) == ["red 1", "- 5"])
        let stray = Disc.all.grouped { $0.label }.select { ($0.label.name.optional, $0.title) }
        #expect(thrown { try store.fetch(stray) }?.description.contains("title differs within a group") == true)
        let other = Disc.all.grouped { $0.label.country }.select { ($0.label.name.optional, $0.objectCount) }
        #expect(thrown { try store.fetch(other) }?.kind == "invalidUse")
    }

    @Test(arguments: Engine.allCases) func aToOneWithAKeyOfSeveralPartsGroupsByAllOfThem(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Tagged.self)
        let (first, second) = (Seat(row: 1, letter: "a"), Seat(row: 2, letter: "a"))
        try store.save([
            Tagged(id: UUID(), seat: first), Tagged(id: UUID(), seat: second), Tagged(id: UUID(), seat: second),
            Tagged(id: UUID()),
        ])
        let seats = Tagged.all.grouped { $0.seat }.sorted { $0.objectCount }
            .select { ($0.seat.row.optional, $0.seat.letter.optional, $0.objectCount) }
        let rows = try store.fetch(seats).map { "\($0.0 ?? 0) \($0.1 ?? "-") \($0.2)" }
        #expect(rows.sorted() == ["0 - 1", "1 a 1", "2 a 2"])
    }

    @Test(arguments: Engine.allCases) func upToSixColumnsMakeGroups(_ engine: Engine) throws {
        let store = try Discs(engine).store
        func rows(_ groups: Groups<Disc>) throws -> Int {
            try store.fetch(groups.select { ($0.objectCount, $0.copies.sum()) }).count
        }
        #expect(try rows(Disc.all.grouped { ($0.band, $0.isLive) }) == 5)
        #expect(try rows(Disc.all.grouped { ($0.band, $0.band.name) }) == 3)
        #expect(try rows(Disc.all.grouped { ($0.format, $0.label, $0.label.country) }) == 4)
        #expect(try rows(Disc.all.grouped { ($0.label, $0.label.country, $0.label.name, $0.format) }) == 4)
        #expect(try rows(Disc.all.grouped { ($0.band, $0.band.name, $0.label, $0.format, $0.isLive) }) == 5)
        #expect(try rows(Disc.all.grouped { ($0.band, $0.label, $0.format, $0.isLive, $0.title, $0.copies * 2) }) == 5)
    }

    @Test(arguments: Engine.allCases) func rawSQLBindsItsValues(_ engine: Engine) throws {
        let store = try Discs(engine).store
        let copies = 3
        let rows = try store.rows(
            #"SELECT "title", "rating" FROM "Disc" WHERE "copies" >= \#(copies) ORDER BY "title""#)
        #expect(rows == [["A", 4.5], ["C", 3.0], ["E", 1.0]])
        let hostile = "A' OR '1' = '1"
        #expect(try store.rows(#"SELECT 1 FROM "Disc" WHERE "title" = \#(hostile)"#) == [])
        let titles = ["A", "D", hostile]
        #expect(
            try store.rows(#"SELECT "title" FROM "Disc" WHERE "title" IN \#(list: titles) ORDER BY 1"#)
                == [["A"], ["D"]])
        #expect(
            try store.rows("SELECT count(*) FROM \(name: "Disc") WHERE \(name: "rating") IS DISTINCT FROM \(4.5)")
                == [[3]])
        let objects = try store.fetch(
            Disc.self, sql: #"SELECT * FROM "Disc" WHERE "released" < \#(Date.now) AND "copies" = \#(10)"#)
        #expect(objects.map(\.title) == ["A"])
        let cd = Disc.Format.cd.rawValue
        #expect(try store.execute(#"UPDATE "Disc" SET "copies" = "copies" + 1 WHERE "format" = \#(cd)"#) == 2)
        #expect(thrown { try store.fetch(Disc.self, sql: #"SELECT "title" FROM "Disc""#) }?.kind == "invalidUse")
        #expect(thrown { try store.rows(#"SELECT nothing FROM "Disc""#) }?.kind == "database")
        #expect(try store.dictionaries(Disc.where { $0.title == "B" }).first?["copies"] == 1)
    }

    @Test(arguments: Engine.allCases) func cursorsYieldOneObjectAtATime(_ engine: Engine) throws {
        let store = try Discs(engine).store
        struct Enough: Error {}
        var titles = ""
        try store.read { tx in
            try tx.forEach(Disc.where { $0.copies > 0 }.sorted { $0.title.descending }) { titles += $0.title }
            #expect(throws: Enough.self) { try tx.forEach(Disc.all) { _ in throw Enough() } }
            // A cursor inside another one of the same query.
            try tx.forEach(Disc.all.limit(2)) { _ in try tx.forEach(Disc.all.limit(2)) { _ in titles += "." } }
        }
        #expect(titles == "ECA....")
    }
}
