import Foundation
import Relata
import Testing

/// Objects one at a time, while others read and write.
@Suite struct StreamTests {
    private func store(
        _ engine: Engine, episodes: Int = 250, options: Store.Options = Store.Options()
    ) throws -> Store {
        let store = try TestStore.make(engine, for: Series.self, options: options)
        try store.write { tx in
            let series = try tx.save(Series(title: "Cosmos"))
            try tx.insert(
                (0..<episodes).map { Episode(title: "\($0)", position: $0, series: ToOne(series)) })
        }
        return store
    }

    @Test(arguments: Engine.allCases) func streamsYieldTheResultsOfAFetch(engine: Engine) async throws {
        let store = try store(engine)
        let query = Episode.where { $0.position >= 10 }.sorted { $0.position.descending }.limit(230)
        var streamed: [Episode] = []
        for try await episode in store.stream(query) { streamed.append(episode) }
        #expect(streamed == (try await store.fetch(query)))
        #expect(streamed.count == 230)
        // The same stream may be run again.
        let stream = store.stream(Episode.where { $0.position == 7 })
        for _ in 0..<2 {
            var titles: [String] = []
            for try await episode in stream { titles.append(episode.title) }
            #expect(titles == ["7"])
        }
    }

    @Test(arguments: Engine.allCases) func streamsLoadIncludes(engine: Engine) async throws {
        let log = StatementLog()
        let store = try store(engine, options: log.options)
        _ = log.take()
        var count = 0
        for try await episode in store.stream(Episode.all.including { $0.series }) {
            #expect(try episode.series.object.title == "Cosmos")
            count += 1
        }
        #expect(count == 250)
        // A hundred at a time, or all at once if there is no other connection.
        #expect(log.take().count == (engine.isShared ? 4 : 2))
        let titles = try await store.read { tx in
            var titles: Set<String> = []
            try tx.forEach(Episode.all.including { $0.series }) { titles.insert(try $0.series.object.title) }
            return titles
        }
        #expect(titles == ["Cosmos"])
    }

    @Test(arguments: Engine.allCases)
    func streamsReadASnapshot(engine: Engine) async throws {
        let store = try store(engine)
        var positions: [Int] = []
        for try await episode in store.stream(Episode.all.sorted { $0.position }) {
            positions.append(episode.position)
            if positions.count == 1 { try await store.delete(Episode.where { $0.position > 100 }) }
            // Reads see the present, and neither they nor writes wait for the loop.
            if positions.count % 50 == 0 {
                try await store.update(Episode.self, id: episode.id) { $0.position = -1 }
                #expect(try await store.count(Episode.all) < 250)
            }
            if positions.count == 100 { break }
        }
        #expect(positions == Array(0..<100))
        #expect(try await store.count(Episode.where { $0.position == -1 }) == 2)
    }

    @Test(arguments: Engine.embedded.filter(\.isShared)) func streamsReadOnDemand(_ engine: Engine)
        async throws
    {
        let log = StatementLog()
        let store = try store(engine, options: log.options)
        _ = log.take()
        var iterator = store.stream(Episode.all).makeAsyncIterator()
        #expect(log.take().isEmpty)
        _ = try await iterator.next()
        // A statement is traced when it is over.
        #expect(log.take().isEmpty)
        while try await iterator.next() != nil {}
        #expect(log.take().count == 1)
        #expect(try await iterator.next() == nil)
    }

    @Test(arguments: Engine.shared) func openStreamsBlockNobody(_ engine: Engine) async throws {
        var options = Store.Options()
        options.maximumReaders = 2
        let store = try store(engine, options: options)
        var iterators = (0..<20).map { _ in store.stream(Episode.all.sorted { $0.position }).makeAsyncIterator() }
        for index in iterators.indices { #expect(try await iterators[index].next()?.position == 0) }
        try await store.delete(Episode.where { $0.position == 1 })
        #expect(try await store.count(Episode.all) == 249)
        for index in iterators.indices { #expect(try await iterators[index].next()?.position == 1) }
    }

    @Test(arguments: Engine.allCases) func runningStreamsSurviveAClose(engine: Engine) async throws {
        let store = try store(engine)
        var iterator = store.stream(Episode.all).makeAsyncIterator()
        _ = try await iterator.next()
        try store.close()
        var count = 1
        while try await iterator.next() != nil { count += 1 }
        #expect(count == 250)
        let error = await thrown { for try await _ in store.stream(Episode.all) {} }
        #expect(error?.kind == "closed")
    }
}
