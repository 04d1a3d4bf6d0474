#if PostgreSQL
import Foundation
import PostgresCluster
import Relata
import RelataCore
import RelataPostgres
import RelataTesting
import RobustnessWriter
import Synchronization
import Testing

/// Servers that are killed while three processes write lose nothing that was acknowledged, and write nothing twice.
@Suite(.enabled(if: PrivateCluster.isInstalled, Testing.Comment(rawValue: PrivateCluster.missing)))
struct PostgresKillTests {
    /// A writing process, whose lines are read as they come.
    private final class Ledger: Sendable {
        private let last = Mutex<(number: Int, error: String?)>((0, nil))
        private let ended = DispatchSemaphore(value: 0)
        private let process: WriterBox

        private final class WriterBox: @unchecked Sendable {
            // Safe: one thread reads its lines, and only then another one ends it.
            let writer: Writer
            init(_ writer: Writer) { self.writer = writer }
        }

        init(_ url: String, _ number: Int) throws {
            process = WriterBox(try Writer("ledger", url, "\(number)"))
            Thread { [self] in
                while let line = process.writer.line() {
                    last.withLock { if let number = Int(line) { $0.number = number } else { $0.error = line } }
                }
                ended.signal()
            }.start()
        }

        /// The last number that it said was written.
        var acknowledged: Int { last.withLock { $0.number } }
        var error: String? { last.withLock { $0.error } }

        func kill() {
            process.writer.signal(SIGKILL)
            ended.wait()
            // `kill` may be called again.
            ended.signal()
        }
    }

    @Test(.timeLimit(.minutes(20))) func killingTheServerLosesAndDuplicatesNothing() async throws {
        let seed = UInt64.random(in: 0 ... .max)
        let kills = ProcessInfo.processInfo.environment["RELATA_KILLS"].flatMap { Int($0) } ?? 12
        print("seed of the server's \(kills) kills: \(seed)")
        var random = SampleRandom(seed: seed)
        // A commit that is acknowledged is with the operating system, which isn't killed.
        let cluster = try PrivateCluster(settings: ["synchronous_commit": "on", "full_page_writes": "on"])
        let url = cluster.url()
        let store = try await Store.open(url, for: Garden.models)
        try await store.save(Tally(name: "all"))
        try store.close()
        let ledgers = try (1...3).map { try Ledger(url, $0) }
        defer { for ledger in ledgers { ledger.kill() } }

        /// Waits until each process has written something more.
        func waitForProgress(_ comment: String) throws {
            let before = ledgers.map(\.acknowledged)
            let deadline = ContinuousClock.now + .seconds(90)
            while !zip(ledgers, before).allSatisfy({ $0.acknowledged > $1 }) {
                if let error = ledgers.compactMap(\.error).first {
                    throw RelataError.invalidUse("\(comment): \(error)")
                }
                try #require(.now < deadline, "\(comment): no progress")
                usleep(2000)
            }
        }
        try waitForProgress("seed \(seed)")
        var killed = (server: 0, backends: 0)
        for kill in 1...kills {
            usleep(UInt32.random(in: 0..<60_000, using: &random))
            if UInt32.random(in: 0..<2, using: &random) == 0 {
                try cluster.killServer()
                try cluster.start()
                killed.server += 1
            } else if let process = try backends(url).randomElement(using: &random) {
                // The server closes all connections, and recovers.
                Foundation.kill(process, SIGKILL)
                killed.backends += 1
            }
            try waitForProgress("kill \(kill) of seed \(seed)")
        }
        for ledger in ledgers { ledger.kill() }
        let acknowledged = ledgers.map(\.acknowledged)
        print(
            "killed: \(killed.server) times the server, \(killed.backends) times a connection's process; \(acknowledged)"
        )

        var options = Store.Options()
        options.busyTimeout = 60
        let checked = try await Store.open(url, for: Garden.models, options: options)
        let numbers = try await checked.fetch(Receipt.all.sorted { $0.number }.select { $0.number })
        for (index, last) in acknowledged.enumerated() {
            let own = numbers.filter { $0 / Ledgers.span == index + 1 }.map { $0 % Ledgers.span }
            // The numbers are consecutive and unique; the last one may be written but not acknowledged yet.
            #expect(own == Array(0..<own.count).map { $0 + 1 }, "seed \(seed)")
            #expect(own.count == last || own.count == last + 1, "\(own.count) of \(last), seed \(seed)")
            #expect(try await checked.fetch(Tally.self, id: "\(index + 1)")?.count == own.count, "seed \(seed)")
        }
        #expect(try await checked.fetch(Tally.self, id: "all")?.count == numbers.count, "seed \(seed)")
        #expect(try await checked.check().map { "\($0)" } == [], "seed \(seed)")
        try checked.close()
    }

    /// The server's processes for the writers; none while the server recovers.
    private func backends(_ url: String) throws -> [Int32] {
        guard let session = try? Session(PostgresURL(url)) else { return [] }
        let rows = try session.execute(
            SQLStatement(
                "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"))
        return try (0..<rows.count).map { Int32(try rows[$0][0].integer()) }
    }
}
#endif
