import Foundation
import Relata
import Testing

/// The files that streams keep open.
@Suite struct StreamFileTests {
    private func store(options: Store.Options = Store.Options()) throws -> Store {
        let store = try TestStore.make(.sqliteFile, for: Series.self, options: options)
        let series = try store.save(Series(title: "Cosmos"))
        try store.insert((0..<250).map { Episode(title: "\($0)", position: $0, series: ToOne(series)) })
        return store
    }

    @Test func loopsAlwaysReturnTheirConnection() async throws {
        struct Stop: Error {}
        let store = try store()
        // If a connection were lost each time, there would soon be no file handle left.
        for round in 0..<300 {
            switch round % 4 {
            case 0:
                for try await _ in store.stream(Episode.all) { break }
            case 1:
                await #expect(throws: Stop.self) {
                    for try await _ in store.stream(Episode.all) { throw Stop() }
                }
            case 2:
                await #expect(throws: RelataError.self) {
                    for try await _ in store.stream(Episode.matching("nonsense == 1")) {}
                }
            default:
                let task = Task {
                    for try await _ in store.stream(Episode.all) { withUnsafeCurrentTask { $0?.cancel() } }
                }
                await #expect(throws: CancellationError.self) { try await task.value }
            }
        }
        #expect(openFiles(store) <= 2 * 3)
        // Once the last reader is gone, the log is copied into the file.
        try store.close()
        #expect(openFiles(store) == 0)
        #expect(!FileManager.default.fileExists(atPath: try #require(store.path) + "-wal"))
    }

    @Test func releasedStreamsCloseTheirFile() async throws {
        var options = Store.Options()
        options.maximumReaders = 2
        let store = try store(options: options)
        var iterators = (0..<20).map { _ in store.stream(Episode.all.sorted { $0.position }).makeAsyncIterator() }
        for index in iterators.indices { #expect(try await iterators[index].next()?.position == 0) }
        for index in iterators.indices { #expect(try await iterators[index].next()?.position == 1) }
        iterators = []
        try store.close()
        #expect(openFiles(store) == 0)
    }

    /// The number of the process's open handles of the store's files.
    private func openFiles(_ store: Store) -> Int {
        let handles = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return handles.count {
            let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
            // All connections of a process share one handle of the index of the log.
            return target?.hasPrefix(store.path ?? "-") == true && target?.hasSuffix("-shm") == false
        }
    }
}
