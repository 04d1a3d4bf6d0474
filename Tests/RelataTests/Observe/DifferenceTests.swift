import Foundation
import Relata
import RelataTesting
import Testing

/// Differences between lists.
struct DifferenceTests {
    @Test(arguments: Engine.allCases) func elementsInsertedRemovedMovedAndUpdated(_ engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self)
        let books = try await store.insert((1...5).map { Book(title: "\($0)", year: $0) })
        var observer = store.observe(Book.sorted { $0.year }).differences.makeAsyncIterator()
        let first = try #require(try await observer.next())
        #expect(first.inserted.map(\.element.title) == ["1", "2", "3", "4", "5"] && first.removed.isEmpty)
        try await store.write { tx in
            try tx.delete(books[1])
            try tx.update(books[4].id) { $0.year = 0 }
            try tx.update(books[2].id) { $0.title = "three" }
            try tx.insert(Book(title: "6", year: 6))
        }
        let second = try #require(try await observer.next())
        #expect(second.elements.map(\.title) == ["5", "1", "three", "4", "6"])
        #expect(second.inserted.map(\.index) == [4])
        #expect(second.removed.map(\.index) == [1])
        #expect(second.moved.map(\.from) == [4] && second.moved.map(\.to) == [0])
        #expect(second.updated.map(\.new.title) == ["5", "three"])
    }

    @Test(arguments: [1, 2, 3, 4, 5] as [UInt64])
    func applyingADifferenceYieldsTheNewList(_ seed: UInt64) {
        var random = SampleRandom(seed: seed)
        for _ in 0..<300 {
            let old = (0..<Int.random(in: 0...12, using: &random)).shuffled(using: &random)
            let new = (0..<Int.random(in: 0...12, using: &random)).shuffled(using: &random).filter { _ in
                Bool.random(using: &random)
            }
            let difference = ListDifference(from: old, to: new, by: { $0 }, areEqual: ==)
            var list = old
            let leaving = Set(difference.removed.map(\.index) + difference.moved.map(\.from))
            for index in leaving.sorted(by: >) { list.remove(at: index) }
            var arriving = difference.inserted.map { ($0.index, $0.element) }
            arriving += difference.moved.map { ($0.to, $0.element) }
            for (index, element) in arriving.sorted(by: { $0.0 < $1.0 }) { list.insert(element, at: index) }
            #expect(list == new, "seed \(seed)")
        }
    }
}
