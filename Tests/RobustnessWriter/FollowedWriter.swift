import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import Synchronization

/// Writers and followers of one file, for the tests to kill.
enum FollowedWriter {
    private static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }

    /// Counts up, a transaction each, and says each number with the time at which it was acknowledged.
    ///
    /// - Parameter number: The number of the process. Each treats the log in its own way.
    static func count(_ path: String, _ number: Int, say: (Any) -> Void) throws {
        let connection = try Connection(path: path, busyTimeout: 60)
        try connection.execute("PRAGMA wal_autocheckpoint = \([7, 1000, 0][number % 3]); PRAGMA cache_size = 20")
        let insert =
            "INSERT INTO receipt SELECT ?1, coalesce(max(number), 0) + 1, randomblob(?2) FROM receipt WHERE process = ?1"
        let query = "SELECT max(number) FROM receipt WHERE process = ?1"
        let process = Parameter.value(.integer(Int64(number)))
        for turn in 1... {
            let size = Int64(turn * 7919 % 20_000)
            _ = try connection.transaction {
                try connection.run(SQLStatement(insert, [process, .value(.integer(size))]))
            }
            let acknowledged = now()
            guard case .integer(let count)? = try connection.value(SQLStatement(query, [process])) else { continue }
            say("\(count) \(acknowledged)")
            if number % 3 == 1, turn % 40 == 0 {
                _ = try connection.values(SQLStatement("PRAGMA wal_checkpoint(TRUNCATE)"))
            }
            usleep(500)
        }
    }

    /// Copies the file to a folder until the input ends.
    static func follow(_ path: String, _ folder: String, say: @escaping (Any) -> Void) throws {
        let isStopped = Flag()
        Thread {
            while readLine() != nil {}
            isStopped.value.store(true, ordering: .relaxed)
        }.start()
        try ContinuousBackup(of: path, to: folder, interval: .milliseconds(5)).run(
            until: { isStopped.value.load(ordering: .relaxed) }, say)
        say("done")
    }
}

/// Whether an end was requested.
private final class Flag: Sendable {
    let value = Atomic(false)
}
