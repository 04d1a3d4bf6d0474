#if Server
import BenchmarkReport
import Foundation
import Relata
import Synchronization

// One object by its id, and one new object, at full load. The limit is the sum of a bare server's time and the store's
// own time.

extension ServerWorkload {
    static let get = ServerWorkload(name: "http-get", targets: [.rate(0.7)] + Kinto.targets) { bench in
        let (call, books, store) = (bench.library.get, bench.library.books, bench.readingStore)
        let bare = try bench.bareServer(for: call, bench.reading)
        return try await bench.measure(call, bench.reading, bare, peer: \.get) { number in
            guard try await store.fetch(Book.self, id: books[number % books.count]) != nil else {
                throw Failure("a book is missing")
            }
        }
    }

    static let create = ServerWorkload(name: "http-create", targets: [.rate(0.7)] + Kinto.targets) { bench in
        let (call, store) = (bench.library.create, bench.writingStore)
        let bare = try bench.bareServer(for: call, bench.writing)
        return try await bench.measure(call, bench.writing, bare, peer: \.create) { number in
            let now = Date()
            try await store.insert(
                Book(
                    objectId: BookIDs.next(), createdAt: now, updatedAt: now, inPrint: number % 3 == 0,
                    note: "Bought in shop number \(number % 97)", price: Double(number % 1000) / 10,
                    title: "The wonderful adventures, part \(number)", year: Double(1900 + number * 7919 % 120)))
        }
    }
}

/// Ids like the server's own: in runs, with a short distance between two ids.
private enum BookIDs {
    private static let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    private static let count: UInt64 = 839_299_365_868_340_224
    private static let run = Mutex((last: UInt64(0), rest: 0))

    static func next() -> String {
        var rest = run.withLock { run in
            if run.rest == 0 {
                run = (.random(in: 0..<count), 1000)
            } else {
                run = ((run.last + .random(in: 1..<56_800_235_584)) % count, run.rest - 1)
            }
            return run.last
        }
        return String(unsafeUninitializedCapacity: 10) { buffer in
            for index in (0..<10).reversed() {
                buffer[index] = characters[Int(rest % 62)]
                rest /= 62
            }
            return 10
        }
    }
}

extension ServerBench {
    /// A bare server whose replies have the same length as ours.
    func bareServer(for call: HTTPCall, _ server: ServerProcess) throws -> ServerProcess {
        try .child("bare", "\(ServerConnection(port: server.port).answer(call).count)")
    }

    fileprivate func measure(
        _ call: HTTPCall, _ server: ServerProcess, _ bare: ServerProcess, peer: KeyPath<Kinto, HTTPCall>,
        _ store: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> Outcome {
        let medians = try await medians(
            [
                { try self.wrk.milliseconds(call, port: server.port) },
                { try self.wrk.milliseconds(call, port: bare.port) },
                { try await self.milliseconds(store) },
            ] + contestants(peer))
        Report.say(String(format: "  bare %.4f ms, store %.4f ms", medians[1], medians[2]))
        return Outcome(ours: medians[0], limit: medians[1] + medians[2], peers: peers(medians[3...]))
    }

    /// Measurements of each of the peers with that call.
    func contestants(_ call: KeyPath<Kinto, HTTPCall>) -> [() async throws -> Double] {
        peers.map { peer in
            { try self.wrk.milliseconds(peer[keyPath: call], port: peer.port, toleratesErrors: true) }
        }
    }

    /// The times of the peers, in their order.
    func peers(_ milliseconds: ArraySlice<Double>) -> [(name: String, value: Double)] {
        zip(peers, milliseconds).map { ($0.name, $1) }
    }
}
#endif
