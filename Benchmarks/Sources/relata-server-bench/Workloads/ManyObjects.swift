#if Server
import BenchmarkReport
import Foundation
import Relata

// Many objects in one request, at full load, compared with the library by itself for the objects, and Foundation for
// their JSON.

extension ServerWorkload {
    /// A hundred books as they are, which the peer supports, too.
    static let list = ServerWorkload(name: "http-list", targets: Kinto.targets) { bench in
        let medians = try await bench.medians(
            [{ try bench.wrk.milliseconds(bench.library.list, port: bench.reading.port) }] + bench.contestants(\.list))
        return Outcome(ours: medians[0], peers: bench.peers(medians[1...]))
    }

    /// A hundred books with the objects of two pointers.
    static let find = ServerWorkload(name: "http-find", targets: [.limit(1.5)]) { bench in
        let store = bench.readingStore
        return try await bench.measure(bench.library.find) {
            try await store.fetch(Book.all.limit(100).shaped(as: FullBook.self))
        }
    }

    /// The hundred books of a shelf.
    static let related = ServerWorkload(name: "http-related", targets: [.limit(1.5)]) { bench in
        let store = bench.readingStore
        guard let shelf = try await store.fetch(Shelf.self, id: bench.library.shelf) else {
            throw Failure("the shelf is missing")
        }
        return try await bench.measure(bench.library.related) {
            try await store.fetch(shelf.related { $0.books }.shaped(as: PlainBook.self))
        }
    }

    /// Fifty new books in one request, compared with a single one: the time that a client waits if it is alone.
    static let batch = ServerWorkload(name: "http-batch", targets: [.limit(3)]) { bench in
        let (library, port) = (bench.library, bench.writing.port)
        let medians = try await bench.medians([
            { try bench.wrk.milliseconds(library.batch, port: port, connections: 1) },
            { try bench.wrk.milliseconds(library.create, port: port, connections: 1) },
        ])
        return Outcome(ours: medians[0], limit: medians[1])
    }
}

extension ServerBench {
    fileprivate func measure<Result: Encodable & Sendable>(
        _ call: HTTPCall, _ fetch: @escaping @Sendable () async throws -> [Result]
    ) async throws -> Outcome {
        let count = try await fetch().count
        guard count == 100 else { throw Failure("the library found \(count) objects") }
        let reply = try JSONDecoder().decode(Reply.self, from: Data(ServerConnection(port: reading.port).answer(call)))
        guard reply.results.count == 100 else { throw Failure("the server found \(reply.results.count) objects") }
        let medians = try await medians([
            { try self.wrk.milliseconds(call, port: self.reading.port) },
            {
                try await self.milliseconds { _ in
                    guard try JSONEncoder().encode(await fetch()).count > 10_000 else {
                        throw Failure("objects are missing")
                    }
                }
            },
        ])
        return Outcome(ours: medians[0], limit: medians[1])
    }
}

private struct Reply: Decodable {
    struct Object: Decodable { let objectId: String }

    let results: [Object]
}
#endif
