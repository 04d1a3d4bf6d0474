import Relata
import Testing

@Test func oneCallSavesABookWithItsGenreIsbnAndAuthors() throws {
    let store = try Store.inMemory(for: Book.self)
    try store.write { tx in
        var book = Book(
            title: "The Dispossessed", genre: ToOne(Genre(name: "Science fiction")), isbn: ToOne(ISBN(value: "1")))
        book.authors.add([Author(name: "A"), Author(name: "B"), Author(name: "C")])
        let saved = try tx.save(book)
        #expect(!saved.authors.hasEdits)
        #expect(try tx.count(Author.all) == 3)
        #expect(try tx.related(to: saved) { $0.authors }.map(\.name) == ["A", "B", "C"])
        #expect(try tx.related(to: saved) { $0.genre }?.name == "Science fiction")
        let found = try tx.fetch(
            Book.where { $0.genre.name == "Science fiction" && $0.authors.contains { $0.name == "B" } })
        #expect(found.map(\.id) == [book.id])
        let rows = try tx.fetch(Book.all.select { ($0.title, $0.genre.name) })
        #expect(rows.map(\.0) == ["The Dispossessed"])
        #expect(rows.map(\.1) == ["Science fiction"])
    }
}

@Test func keysThatTheDatabaseAssignsReachNestedObjects() throws {
    let store = try Store.inMemory(for: Series.self)
    try store.write { tx in
        var series = Series(title: "S")
        series.episodes.add([Episode(title: "1"), Episode(title: "2")])
        let saved = try tx.save(series)
        #expect(saved.id == 1)
        let episodes = try tx.related(to: saved) { $0.episodes }
        #expect(episodes.map(\.title) == ["1", "2"])
        #expect(episodes.map(\.series.id) == [1, 1])
        try tx.update(Series.self, id: 1) { $0.episodes.place(id: 2, after: nil) }
        #expect(try tx.related(to: saved) { $0.episodes }.map(\.title) == ["2", "1"])
        let report = try tx.delete(saved)
        #expect(report.deletedCount == 3)
    }
}
