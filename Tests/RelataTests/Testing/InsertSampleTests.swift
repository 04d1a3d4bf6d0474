import Foundation
import Relata
import RelataCore
import RelataEngine
import RelataSQLite
import RelataTesting
import Testing

@Suite struct InsertSampleTests {
    private static func dump(
        _ model: any Model.Type, seed: UInt64, count: Int = 12, related: Int? = nil
    ) throws -> String {
        let store = try Store.inMemory(for: [model])
        func insert<M: Model>(_ model: M.Type) throws {
            try store.insertSample(model, count: count, related: related, seed: seed)
        }
        try insert(model)
        return try store.dump(raw: true)
    }

    // MARK: Inserted objects

    @Test(
        arguments: [
            Book.self, Series.self, Folder.self, Person.self, Citizen.self, Flight.self, Album.self, Setlist.self,
            Squad.self, Member.self, Boat.self, Sailor.self, Shelf.self, Trunk.self, Disc.self, RichSample.self,
            OptionalSample.self, Student.self, Enrolment.self, Cover.self, Badge.self, Gadget.self, Club.self,
            Booking.self, Tourist.self, Invoice.self, Parcel.self, Crate.self,
        ] as [any Model.Type])
    func aSampleIsWhatTheModelsDeclare(model: any Model.Type) throws {
        for (count, related) in [(1, nil), (7, nil), (25, 3), (2, 0)] as [(Int, Int?)] {
            let path = TestStore.path()
            let store = try TestStore.open(path, for: [model])
            let comment: Testing.Comment = "\(model), \(count) with \(related.map { "\($0)" } ?? "as many") related"
            func insert<M: Model>(_ model: M.Type) throws {
                #expect(try store.insertSample(model, count: count, related: related, seed: 7).count == count, comment)
                // A second sample links to existing objects.
                #expect(try store.insertSample(model, count: count, related: related, seed: 7).count == count, comment)
                #expect(try store.count(M.all) >= 2 * count, comment)
            }
            try insert(model)
            // Limits, counts and `validate()` are checked by saving everything as it is.
            func save<M: Model>(_ model: M.Type) throws { try store.save(try store.fetch(M.all)) }
            for model in Self.linked(to: model) { try save(model) }
            let schema = store.schema
            try store.close()
            let connection = try Connection(path: path)
            #expect(try IntegrityCheck.run(connection, schema: schema) == [], comment)
            try connection.close()
        }
    }

    private static func linked(to model: any Model.Type) -> [any Model.Type] {
        var (found, open): ([any Model.Type], [any Model.Type]) = ([], [model])
        while let next = open.popLast() {
            if found.contains(where: { $0 == next }) { continue }
            found.append(next)
            open += next.linkedModels
        }
        return found
    }

    @Test(arguments: [Book.self, Gadget.self, Club.self, Booking.self, Parcel.self] as [any Model.Type])
    func theSameSeedMakesTheSameSample(model: any Model.Type) throws {
        let text = try Self.dump(model, seed: 3)
        #expect(try Self.dump(model, seed: 3) == text)
        #expect(try Self.dump(model, seed: 4) != text)
    }

    @Test func everyLinkedModelHasObjectsAndLinks() throws {
        let store = try Store.inMemory(for: Book.self)
        let books = try store.insertSample(Book.self, count: 20, related: 6, seed: 7)
        #expect(Set(try store.fetch(Book.all).map(\.id)) == Set(books.map(\.id)))
        #expect(try store.count(Genre.all) == 6)
        #expect(try store.count(Author.all) == 6)
        #expect((10..<20).contains(try store.count(Book.where { $0.authors.count >= 1 })))
        // Optional links and optional values are set mostly, but not always.
        #expect((10..<20).contains(try store.count(Book.where { $0.genre != nil })))
        #expect((10..<20).contains(try store.count(Book.where { $0.price != nil })))
        #expect(try store.count(Genre.where { $0.books.count > 1 }) > 1)
    }

