import Foundation
import Relata
import RelataTesting
import Testing

/// The feed, compared with the tables before and after.
struct RecordingPropertyTests {
    @Test(arguments: Engine.inTurn(1...4))
    func everyChangedObjectIsNamed(_ engine: Engine, _ seed: UInt64) async throws {
        var random = SampleRandom(seed: seed)
        let store = try TestStore.make(engine, for: Book.self, Series.self, Folder.self)
        let feed = store.changes
        var changes = feed.makeAsyncIterator()
        var before = try await state(store)
        for step in 0..<60 {
            let choice = Int.random(in: 0..<12, using: &random)
            let number = Int.random(in: 0..<1_000_000, using: &random)
            try await store.write { tx in
                try Self.act(tx, choice, number)
                try tx.insert(Folder(name: "\(step)"))
            }
            let after = try await state(store)
            let set = try #require(await changes.next())
            for entity in Set(before.keys.map(\.entity) + after.keys.map(\.entity)) {
                let old = before.filter { $0.key.entity == entity }
                let new = after.filter { $0.key.entity == entity }
                let named = Set(
                    set.changes.filter { $0.entity == entity }.flatMap { change in change.keys.map { $0 } })
                for (object, row) in new where old[object] != row {
                    #expect(named.contains(object.key), "seed \(seed), step \(step), choice \(choice): \(object)")
                }
                for object in old.keys where new[object] == nil {
                    #expect(
                        set.keys(of: entity, .delete).contains(object.key),
                        "seed \(seed), step \(step), choice \(choice): \(object)")
                }
            }
            before = after
        }
    }

    /// All rows of all entities, and for each object the join rows it is in.
    private func state(_ store: Store) async throws -> [ObjectReference: [[Value]]] {
        try await store.read { tx in
            var rows: [ObjectReference: [[Value]]] = [:]
            for table in store.schema.tables {
                for row in try tx.rows("SELECT * FROM \(name: table.sqlName)") {
                    let key = KeyValue(
                        table.keyColumns.map { column in
                            if case .blob(let data) = row[column] {
                                return .uuid(UUID(databaseValue: .blob(data)) ?? UUID())
                            }
                            return row[column]
                        })
                    rows[ObjectReference(entity: table.name, key: key), default: []].append(
                        table.columns.indices.map { row[$0] })
                }
            }
            return rows
        }
    }

    /// One random write, if there is something to write to.
    private static func act(_ tx: WriteTransaction, _ choice: Int, _ number: Int) throws {
        let books = try tx.fetch(
            Book.sorted {
                $0.title; $0.id
            })
        let genres = try tx.fetch(Genre.sorted { $0.name })
        let book = books.isEmpty ? nil : books[number % books.count]
        let genre = genres.isEmpty ? nil : genres[number % genres.count]
        switch choice {
        case 0, 1:
            var new = Book(title: "\(number)", genre: ToOne(Genre(name: "\(number)")))
            new.isbn = ToOne(ISBN(value: "\(number)"))
            new.authors.add([Author(name: "a\(number)"), Author(name: "b\(number)")])
            try tx.save(new)
        case 2:
            guard let book else { return }
            try tx.update(book.id) { $0.year = number }
        case 3:
            guard let book, let genre else { return }
            try tx.update(genre.id) { $0.books.add(book) }
        case 4:
            guard let genre else { return }
            try tx.update(genre.id) { $0.books.set([]) }
        case 5:
            guard let genre else { return }
            try tx.delete(genre)
        case 6:
            guard let book else { return }
            try tx.delete(book)
        case 7: try tx.update(Book.where { $0.year < 500_000 }) { $0.price.set(to: Double(number)) }
        case 8:
            var series = Series(title: "\(number)")
            series.episodes.add([Episode(title: "1"), Episode(title: "2"), Episode(title: "3")])
            _ = try tx.save(series)
        case 9:
            guard let series = try tx.first(Series.all), let id = series.id,
                let episode = try tx.related(to: series, { $0.episodes }).last
            else { return }
            try tx.update(Series.self, id: id) { $0.episodes.place(episode, after: nil) }
        case 10:
            guard let series = try tx.first(Series.all) else { return }
            try tx.delete(series)
        default:
            // The partner of a one-to-one is taken away from another book.
            guard let book, let isbn = try tx.first(ISBN.all) else { return }
            try tx.update(book.id) { $0.isbn = ToOne(isbn) }
        }
    }
}
