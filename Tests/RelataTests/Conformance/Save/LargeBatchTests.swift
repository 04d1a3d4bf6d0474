import Foundation
import Relata
import Testing

@Model struct Freight {
    let id: Int
    @Attribute(.unique) var label: String
    var weight: Double
    var note: String?
    var isFragile: Bool
    var price: Decimal
    var content: Data
    var tags: [String]
    var sent: Date
    var tracking: UUID?
    var pallet: ToOne<Pallet>?

    static func samples(_ range: Range<Int>) -> [Freight] {
        range.map { number in
            Freight(
                id: number, label: "Freight \(number)", weight: Double(number) / 8,
                note: number % 3 == 0 ? nil : "Note \(number) – „äöü“ \(number % 7 == 0 ? "" : "🎁")",
                isFragile: number % 2 == 0, price: Decimal(number) / 100, content: Data([UInt8(number % 256), 0, 1]),
                tags: number % 5 == 0 ? [] : ["a\(number)", "b"],
                sent: Date(timeIntervalSince1970: Double(number) * 1000.5),
                tracking: number % 4 == 0 ? nil : UUID(), pallet: nil)
        }
    }
}

@Model struct Pallet {
    var id: Int?
    var name: String
    @Relationship(inverse: \Freight.pallet) var freights: ToMany<Freight>
}

/// Batches so large that an engine may write many rows with one statement: their results are the same.
@Suite struct LargeBatchTests {
    private static let count = 2500

    private func store(_ engine: Engine) throws -> Store {
        try TestStore.make(engine, for: Freight.self, Article.self)
    }

    @Test(arguments: Engine.allCases, [2, 150, 1000, 2500])
    func insertedObjectsAreReadBack(_ engine: Engine, _ count: Int) throws {
        let store = try store(engine)
        let freights = Freight.samples(0..<count)
        #expect(try store.insert(freights) == freights)
        #expect(try store.fetch(Freight.all.sorted { $0.id }) == freights)
    }

    @Test(arguments: Engine.allCases) func keysThatTheDatabaseAssignsBelongToTheirObjects(_ engine: Engine) throws {
        let store = try store(engine)
        let pallets = try store.insert((0..<Self.count).map { Pallet(name: "\($0)") })
        #expect(Set(pallets.compactMap(\.id)).count == Self.count)
        let stored = try store.fetch(Pallet.all)
        let names = Dictionary(uniqueKeysWithValues: stored.map { ($0.id, $0.name) })
        #expect(pallets.allSatisfy { names[$0.id] == $0.name })
    }

    @Test(arguments: Engine.allCases) func givenKeysAreNeverAssignedLater(_ engine: Engine) throws {
        let store = try store(engine)
        let given = try store.insert((1...300).map { Pallet(id: $0 * 10, name: "given \($0)") })
        let mixed = try store.insert((0..<300).map { Pallet(id: $0 % 3 == 0 ? 10_000 + $0 : nil, name: "mixed \($0)") })
        let assigned = try store.insert((0..<300).map { Pallet(name: "assigned \($0)") })
        let keys = (given + mixed + assigned).compactMap(\.id)
        #expect(keys.count == 900 && Set(keys).count == 900)
        #expect(assigned.allSatisfy { $0.id ?? 0 > 10_297 })
        #expect(mixed.enumerated().allSatisfy { $0 % 3 != 0 || $1.id == 10_000 + $0 })
    }

    @Test(arguments: Engine.allCases, [1, 700, 2499])
    func theFirstRefusedObjectIsNamed(_ engine: Engine, _ place: Int) throws {
        let store = try store(engine)
        try store.insert(Freight.samples(5000..<5001))
        try store.write { transaction in
            try transaction.insert(Freight.samples(6000..<6001))
            var freights = Freight.samples(0..<Self.count)
            freights[place] = Freight.samples(5000..<5001)[0]
            let key = thrown { try transaction.insert(freights) }
            guard case .alreadyExists(let object)? = key else { return #expect(Bool(false), "\(key as Any)") }
            #expect(object.key == KeyValue(.integer(5000)))

            freights = Freight.samples(0..<Self.count)
            freights[place].label = "Freight 5000"
            let unique = thrown { try transaction.insert(freights) }
            guard case .uniqueViolation("Freight", ["label"])? = unique else {
                return #expect(Bool(false), "\(unique as Any)")
            }

            freights = Freight.samples(0..<Self.count)
            freights[place].pallet = ToOne(id: 77)
            if place < 2499 { freights[2499].pallet = ToOne(id: 78) }
            let reference = thrown { try transaction.insert(freights) }
            guard case .invalidReference("Freight", "pallet", KeyValue(.integer(77))?)? = reference else {
                return #expect(Bool(false), "\(reference as Any)")
            }
            // The transaction continues.
            try transaction.insert(Freight.samples(7000..<7001))
        }
        #expect(try store.fetch(Freight.all).map(\.id).sorted() == [5000, 6000, 7000])
    }

    @Test(arguments: Engine.allCases) func aSaveInsertsAndUpdates(_ engine: Engine) async throws {
        let store = try store(engine)
        try await store.insert(Freight.samples(0..<1000))
        var freights = Freight.samples(500..<2000)
        for index in freights.indices { freights[index].note = "saved \(index)" }
        let saved = freights
        #expect(
            try await store.feed { _ = try $0.save(saved) }.sorted() == [
                "Freight insert 1000",
                "Freight update 500 label,weight,note,isFragile,price,content,tags,sent,tracking,pallet",
            ])
        let stored = try await store.fetch(Freight.all.sorted { $0.id })
        #expect(stored.count == 2000 && Array(stored[500...]) == saved)
        // An object given twice with the same content is saved once.
        #expect(try await store.save(saved + saved.prefix(300)).count == 1800)
        #expect(try await store.count(Freight.all) == 2000)
    }