    @Test func everyAttributeVaries() throws {
        let store = try Store.inMemory(for: Gadget.self)
        let gadgets = try store.insertSample(Gadget.self, count: 60, seed: 1)
        #expect(Set(gadgets.map(\.kind)) == Set(Gadget.Kind.allCases))
        #expect(Set(gadgets.map(\.state)) == Set(Gadget.State.allCases))
        #expect(Set(gadgets.map(\.level)) == [.low, .middle, .high])
        #expect(Set(gadgets.map(\.shape)) == [.round, .square])
        #expect(Set(gadgets.map(\.grade)) == Set(-3...3))
        #expect(Set(gadgets.map(\.maker.name)).count > 5)
        #expect(Set(gadgets.map(\.colour.hue)).count > 5)
        #expect(gadgets.allSatisfy { $0.home.absoluteString.hasPrefix("https://") })
        #expect(gadgets.contains { $0.number.hasSuffix("/old") } && gadgets.contains { !$0.number.contains("/") })
        #expect(gadgets.contains { $0.email == nil } && gadgets.contains { $0.email?.hasSuffix(".org") == true })
        #expect(gadgets.allSatisfy { $0.revision == 1 && $0.created == $0.updated })
        // Keys sort in the order in which objects were made.
        #expect(gadgets.map(\.id) == gadgets.map(\.id).sorted())
    }

    @Test func treesHaveRootsAndNoCycles() throws {
        let store = try Store.inMemory(for: Folder.self)
        let folders = try store.insertSample(Folder.self, count: 40, seed: 2)
        let roots = folders.filter { $0.parent == nil }
        #expect(roots.count > 0 && roots.count < 30)
        let below = try store.fetch(Folder.where { $0.parent == nil }.including { $0.children.recursive() })
        func count(_ folder: Folder) -> Int { 1 + (folder.children.loaded ?? []).map(count).reduce(0, +) }
        #expect(below.map(count).reduce(0, +) == 40)
    }

    @Test func declaredCountsAreRespected() throws {
        let store = try Store.inMemory(for: Club.self)
        try store.insertSample(Club.self, count: 4, seed: 5)
        try store.insertSample(Rower.self, count: 5, seed: 5)
        let clubs = try store.fetch(Club.all.including { $0.rowers })
        #expect(try clubs.allSatisfy { (2...5).contains(try $0.rowers.objects.count) })
        #expect(try store.count(Rower.all) >= 8)
    }

    @Test func listsAreOrdered() throws {
        let store = try Store.inMemory(for: Setlist.self, Album.self)
        try store.insertSample(Setlist.self, count: 5, related: 30, seed: 5)
        for setlist in try store.fetch(Setlist.all.including { $0.items }) {
            let positions = try setlist.items.objects.map(\.position)
            #expect(positions == positions.sorted() && Set(positions).count == positions.count)
        }
    }

    // MARK: Existing objects

    @Test func existingObjectsAreLinkedAndNotMultiplied() throws {
        let store = try Store.inMemory(for: Book.self)
        let genre = try store.save(Genre(name: "Mine"))
        try store.insertSample(Book.self, count: 20, seed: 7)
        #expect(try store.count(Genre.all) == 1)
        #expect(try store.count(Book.where { $0.genre == genre }) > 10)
        #expect(try store.count(Author.all) == 20)
    }

    @Test func requiredOneToOnesGetEnoughObjects() throws {
        let store = try Store.inMemory(for: Citizen.self)
        let ada = try store.save(Citizen(name: "Ada"))
        try store.save(Passport(number: "P", holder: ToOne(ada)))
        try store.insertSample(Passport.self, count: 3, related: 0, seed: 1)
        #expect(try store.count(Passport.all) == 4)
        #expect(try store.count(Citizen.all) == 4)
    }

