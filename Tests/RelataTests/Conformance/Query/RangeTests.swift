import Relata
import Testing

/// Conditions with a range of values.
@Suite struct RangeTests {
    @Test(arguments: Engine.allCases) func aRangeHoldsForAttributesThatMayBeUnsetToo(_ engine: Engine) throws {
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
}
