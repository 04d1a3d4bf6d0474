import Foundation
import Relata
import RelataTesting
import Testing

@Model struct Parcel {
    let id: ID<Parcel>
    @Attribute(.createdAt) var created: Date
    @Attribute(.updatedAt) var updated: Date
    var label: UUID
    @Attribute(.text) var batch: UUID?
    var notes: [UUID] = []
    var due: Date = Date(timeIntervalSince1970: 1_000_000_000)
    var isFragile: Bool = true
    var price: Decimal = 1.50
    var comment: String?
    @Relationship(inverse: \Waybill.parcel) var waybill: HasOne<Waybill>
}

@Model struct Waybill {
    @Attribute(.primaryKey) var parcel: ToOne<Parcel>
    var text: String = "a \"line\"\nand another"
}

@Model struct Crate {
    @Attribute(.primaryKey) let key: UUID
    var depot: ToOne<Depot>?
    var parcels: ToMany<Parcel>
}

@Model struct Depot {
    @Attribute(.primaryKey) let row: Int
    @Attribute(.primaryKey) let place: String
}

@Suite struct DumpTests {
    private static let stamp = UUID(uuidString: "886313e1-3b8a-5372-9b90-0c9aee199e5d")!  // of version 5

    private static func parcels() throws -> Store {
        let store = try Store.inMemory(for: Crate.self)
        let label = UUID()
        let depot = Depot(row: 1, place: "A")
        let first = try store.save(Parcel(label: label, batch: Self.stamp, notes: [label, UUID()]))
        try store.save(Waybill(parcel: ToOne(first)))
        var second = try store.save(Parcel(label: UUID(), batch: label))
        second.comment = "late"
        try store.save(second)
        try store.save([
            Crate(key: UUID(), depot: ToOne(depot), parcels: ToMany([second, first])), Crate(key: UUID()),
        ])
        return store
    }

    // MARK: Stores