    @Test func uniqueValuesOfAnEarlierSampleAreKept() throws {
        let store = try Store.inMemory(for: Gadget.self)
        for _ in 1...3 { try store.insertSample(Gadget.self, count: 30, seed: 9) }
        let gadgets = try store.fetch(Gadget.all)
        #expect(gadgets.count == 90 && Set(gadgets.map(\.code)).count == 90 && Set(gadgets.map(\.slug)).count == 90)
    }

    // MARK: Adjusting

    @Test func eachObjectCanBeAdjusted() async throws {
        let store = try Store.inMemory(for: Book.self)
        let author = try await store.save(Author(name: "Me"))
        let books = try await store.insertSample(Book.self, count: 8, seed: 7) { book, random in
            book.year = .random(in: 1990...1999, using: &random)
            book.genre = ToOne(Genre(name: "Genre \(book.title)"))
            book.authors.set([author])
        }
        #expect(books.allSatisfy { (1990...1999).contains($0.year) } && Set(books.map(\.year)).count > 1)
        let stored = try await store.fetch(
            Book.all.including {
                $0.genre; $0.authors
            })
        #expect(try stored.allSatisfy { try $0.authors.objects == [author] })
        #expect(try stored.allSatisfy { try $0.genre?.object.name == "Genre \($0.title)" })
        #expect(stored.map(\.year).sorted() == books.map(\.year).sorted())
    }

    @Test func adjustmentsFixUnsupportedValues() throws {
        let store = try Store.inMemory(for: Flag.self)
        let error = thrown { try store.insertSample(Flag.self, count: 2, seed: 1) }
        #expect(error?.description.contains("letter must match") == true)
        #expect(error?.description.contains("adjust") == true)
        let flags = try store.insertSample(Flag.self, count: 2, seed: 1) { flag, _ in flag.letter = "b" }
        #expect(Set(flags.map(\.isSet)) == [true, false])
    }

    @Test func objectsInCyclesAreAdjustedWhenComplete() throws {
        let store = try Store.inMemory(for: Club.self)
        let rowers = try store.insertSample(Rower.self, count: 6, seed: 3) { rower, _ in
            rower.name = "Rower of \(rower.club.id.map { "\($0)" } ?? "")"
        }
        #expect(try store.fetch(Rower.all).map(\.name).sorted() == rowers.map(\.name).sorted())
        #expect(rowers.allSatisfy { $0.name.count > 30 })
    }

    @Test func failedSamplesLeaveNothing() async throws {
        struct Failure: Error {}
        let store = try Store.inMemory(for: Book.self)
        await #expect(throws: Failure.self) {
            try await store.insertSample(Book.self, count: 3, seed: 7) { _, _ in throw Failure() }
        }
        let before = try store.dump()
        try await store.write { tx in
            // The same within a transaction, which the caller continues.
            _ = try? tx.insertSample(Book.self, count: 3, seed: 7) { book, _ in book.title = "" }
        }
        #expect(try store.dump() == before)
    }

    // MARK: Bounds

    @Test func unsupportedSamplesAreNamedWithTheirFix() throws {
        let store = try Store.inMemory(for: Unmakeable.self, Flag.self)
        let kind = thrown { try store.insertSample(Unmakeable.self, count: 1, seed: 1) }
        #expect(kind?.description.contains("Unmakeable.kind") == true)
        #expect(kind?.description.contains("CaseIterable") == true)
        let flags = thrown { try store.insertSample(Flag.self, count: 3, seed: 1) { flag, _ in flag.letter = "b" } }
        #expect(flags?.description.contains("only 2: no more values of isSet differ") == true)
        let other = thrown { try store.insertSample(Book.self, count: 1, seed: 1) }
        #expect(other?.description.contains("wasn't opened for Book") == true)
        #expect(try store.count(Flag.all) == 0)
    }

    @Test func countsThatCannotBeMetAreRefused() throws {
        let store = try Store.inMemory(for: Club.self)
        // A single rower can't fill a club of two, but needs a club.
        let error = thrown { try store.insertSample(Rower.self, count: 1, seed: 1) }
        #expect(error?.kind == "invalidUse")
        #expect(try store.count(Club.all) == 0)
    }
}
