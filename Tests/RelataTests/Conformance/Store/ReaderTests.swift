import Relata
import Testing

@Suite struct ReaderTests {
    /// The titles of a genre's books, read by two calls.
    private func titles(of name: String, in reader: some StoreReader) throws -> [String] {
        guard let genre = try reader.first(Genre.where { $0.name == name }) else { return [] }
        return try reader.related(to: genre) { $0.books }.map(\.title).sorted()
    }

    /// Saves a book with a new genre.
    private func shelve(_ title: String, _ name: String, in writer: some StoreWriter) throws {
        try writer.write { try $0.save(Book(title: title, genre: ToOne(Genre(name: name)))) }
    }

    @Test(arguments: Engine.allCases) func oneFunctionReadsFromAStoreAndWithinATransaction(engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        try shelve("Dune", "Fiction", in: store)
        #expect(try titles(of: "Fiction", in: store) == ["Dune"])
        try store.write { tx in
            try shelve("Sourdough", "Baking", in: tx)
            #expect(try titles(of: "Baking", in: tx) == ["Sourdough"])
        }
        #expect(try store.read { try titles(of: "Baking", in: $0) } == ["Sourdough"])
    }

    @Test(arguments: Engine.allCases) func nestedWritesBelongToTheTransaction(engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        #expect(throws: Rollback.self) {
            try store.write { tx in
                try shelve("Dune", "Fiction", in: tx)
                throw Rollback()
            }
        }
        #expect(try store.count(Book.all) == 0)
        #expect(try store.count(Genre.all) == 0)
    }
}
