import Foundation
import Relata
import Testing

@Model struct Gauge {
    var id: Int?
    @Attribute(.range(...100)) var value: Int8
}

enum GaugeReadingKind: String { case low, high }

@Model struct GaugeReading {
    let id: Int
    @Attribute(.range(0...100)) var level: Int
    var value: Double
    var kind: GaugeReadingKind
    var note: String?
}

/// Updates by query: one statement, under the same rules as a save.
@Suite struct QueryUpdateTests {
    @Test(arguments: Engine.allCases) func optionalPropertiesCanBeUnset(_ engine: Engine) throws {
        let discs = try Discs(engine)
        try discs.store.update(Disc.all) { $0.rating.set(to: 3) }
        #expect(
            try discs.store.update(Disc.where { $0.isLive }) {
                $0.rating.unset()
                $0.label.unset()
            } == 2)
        try discs.expect("BD", Disc.where { $0.rating == nil })
        try discs.expect("BD", Disc.where { $0.label == nil && $0.isLive })
    }

    @Test(arguments: Engine.allCases) func valuesAreConstantsOrComputed(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let store = discs.store
        #expect(
            try store.update(Disc.where { $0.isLive }) {
                $0.copies.set(to: 4); $0.notes.set(to: nil)
            } == 2)
        try discs.expect("BD", Disc.where { $0.copies == 4 && $0.notes == nil })
        #expect(try store.update(Disc.all) { $0.copies.set(to: $0.copies * 2 + 1) } == 5)
        try discs.expect("BD", Disc.where { $0.copies == 9 })
        #expect(try store.update(Disc.all) { $0.copies.set(to: $0.pieces.count) } == 5)
        #expect(try store.fetch(Disc.sorted { $0.title }.select { $0.copies }) == [2, 1, 0, 3, 1])
        // Only the first two of an order, and those found through relationships.
        #expect(try store.update(Disc.sorted { $0.title.descending }.limit(2)) { $0.rating.set(to: 2) } == 2)
        try discs.expect("DE", Disc.where { $0.rating == 2 })
        #expect(try store.update(Disc.where { $0.label.country == "NO" }) { $0.format.set(to: .vinyl) } == 3)
        try discs.expect("ADE", Disc.where { $0.format == .vinyl })
        #expect(try store.update(Disc.where { $0.title == "none" }) { $0.copies.set(to: 1) } == 0)
        #expect(try store.update(Disc.where { $0.title == "A" }) { $0.title.set(to: $0.label.name.or("-")) } == 1)
        #expect(try store.exists(Disc.where { $0.title == "One" }))
    }

    @Test(arguments: Engine.allCases) func updatesReadOnlyUsedColumns(_ engine: Engine) throws {
        let log = StatementLog()
        let store = try TestStore.make(engine, for: GaugeReading.self, options: log.options)
        try store.insert((1...10).map { GaugeReading(id: $0, level: 5, value: 1, kind: .low) })
        // An update doesn't mind a column that can't be decoded, or one that already breaks its limit.
        try store.execute(#"UPDATE "GaugeReading" SET "kind" = 'gone', "level" = 500 WHERE "id" = 3"#)
        _ = log.take()
        #expect(try store.update(GaugeReading.where { $0.id <= 5 }) { $0.value.set(to: $0.value * 2) } == 5)
        #expect(try store.update(GaugeReading.all) { $0.note.set(to: "n") } == 10)
        #expect(try store.update(GaugeReading.where { $0.id == 1 }) { $0.level.set(to: 7) } == 1)
        #expect(log.take().allSatisfy { $0.hasPrefix("UPDATE") && !$0.contains("RETURNING") })
        #expect(try store.update(GaugeReading.where { $0.id > 5 }) { $0.level.set(to: $0.level + 1) } == 5)
        #expect(log.take().allSatisfy { $0.hasPrefix("UPDATE") })
        #expect(try store.count(GaugeReading.where { $0.value == 2 && $0.note == "n" }) == 5)
        // Set values are checked, and the failing objects are named.
        let failure = thrown { try store.update(GaugeReading.where { $0.id > 8 }) { $0.level.set(to: 101) } }
        #expect(failure?.failures == ["level", "level"] && failure?.description.contains("GaugeReading 9") == true)
        #expect(thrown { try store.update(GaugeReading.all) { $0.level.set(to: $0.level + 96) } }?.failures.count == 10)
        #expect(try store.update(GaugeReading.where { $0.id > 80 }) { $0.level.set(to: 101) } == 0)
        #expect(try store.count(GaugeReading.where { $0.level == 6 }) == 5)
    }

    @Test(arguments: Engine.allCases) func toOnesAreSetByObjectOrKey(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let (store, bee) = (discs.store, discs.bee)
        #expect(try store.update(Disc.where { $0.band.name == "Ash" }) { $0.band.set(to: bee) } == 2)
        try discs.expect("ABC", Disc.where { $0.band == bee })
        #expect(try store.update(Disc.where { $0.label == nil }) { $0.label.set(id: "Void") } == 1)
        try discs.expect("C", Disc.where { $0.label.country == "PE" })
        #expect(try store.update(Disc.all) { $0.label.set(to: nil) } == 5)
        try discs.expect("ABCDE", Disc.where { $0.label == nil })
        let missing = thrown { try store.update(Disc.all) { $0.label.set(id: "none") } }
        #expect(missing?.reference == "Disc.label")
        #expect(
            thrown { try store.update(Disc.all) { $0.label.set(to: Label(name: "new")) } }?.kind == "invalidReference")
        #expect(thrown { try store.update(Disc.all) { $0.band.set(to: nil) } }?.kind == "invalidUse")
        try discs.expect("ABCDE", Disc.where { $0.label == nil && $0.band != nil })
    }

    @Test(arguments: Engine.allCases) func limitsAndUniquenessAreEnforced(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        try store.insert([Genre(name: "a"), Genre(name: "b")])
        try store.insert([Book(title: "x"), Book(title: "y", year: 1)])
        #expect(thrown { try store.update(Genre.all) { $0.name.set(to: "") } }?.kind != nil)
        #expect(thrown { try store.update(Book.all) { $0.title.set(to: " ") } }?.failures == ["title", "title"])
        #expect(thrown { try store.update(Genre.all) { $0.name.set(to: "c") } }?.kind == "uniqueViolation")
        let key = thrown { try store.update(Genre.all) { $0.id.set(to: ID()) } }
        #expect(key?.kind == "invalidUse")
        #expect(
            thrown {
                try store.update(Book.all) {
                    $0.year.set(to: 1); $0.year.set(to: 2)
                }
            }?.kind == "invalidUse")
        #expect(try store.fetch(Genre.sorted { $0.name }.select { $0.name }) == ["a", "b"])
        #expect(try store.fetch(Book.sorted { $0.title }.select { $0.title }) == ["x", "y"])
        // The transaction continues after a refusal.
        try store.write { tx in
            _ = thrown { try tx.update(Book.all) { $0.title.set(to: "") } }
            try tx.update(Book.where { $0.year == 1 }) { $0.title.set(to: "z") }
        }
        #expect(try store.fetch(Book.sorted { $0.title }.select { $0.title }) == ["x", "z"])
    }

    @Test(arguments: Engine.allCases) func updatesListAllViolations(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Gauge.self)
        try store.insert([60, 100, 70, 20].map { Gauge(value: $0) })
        // The second result doesn't fit the type, two are beyond the limit.
        let error = thrown { try store.update(Gauge.all) { $0.value.set(to: $0.value * 2) } }
        guard case .validation(let failures)? = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(Set(failures.map(\.key)) == [KeyValue(.integer(1)), KeyValue(.integer(2)), KeyValue(.integer(3))])
        #expect(failures.count == 3)
        #expect(try store.fetch(Gauge.sorted { $0.id }).map(\.value) == [60, 100, 70, 20])
    }

    @Test(arguments: Engine.allCases) func propertiesOfAnotherObjectAreRefused(_ engine: Engine) throws {
        let discs = try Discs(engine)
        let store = discs.store
        let people = try TestStore.make(engine, for: Person.self)
        let ada = try people.insert(Person(name: "Ada"))
        let before = try store.fetch(Disc.sorted { $0.title })
        let errors = [
            // Disc has columns with these names too, except the last one.
            thrown { try store.update(Disc.where { $0.title == "A" }) { $0.sleeve.disc.title.set(to: "x") } },
            thrown { try store.update(Piece.all) { $0.disc.title.set(to: "x") } },
            thrown { try store.update(Piece.all) { $0.disc.title.set(to: $0.title) } },
            thrown { try store.update(Disc.all) { $0.band.founded.set(to: 1) } },
            thrown { try people.update(Person.all) { $0.boss.boss.set(id: ada.id) } },
            thrown { try people.update(Person.all) { $0.boss.boss.set(to: ada) } },
            thrown { try people.update(Person.all) { $0.boss.boss.unset() } },
        ]
        let paths = [
            "sleeve.disc.title", "disc.title", "disc.title", "band.founded", "boss.boss", "boss.boss", "boss.boss",
        ]
        let owners = ["Disc", "Disc", "Disc", "Band", "Person", "Person", "Person"]
        for (index, error) in errors.enumerated() {
            let message = "\(error.map { "\($0)" } ?? "")"
            #expect(error?.kind == "invalidUse" && message.hasPrefix("\(paths[index]) isn't a property of "))
            #expect(message.hasSuffix("set it in an update of \(owners[index]) objects"))
        }
        #expect(try store.fetch(Disc.sorted { $0.title }) == before)
        #expect(try people.count(Person.where { $0.boss == nil }) == 1)
    }

    @Test(arguments: Engine.allCases) func theStampIsTheTimeOfTheUpdate(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Stamped.self)
        try store.insert([Stamped(name: "a"), Stamped(name: "b")])
        let created = Set(try store.fetch(Stamped.all).map(\.updated))
        let before = Date.now
        #expect(try store.update(Stamped.all) { $0.name.set(to: $0.name + "!") } == 2)
        let stamps = Set(try store.fetch(Stamped.all).map(\.updated))
        // One stamp for all objects, to the microsecond.
        #expect(stamps.count == 1 && stamps.isDisjoint(with: created))
        #expect(stamps.allSatisfy { abs($0.timeIntervalSince(before)) < 60 })
    }

    @Test(arguments: Engine.allCases) func movedMembersComeLastInTheNewList(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Album.self)
        func song(_ title: String) -> Song { Song(title: title) }
        let one = try store.insert(Album(title: "1", songs: ToMany([song("a"), song("b"), song("c")])))
        let two = try store.insert(Album(title: "2", songs: ToMany([song("x"), song("y"), song("z")])))
        func titles(_ album: Album) throws -> String { try store.related(to: album) { $0.songs }.map(\.title).joined() }
        // A song that was already in the list keeps its position.
        try store.update(Song.where { $0.title.in(["a", "x"]) }) { $0.album.set(to: two) }
        #expect(try titles(one) == "bc" && titles(two) == "xyza")
        // Found through the relationship: the statement has another form.
        try store.update(two.related { $0.songs }.where { $0.title < "z" }) { $0.album.set(to: one) }
        #expect(try titles(two) == "z")
        #expect(try titles(one) == "bcaxy")
        try store.update(Song.where { $0.album.title == "1" && $0.title > "b" }) { $0.album.set(to: nil) }
        #expect(try titles(one) == "ba")
        // Includes and edits see the same order, and an edit gives every member a position.
        try store.update(Song.where { $0.title == "z" }) { $0.album.set(to: one) }
        let loaded = try store.load(one) { $0.songs }.songs.objects.map(\.title).joined()
        #expect(try loaded == titles(one))
        try store.update(one.id) { $0.songs.add(song("new")) }
        #expect(try titles(one) == loaded + "new")
        try store.update(one.id) { $0.songs.place(id: 6, after: nil) }
        #expect(try titles(one) == "z" + loaded.replacing("z", with: "") + "new")
    }

    @Test(arguments: Engine.allCases) func membersWithoutAPositionComeLastEverywhere(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Album.self)
        let album = try store.insert(Album(title: "1", songs: ToMany([Song(title: "a"), Song(title: "b")])))
        try store.insert(["c", "d", "e"].map { Song(title: $0, album: ToOne(album)) })
        func titles() throws -> String { try store.related(to: album) { $0.songs }.map(\.title).joined() }
        #expect(try titles() == "abcde")
        #expect(try store.load(album) { $0.songs }.songs.objects.map(\.title).joined() == "abcde")
        try store.update(album.id) { $0.songs.place(id: 1, after: 4) }
        #expect(try titles() == "bcdae")
        var loaded = try store.load(album) { $0.songs }
        try loaded.songs.move(from: 4, to: 1)
        try store.save(loaded)
        #expect(try titles() == "becda")
    }
}
