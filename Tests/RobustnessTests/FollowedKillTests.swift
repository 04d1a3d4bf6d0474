import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import RelataTesting
import Testing

/// Continuous copies of a file that several processes write, while they are killed now and then.
@Suite struct FollowedKillTests {
    /// An acknowledgement to a writer: a number and its time.
    private struct Acknowledged {
        let number: Int
        let time: Int64

        init?(_ line: String) {
            let parts = line.split(separator: " ")
            guard parts.count == 2, let number = Int(parts[0]), let time = Int64(parts[1]) else { return nil }
            (self.number, self.time) = (number, time)
        }
    }

    private func counts(_ path: String) throws -> [Int: Int] {
        let connection = try Connection(path: path, isReadOnly: true)
        defer { try? connection.close() }
        var counts: [Int: Int] = [:]
        for row in try connection.values(
            SQLStatement("SELECT process, count(*), max(number) FROM receipt GROUP BY process"))
        {
            guard case .integer(let process) = row[0], case .integer(let count) = row[1] else { continue }
            // No receipt is missing before the last one.
            #expect(row[2] == .integer(count))
            counts[Int(process)] = Int(count)
        }
        return counts
    }

    private static let rounds = ProcessInfo.processInfo.environment["RELATA_KILLS"].flatMap(Int.init) ?? 12

    @Test func restoredMomentsMatchTheFile() throws {
        let seed = UInt64.random(in: 0..<UInt64.max)
        print("seed of the kills: \(seed)")
        var random = SampleRandom(seed: seed)
        let folder = try Folder()
        let (path, copies) = (folder.file(), folder.file("copies"))
        let connection = try Connection(path: path)
        try connection.execute(
            """
            PRAGMA journal_mode = WAL;
            CREATE TABLE receipt (process INTEGER, number INTEGER, data BLOB, PRIMARY KEY (process, number))
            """)
        try connection.close()
        var told: [Int: [Acknowledged]] = [:]
        var writers = try (0..<3).map { try Writer("receipts", path, "\($0)") }
        var follower = try Writer("follow", path, copies)
        var first = follower.line()
        let start = Int64(Date().timeIntervalSince1970 * 1_000_000)
        for round in 0..<Self.rounds {
            usleep(UInt32.random(in: 5_000..<150_000, using: &random))
            let number = Int.random(in: 0..<5, using: &random)
            if number < 3 {
                told[number, default: []] += writers[number].kill().compactMap(Acknowledged.init)
                writers[number] = try Writer("receipts", path, "\(number)")
            } else {
                _ = follower.kill()
                if round % 2 == 0 { usleep(UInt32.random(in: 0..<60_000, using: &random)) }
                follower = try Writer("follow", path, copies)
                first = round % 3 == 0 ? follower.line() : nil
            }
        }
        usleep(200_000)
        for (number, writer) in writers.enumerated() {
            told[number, default: []] += writer.kill().compactMap(Acknowledged.init)
        }
        let lines = follower.finish()
        #expect(lines.last == "done", "seed \(seed)")
        // A follower that is stopped before it has a base to continue from copies nothing.
        let hasBase = ([first].compactMap(\.self) + lines).contains { $0.hasPrefix("base") || $0.hasPrefix("resumed") }
        let end = Int64(Date().timeIntervalSince1970 * 1_000_000)
        let last = folder.file("last.sqlite")
        #expect(try ContinuousBackup.restore(from: copies, to: last).gap == nil, "seed \(seed)")
        if hasBase { #expect(try counts(last) == counts(path), "seed \(seed)") }
        for turn in 0..<Self.rounds {
            let moment = Int64.random(in: start...end, using: &random)
            let target = folder.file("restored-\(turn).sqlite")
            let restored = try ContinuousBackup.restore(
                from: copies, to: target, at: Date(timeIntervalSince1970: Double(moment) / 1_000_000))
            let counts = try counts(target)
            let then = Int64(restored.moment.timeIntervalSince1970 * 1_000_000)
            let comment = "seed \(seed): \(moment) restored as \(then), \(restored.gap ?? "")"
            #expect(then <= moment, "\(comment)")
            for (process, receipts) in told {
                let count = counts[process] ?? 0
                // All receipts that were acknowledged before the restored moment are there.
                let least = receipts.last { $0.time < then }?.number ?? 0
                #expect(count >= least, "\(comment), process \(process)")
                // The copy contains nothing that began after the requested moment, which is when the receipt before was
                // acknowledged. A killed writer may have written one more that was never acknowledged.
                let most = (receipts.last { $0.time <= moment }?.number ?? 0) + 2
                #expect(count <= most, "\(comment), process \(process)")
            }
            try FileManager.default.removeItem(atPath: target)
        }
        #expect(told.values.reduce(0) { $0 + $1.count } > Self.rounds * 3, "seed \(seed)")
    }
}