    @Test(arguments: Engine.allCases) func updatesOfMissingObjectsNameThem(_ engine: Engine) throws {
        let store = try store(engine)
        var freights = try store.insert(Freight.samples(0..<Self.count))
        for index in freights.indices { freights[index].weight += 1 }
        #expect(try store.update(freights) == freights)
        #expect(try store.fetch(Freight.all.sorted { $0.id }) == freights)
        try store.delete(freights[1234])
        try store.delete(freights[2345])
        for index in freights.indices { freights[index].weight += 1 }
        guard case .notFound(let object)? = thrown({ try store.update(freights) }) else {
            return #expect(Bool(false), "nothing was thrown")
        }
        #expect(object.key == KeyValue(.integer(1234)))
        #expect(try store.fetch(Freight.self, id: 0)?.weight == 1)
    }

    @Test(arguments: Engine.allCases) func uniqueValuesAreSwapped(_ engine: Engine) throws {
        let store = try store(engine)
        var freights = try store.insert(Freight.samples(0..<400))
        let labels = freights.map(\.label)
        for index in freights.indices { freights[index].label = labels[(index + 1) % labels.count] }
        try store.update(freights)
        #expect(try store.fetch(Freight.all.sorted { $0.id }).map(\.label) == freights.map(\.label))
    }

    @Test(arguments: Engine.allCases) func stampsAndRevisionsMatchSingleSaves(_ engine: Engine) throws {
        let store = try store(engine)
        let articles = try store.insert((0..<500).map { Article(title: "\($0)") })
        #expect(articles.allSatisfy { $0.revision == 1 })
        var changed = articles
        for index in changed.indices { changed[index].title += "!" }
        let updated = try store.save(changed)
        #expect(updated.allSatisfy { $0.revision == 2 })
        #expect(zip(articles, updated).allSatisfy { $0.created == $1.created })
        let stored = Dictionary(uniqueKeysWithValues: try store.fetch(Article.all).map { ($0.id, $0) })
        #expect(updated.allSatisfy { stored[$0.id] == $0 })
        // A concurrent change is committed first.
        var other = updated[321]
        other.title = "other"
        try store.update(other)
        guard case .conflict(let conflict)? = thrown({ try store.update(updated) }) else {
            return #expect(Bool(false), "nothing was thrown")
        }
        #expect(conflict.object.entity == "Article" && conflict.given as? Article == updated[321])
        #expect(try store.fetch(Article.where { $0.revision == 2 }).count == 499)
    }

    @Test(arguments: Engine.allCases) func linkedObjectsStayUnchanged(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let authors = try store.insert((0..<300).map { Author(name: "Author \($0)") })
        let genre = Genre(name: "new")
        let books = (0..<600).map { number in
            var book = Book(title: "Book \(number)", genre: ToOne(genre), isbn: ToOne(ISBN(value: "\(number)")))
            book.authors.add([authors[number % 300], Author(name: "Other \(number)")])
            return book
        }
        try store.save(books)
        #expect(try store.count(Author.all) == 900)
        let stored = try store.fetch(
            Book.all.including {
                $0.authors; $0.isbn
            })
        #expect(stored.count == 600)
        for book in stored {
            let number = try #require(Int(book.title.dropFirst(5)))
            #expect(book.isbn?.id == "\(number)")
            #expect(try book.authors.objects.map(\.name) == ["Author \(number % 300)", "Other \(number)"])
        }
    }

    @Test(arguments: Engine.allCases) func cancelledBatchesWriteNothing(_ engine: Engine) async throws {
        let store = try store(engine)
        let freights = Freight.samples(0..<20_000)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await store.insert(freights).count
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await store.count(Freight.all) == 0)
        #expect(try await store.insert(Array(freights.prefix(300))).count == 300)
    }
}
