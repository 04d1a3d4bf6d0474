#if Server
import BenchmarkReport
import Foundation
import Relata
import Synchronization

/// The part that all workloads share: the servers, and the objects they serve.
final class ServerBench: Sendable {
    let options: Options
    let wrk: Wrk
    let directory: WorkDirectory
    /// The library that is read.
    let library: SampleLibrary
    /// The server of a file that is only read, so that its size stays the same.
    let reading: ServerProcess
    /// The server of a copy, which grows.
    let writing: ServerProcess
    /// The store by itself, on the file that is only read, and on another copy that grows.
    let readingStore: Store
    let writingStore: Store
    /// The peer with each of its backends; without those that aren't installed.
    let peers: [Kinto]
    #if PostgreSQL
    private let database = Mutex<ServedDatabase?>(nil)
    #endif

    init(_ options: Options, _ directory: WorkDirectory) async throws {
        self.options = options
        self.directory = directory
        wrk = Wrk(directory: directory, seconds: options.isQuick ? 1 : 3)
        Report.say("making the objects …")
        library = try await SampleLibrary(
            directory.file("library.sqlite"), books: options.isQuick ? 1_000 : 10_000)
        let copies = (
            try directory.copy(library.path, "served.sqlite"), try directory.copy(library.path, "stored.sqlite")
        )
        reading = try .child("relata", library.path)
        writing = try .child("relata", copies.0)
        readingStore = try await Store.open(library.path, for: Shelf.self)
        writingStore = try await Store.open(copies.1, for: Shelf.self)
        peers = try Self.peers(options, directory, books: library.plainBooks)
    }

    private static func peers(_ options: Options, _ directory: WorkDirectory, books: [String]) throws -> [Kinto] {
        guard let python = options.kinto else {
            Report.say("Kinto isn't measured: scripts/bench --server installs it where PyPI can be reached")
            return []
        }
        var backends = [Kinto.Backend.memory]
        if let address = options.postgresql {
            backends.append(.postgresql(address))
        } else {
            Report.say("Kinto is measured with its memory backend only, as no --postgresql is given")
        }
        return try backends.map { try Kinto(python: python, $0, directory, books: books) }
    }

    #if PostgreSQL
    /// Our server on that database, which is filled on first use. Workloads are measured one after another.
    func served(on url: String) async throws -> ServedDatabase {
        if let served = database.withLock({ $0 }) { return served }
        let served = try await ServedDatabase(url, books: options.isQuick ? 1_000 : 10_000)
        database.withLock { $0 = served }
        return served
    }
    #endif

    /// Another copy of the file that is served, for its own server.
    func copyOfLibrary(_ name: String) throws -> String { try directory.copy(library.path, name) }

    // MARK: Measuring

    /// Measures all contestants in turns, so that other load on the machine affects all of them alike.
    ///
    /// - Returns: The median of each, in milliseconds.
    func medians(_ contestants: [() async throws -> Double]) async throws -> [Double] {
        var times = [[Double]](repeating: [], count: contestants.count)
        for round in 0..<options.rounds {
            for offset in contestants.indices {
                let index = (offset + round) % contestants.count
                times[index].append(try await contestants[index]())
            }
        }
        return times.map(\.median)
    }

    /// The milliseconds for each call of the library by itself, with one call at a time for each processor.
    func milliseconds(
        tasks: Int = ProcessInfo.processInfo.activeProcessorCount, seconds: Int? = nil,
        _ call: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Double {
        let start = Clock.now
        let end = start + Double(seconds ?? wrk.seconds)
        let count = try await withThrowingTaskGroup(of: Int.self) { group in
            for task in 0..<tasks {
                group.addTask {
                    var count = 0
                    while Clock.now < end {
                        try await call(task + count * tasks)
                        count += 1
                    }
                    return count
                }
            }
            return try await group.reduce(0, +)
        }
        return (Clock.now - start) * 1000 / Double(count)
    }
}

/// A clock that only goes forward.
enum Clock {
    /// Seconds since some moment.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
#endif