    @Test func dumpsAreDeterministic() throws {
        let text = try Self.parcels().dump()
        #expect(
            text == """
                Crate (2)
                  key: Crate#1, depotRow: 1, depotPlace: "A"
                  key: Crate#2, depotRow: nil, depotPlace: nil
                Depot (1)
                  row: 1, place: "A"
                Parcel (2)
                  id: Parcel#1, created: <date 1>, updated: <date 1>, label: <uuid 1>, batch: \(Self.stamp.lowercased), \
                notes: ["<uuid 1>","<uuid 2>"], due: 2001-09-09T01:46:40Z, isFragile: true, price: 1.5, comment: nil
                  id: Parcel#2, created: <date 2>, updated: <date 3>, label: <uuid 3>, batch: <uuid 1>, \
                notes: [], due: 2001-09-09T01:46:40Z, isFragile: true, price: 1.5, comment: "late"
                Waybill (1)
                  parcelId: Parcel#1, text: "a \\"line\\"\\nand another"
                Crate.parcels (2)
                  Crate#1 → Parcel#1
                  Crate#1 → Parcel#2
                """)
        #expect(try Self.parcels().dump() == text)
    }

    @Test func entitiesCanBeChosen() throws {
        let store = try Self.parcels()
        #expect(try store.dump(["Depot"]) == "Depot (1)\n  row: 1, place: \"A\"")
        #expect(try store.dump(["Waybill"]).contains("parcelId: Parcel#1"))
    }

    @Test func rawDumpsShowKeysAndStampsUnchanged() throws {
        let store = try Self.parcels()
        let text = try store.dump(raw: true)
        let parcels = try store.fetch(Parcel.all)
        for parcel in parcels {
            #expect(text.contains("id: Parcel(\(parcel.id)), created: 20"))
            #expect(text.contains("label: \(parcel.label.lowercased)"))
        }
        #expect(!text.contains("#") && !text.contains("<"))
        let graph = try parcels.dump(raw: true)
        #expect(graph.contains("Parcel(\(parcels[0].id))\n  created: 20"))
        #expect(!graph.contains("#") && !graph.contains("<"))
    }

    @Test func orderedListsAreInTheirOrder() throws {
        let store = try Store.inMemory(for: Book.self)
        let authors = try store.save(["C", "A", "B"].map { Author(name: $0) })
        var book = Book(title: "T")
        book.authors.set([authors[2], authors[0], authors[1]])
        try store.save(book)
        #expect(
            try store.dump(["Book"]).hasSuffix(
                "Book.authors (3)\n  Book#1 → Author#3\n  Book#1 → Author#1\n  Book#1 → Author#2"))
    }

    // MARK: Graphs

    @Test func dumpsShowTheLoadedPartOfAGraph() throws {
        let store = try Store.inMemory(for: Book.self)
        let genre = Genre(name: "Fantasy")
        let authors = ["P", "G"].map { Author(name: $0) }
        try store.save([
            Book(
                title: "One", year: 1990, genre: ToOne(genre), isbn: ToOne(ISBN(value: "1-2")), authors: ToMany(authors)
            ),
            Book(title: "Two", genre: ToOne(genre), authors: ToMany([authors[1]])), Book(title: "Three"),
        ])
        let query = Book.sorted { $0.title }.including {
            $0.genre; $0.authors
        }
        let text = try store.fetch(query).dump()
        #expect(
            text == """
                Book#1
                  title: "One"
                  year: 1990
                  price: nil
                  genre: Genre#1
                    name: "Fantasy"
                  isbn: ISBN("1-2")
                  authors (2)
                    Author#1
                      name: "P"
                    Author#2
                      name: "G"
                Book#2
                  title: "Three"
                  year: 2000
                  price: nil
                  genre: nil
                  isbn: nil
                  authors (0)
                Book#3
                  title: "Two"
                  year: 2000
                  price: nil
                  genre: Genre#1 (above)
                  isbn: nil
                  authors (1)
                    Author#2 (above)
                """)
        let one = try #require(try store.first(query))
        #expect(try one.dump() == text.components(separatedBy: "\nBook#2")[0])
        // Not loaded: the key of the to-one, nothing of the list.
        let bare = try #require(try store.first(Book.where { $0.title == "Two" }))
        #expect(
            try bare.dump() == "Book#1\n  title: \"Two\"\n  year: 2000\n  price: nil\n  genre: Genre#1\n  isbn: nil")
    }

    @Test func objectsWithOtherLoadedLinksAreShownAgain() throws {
        let store = try Store.inMemory(for: Folder.self)
        let root = try store.save(Folder(name: "root"))
        try store.save(Folder(name: "leaf", parent: ToOne(root)))
        let loaded = try store.load(root) { $0.children.including { $0.parent } }
        #expect(
            try loaded.dump() == """
                Folder#1
                  name: "root"
                  parent: nil
                  children (1)
                    Folder#2
                      name: "leaf"
                      parent: Folder#1
                        name: "root"
                        parent: nil
                """)
    }

    @Test func linksOfEveryKindAreShown() throws {
        let store = try Store.inMemory(for: Setlist.self, Citizen.self)
        let tune = Tune(name: "Blue")
        var list = Setlist(name: "Friday")
        list.items.add([
            SetlistItem(setlist: .unset, tune: ToOne(tune)), SetlistItem(setlist: .unset, tune: ToOne(tune)),
        ])
        list = try store.load(try store.save(list)) { $0.tunes }
        #expect(
            try list.dump().hasSuffix("\n  tunes (2)\n    Tune(\"Blue\")\n    Tune(\"Blue\") (above)"))

        let citizen = try store.save(Citizen(name: "Ada", passport: HasOne(Passport(number: "P1", holder: .unset))))
        #expect(
            try store.load(citizen) {
                $0.passport; $0.desk
            }.dump() == """
                Citizen(1)
                  name: "Ada"
                  passport: Passport("P1")
                    holder: Citizen(1)
                  desk: nil
                """)
    }

    @Test func newAndEditedObjectsAreMarked() throws {
        var series = Series(title: "S")
        series.episodes.add(Episode(title: "E", series: .unset))
        #expect(
            try series.dump() == """
                Series(new)
                  title: "S"
                  episodes: not loaded (edits to save)
                """)
        var folder = Folder(name: "root", children: ToMany([Folder(name: "leaf")]))
        #expect(try folder.dump().contains("\n  children (1, edits to save)\n    Folder#2\n      name: \"leaf\""))
        folder.parent = .unset
        #expect(try folder.dump().contains("parent: nil"))
    }

    @Test func danglingReferencesAreMarkedAsMissing() throws {
        let store = try Store.inMemory(for: Trunk.self)
        try store.insert(Dangling(mark: ToOne(Seal(name: "gone"))))
        try store.delete(Seal.self, id: "gone")
        #expect(try store.fetch(Dangling.all).dump().hasSuffix("mark: Seal(\"gone\")"))
        #expect(try store.fetch(Dangling.all.including { $0.mark }).dump().hasSuffix("mark: Seal(\"gone\") (missing)"))
    }

    @Test func keysMadeOfObjectsNameTheObject() throws {
        let store = try Self.parcels()
        let receipts = try store.fetch(Waybill.all)
        #expect(try receipts.dump() == "Waybill#1\n  parcel: Parcel#1\n  text: \"a \\\"line\\\"\\nand another\"")
        let parcels = try store.fetch(Parcel.all.including { $0.waybill })
        #expect(try parcels.dump().contains("comment: nil\n  waybill: Waybill#1\n    parcel: Parcel#1\n    text:"))
        #expect(try parcels.dump().contains("comment: \"late\"\n  waybill: nil"))
    }
}

extension UUID {
    fileprivate var lowercased: String { uuidString.lowercased() }
}
