import Foundation
import Relata
import Testing

/// Sums and averages, of all objects and of related ones.
@Suite struct FigureTests {
    @Test(arguments: Engine.allCases) func theAverageOfDecimalsIsANumber(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Sample.self)
        #expect(try store.value(of: Sample.all) { $0.decimal.average() } == nil)
        try store.insert([Sample(decimal: 1.5), Sample(decimal: 2)])
        #expect(try store.value(of: Sample.all) { $0.decimal.average() } == 1.75)
        #expect(try store.value(of: Sample.all) { $0.decimal.sum() } == 3.5)
        #expect(
            try store.fetch(Sample.all.grouped { $0.flag }.having { $0.decimal.average() > 1.7 }.select { ($0.flag) })
                .count == 1)
    }

    @Test(arguments: Engine.allCases) func aSumIsWiderThanItsNumbers(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Sample.self)
        #expect(try store.value(of: Sample.all) { $0.uint8.sum() } == 0)
        try store.insert([Sample(uint8: 200), Sample(uint8: 100)])
        #expect(try store.value(of: Sample.all) { $0.uint8.sum() } == 300)
        #expect(try store.value(of: Sample.all) { $0.double.sum() } == 0)
    }

    @Test(arguments: Engine.allCases) func sumsOfRelatedObjects(_ engine: Engine) throws {
        let store = try TestStore.make(engine, for: Book.self)
        try store.save([
            Genre(name: "a", books: ToMany([Book(title: "1", year: 3), Book(title: "2", year: 4)])), Genre(name: "b"),
        ])
        let sums = try store.fetch(
            Genre.sorted { $0.name }.select { ($0.name, $0.books.sum { $0.year }, $0.books.average { $0.year }) })
        #expect(sums.map(\.1) == [7, 0] && sums.map(\.2) == [3.5, nil])
    }
}
