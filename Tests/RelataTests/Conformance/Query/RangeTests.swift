import Relata
import Testing

/// Conditions with a range of values.
@Suite struct RangeTests {
    @Test(arguments: Engine.allCases) func rangesWorkForOptionalAttributes(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        for (title, price) in [("a", 1.0), ("b", 2), ("c", nil), ("d", 3)] {
            try store.save(Book(title: title, year: 2000 + Int(price ?? 0), price: price))
        }
        func titles(_ query: Query<Book>) throws -> [String] {
            try store.fetch(query.sorted { $0.title }).map(\.title)
        }
        #expect(try titles(Book.where { $0.price.in(1...2) }) == ["a", "b"])
        #expect(try titles(Book.where { $0.price.in(1..<2) }) == ["a"])
        #expect(try titles(Book.where { !$0.price.in(1...2) }) == ["c", "d"])
        #expect(try titles(Book.where { $0.year.in(2001...2002) }) == ["a", "b"])
        #expect(try titles(Book.where { $0.year.in(2001..<2002) }) == ["a"])
    }

    /// As Swift writes it, and `#Predicate`.
    @Test(arguments: Engine.allCases) func containsWorksInBothDirections(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        let genres = try store.insert([Genre(name: "x"), Genre(name: "y")])
        for (title, price, genre) in [("a", 1.0, genres[0]), ("b", 2, genres[1]), ("c", nil, nil), ("d", 3, nil)] {
            try store.save(Book(title: title, year: 2000 + Int(price ?? 0), price: price, genre: genre))
        }
        func titles(_ query: Query<Book>) throws -> [String] {
            try store.fetch(query.sorted { $0.title }).map(\.title)
        }
        #expect(try titles(Book.where { ["a", "c", "x"].contains($0.title) }) == ["a", "c"])
        #expect(try titles(Book.where { !["a", "c"].contains($0.title) && $0.year > 2002 }) == ["d"])
        #expect(try titles(Book.where { Set([2001, 2002]).contains($0.year) }) == ["a", "b"])
        #expect(try titles(Book.where { genres.contains($0.genre) }) == ["a", "b"])
        #expect(try titles(Book.where { [genres[1]].contains($0.genre) }) == ["b"])
        #expect(try titles(Book.where { (2001...2002).contains($0.year) }) == ["a", "b"])
        #expect(try titles(Book.where { (2001..<2002).contains($0.year) }) == ["a"])
        #expect(try titles(Book.where { (1.5...3).contains($0.price) }) == ["b", "d"])
        #expect(try titles(Book.where { (1.5..<3).contains($0.price) }) == ["b"])
        #expect(try titles(Book.where { (2002...).contains($0.year) }) == ["b", "d"])
        #expect(try titles(Book.where { (...2000).contains($0.year) }) == ["c"])
        #expect(try titles(Book.where { (..<2001).contains($0.year) }) == ["c"])
        // Swift's own `contains` still works.
        #expect([1, 2].contains(2) && (1...2).contains(2) && ["a"].contains { $0 == "a" })
    }
}
