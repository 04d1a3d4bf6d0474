#if PostgreSQL
import Foundation
import Relata
import Testing

/// The number of statements for a batch, each of which is a round trip.
@Suite(.enabled(if: !Engine.postgres.isEmpty)) struct BatchStatementTests {
    private func store(_ log: StatementLog) throws -> Store {
        try TestStore.make(
            try #require(Engine.postgres.first), for: Freight.self, Article.self, Book.self, options: log.options)
    }

    @Test func manyNewObjectsAreCopiedAndFewTakeOneStatement() throws {
        let log = StatementLog()
        let store = try store(log)
        _ = log.take()
        try store.insert(Freight.samples(0..<10_000))
        #expect(log.take().map { $0.hasPrefix("COPY") } == [true])
        try store.insert(Freight.samples(10_000..<10_100))
        #expect(log.take().map { $0.hasPrefix("INSERT") } == [true])
        try store.insert((0..<2500).map { Pallet(name: "\($0)") })
        #expect(log.take().count == 3)
    }

    @Test func savesAndUpdatesTakeOneStatementForAThousandObjects() throws {
        let log = StatementLog()
        let store = try store(log)
        let freights = try store.insert(Freight.samples(0..<1000))
        let articles = try store.insert((0..<500).map { Article(title: "\($0)") })
        _ = log.take()
        try store.update(
            freights.map { freight in
                var freight = freight
                freight.weight = 0
                return freight
            })
        // One of the two statements looks for objects whose unique values others get.
        #expect(log.take().count == 2)
        try store.update(articles)
        #expect(log.take().count == 1)
    }

    @Test func failingObjectsAreFoundByBisection() throws {
        let log = StatementLog()
        let store = try store(log)
        try store.insert(Freight.samples(900..<901))
        _ = log.take()
        #expect(thrown { try store.insert(Freight.samples(0..<1000)) }?.kind == "alreadyExists")
        #expect(log.take().count < 25)
    }
}
#endif
