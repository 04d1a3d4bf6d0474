import Foundation
import RelataCore
import RelataEngine
import TestSupport
import Testing

@testable import RelataSQLite

/// A follower's copies match the file, regardless of which process writes, and which one checkpoints the log.
@Suite struct ContinuousBackupTests {
    /// A file that is followed, and those that write to it.
    private final class Followed {
        let file: TemporaryFile
        let folder: String
        private(set) var events: [ContinuousBackup.Event] = []
        private var follower: LogFollower?
        private(set) var writers: [Connection] = []
        /// The contents of the file at certain moments.
        private(set) var moments: [(moment: Int64, content: [String])] = []

        init() throws {
            file = try TemporaryFile()
            folder = file.path + "-copies"
            for _ in 0..<3 { writers.append(try Connection(path: file.path, busyTimeout: 0)) }
            try writers[0].execute(
                """
                PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0;
                CREATE TABLE item (id INTEGER PRIMARY KEY, value, data BLOB); CREATE INDEX i ON item (value)
                """)
            // One writer copies the log often, as other programs do, and one never does.
            try writers[1].execute("PRAGMA wal_autocheckpoint = 8; PRAGMA cache_size = 5")
            try writers[2].execute("PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = 5")
        }

        func follow(keeps: Int64? = nil) throws {
            follower = try LogFollower(file.path, CopyFolder(folder), keeps: keeps, interval: 0) { [weak self] in
                self?.events.append($0)
            }
            try follower?.begin()
            try step()
        }

        func step() throws {
            try follower?.step()
            try note()
        }

        /// As if the process were killed.
        func kill() { follower = nil }

        func end() throws {
            try follower?.end()
            follower = nil
        }

        private func note() throws { moments.append((CopyMoment.now(), try content(of: file.path))) }

        func content(of path: String) throws -> [String] {
            let connection = try Connection(path: path, isReadOnly: true)
            defer { try? connection.close() }
            return try connection.lines("SELECT id, value, length(data), sum(unicode(hex(data))) FROM item GROUP BY id")
        }

        func restored(_ moment: Int64? = nil) throws -> (content: [String], gap: String?) {
            let target = try TemporaryFile()
            let restored = try ContinuousBackup.restore(
                from: folder, to: target.path, at: moment.map(CopyMoment.date))
            return (try content(of: target.path), restored.gap)
        }

        func write(_ sql: String, by writer: Int = 0) throws { try writers[writer].execute(sql) }

        var logSize: Int { (try? FileManager.default.attributesOfItem(atPath: file.path + "-wal")[.size] as? Int) ?? 0 }
    }

    @Test func everyCopiedMomentCanBeRestored() throws {
        let followed = try Followed()
        try followed.write("INSERT INTO item VALUES (1, 'a', zeroblob(10))")
        try followed.follow()
        for number in 2...6 {
            try followed.write("INSERT INTO item VALUES (\(number), 'b', zeroblob(\(number * 1000)))")
            try followed.step()
        }
        try followed.end()
        for (moment, content) in followed.moments {
            let restored = try followed.restored(moment)
            #expect(restored.content == content)
        }
        #expect(try followed.restored().gap == nil)
        #expect(try followed.restored().content == followed.content(of: followed.file.path))
    }

    /// The log starts over again and again, by the follower's doing and by others', and no transaction is missed.
    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func everyMomentCanBeRestoredDespiteOtherProcesses(_ seed: UInt64) throws
    {
        var random = SeededGenerator(seed: seed)
        let followed = try Followed()
        try followed.follow()
        var readers: [Connection] = []
        for number in 1...150 {
            let writer = Int.random(in: 0..<3, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0...4:
                let size = Int.random(in: 0..<30_000, using: &random)
                try? followed.write(
                    "INSERT INTO item VALUES (NULL, \(number), randomblob(\(size)))", by: writer)
            case 5: try? followed.write("UPDATE item SET value = \(number), data = NULL WHERE id % 7 = 1", by: writer)
            case 6: try? followed.write("DELETE FROM item WHERE id % 5 = \(number % 5); VACUUM", by: writer)
            case 7:
                // The log contains its frames, as if they had been committed.
                try? followed.write(
                    "BEGIN; INSERT INTO item SELECT NULL, \(number), randomblob(9000) FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8)); ROLLBACK",
                    by: writer)
            case 8:
                let kind = ["PASSIVE", "FULL", "RESTART", "TRUNCATE"].randomElement(using: &random) ?? ""
                _ = try? followed.writers[writer].values(SQLStatement("PRAGMA wal_checkpoint(\(kind))"))
            case 9:
                if readers.count > 2 { try readers.removeFirst().close() }
                let reader = try Connection(path: followed.file.path, isReadOnly: true)
                try LogHold.begin(reader)
                readers.append(reader)
            case 10 where number % 3 == 0:
                followed.kill()
                try followed.follow()
            default: break
            }
            if Int.random(in: 0..<3, using: &random) > 0 { try followed.step() }
        }
        for reader in readers { try reader.close() }
        try followed.step()
        try followed.end()
        for (moment, content) in followed.moments {
            #expect(try followed.restored(moment).content == content, "seed \(seed), \(CopyMoment.text(moment))")
        }
        #expect(try followed.restored().content == followed.content(of: followed.file.path), "seed \(seed)")
    }

    @Test func theLogRestartsWhileItIsFollowed() throws {
        let followed = try Followed()
        try followed.follow()
        for number in 1...40 {
            try followed.write(
                "INSERT INTO item SELECT NULL, \(number), randomblob(3000) FROM (WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT i FROM n)"
            )
            try followed.step()
        }
        // Some 4000 pages were written.
        #expect(followed.logSize < 2000 * 4120, "\(followed.logSize)")
        #expect(followed.events.filter { if case .lost = $0 { true } else { false } }.isEmpty, "\(followed.events)")
        try followed.end()
        #expect(try followed.restored().content == followed.content(of: followed.file.path))
    }

    @Test func unfollowedWritesStartANewBase() throws {
        let followed = try Followed()
        try followed.follow()
        try followed.write("INSERT INTO item VALUES (1, 'a', NULL)")
        try followed.step()
        followed.kill()
        // Within the same log, nothing is lost.
        try followed.write("INSERT INTO item VALUES (2, 'b', NULL)")
        try followed.follow()
        #expect(followed.events.contains { if case .resumed = $0 { true } else { false } })
        followed.kill()
        let stopped = CopyMoment.now()
        try followed.write("INSERT INTO item VALUES (3, 'c', NULL)")
        _ = try followed.writers[0].values(SQLStatement("PRAGMA wal_checkpoint(TRUNCATE)"))
        try followed.write("INSERT INTO item VALUES (4, 'd', NULL)")
        let between = CopyMoment.now()
        try followed.follow()
        #expect(followed.events.contains { if case .lost = $0 { true } else { false } }, "\(followed.events)")
        // The restored state says that the time between isn't known.
        let gap = try followed.restored(between)
        #expect(gap.gap?.contains("are missing") == true && gap.content.count == 2, "\(gap)")
        #expect(try followed.restored(stopped).content.count == 2)
        #expect(try followed.restored().content.count == 4)
        for (moment, content) in followed.moments { #expect(try followed.restored(moment).content == content) }
    }

    @Test func aChangedLogStartsANewBase() throws {
        let followed = try Followed()
        try followed.follow()
        try followed.write("INSERT INTO item VALUES (1, 'a', NULL)")
        try followed.step()
        try followed.write("INSERT INTO item VALUES (2, 'b', NULL)")
        // The log is damaged after the copied part.
        let log = try #require(FileHandle(forUpdatingAtPath: followed.file.path + "-wal"))
        try log.seek(toOffset: UInt64(followed.logSize - 4096))
        try log.write(contentsOf: Data([1, 2, 3, 4, 5, 6, 7, 8]))
        try log.close()
        _ = try? followed.step()
        #expect(followed.events.contains { if case .lost = $0 { true } else { false } }, "\(followed.events)")
    }

    @Test func incompleteTrailingRecordsAreIgnored() throws {
        let followed = try Followed()
        try followed.follow()
        try followed.write("INSERT INTO item VALUES (1, 'a', NULL)")
        try followed.step()
        followed.kill()
        let log = try #require(CopyFolder(followed.folder).generations().last?.log)
        let handle = try #require(FileHandle(forWritingAtPath: log))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(repeating: 0, count: 5000))
        try handle.close()
        #expect(try followed.restored().gap?.contains("5000 bytes") == true)
        try followed.follow()
        try followed.write("INSERT INTO item VALUES (2, 'b', NULL)")
        try followed.step()
        try followed.end()
        let restored = try followed.restored()
        #expect(restored.content.count == 2 && restored.gap == nil)
    }

    @Test func damagedCopiesAreNotRestored() throws {
        let followed = try Followed()
        try followed.follow()
        for number in 1...3 {
            try followed.write("INSERT INTO item VALUES (\(number), 'a', randomblob(2000))")
            try followed.step()
        }
        try followed.end()
        let log = try #require(CopyFolder(followed.folder).generations().last?.log)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: log))
        bytes[bytes.count - 3000] ^= 1
        try bytes.write(to: URL(fileURLWithPath: log))
        #expect {
            try followed.restored()
        } throws: { error in
            if case RelataError.corruptStore(let message) = error { message.contains("moment before") } else { false }
        }
        #expect(try followed.restored(followed.moments[1].moment).content == followed.moments[1].content)
    }

    @Test func unneededBasesAreDeleted() throws {
        let followed = try Followed()
        try followed.follow(keeps: 1)
        for number in 1...3 {
            try followed.write("INSERT INTO item VALUES (\(number), 'a', NULL)")
            try followed.step()
        }
        // A base is made for each step, because copies expire immediately here.
        #expect(try CopyFolder(followed.folder).generations().count == 1)
        #expect(followed.events.contains(.removed(count: 1)))
        #expect(try followed.restored().content.count == 3)
        let before = CopyMoment.date(followed.moments[0].moment - 60_000_000)
        #expect(throws: RelataError.self) {
            try ContinuousBackup.restore(from: followed.folder, to: followed.file.path + "-early", at: before)
        }
        #expect(!FileManager.default.fileExists(atPath: followed.file.path + "-early"))
    }

    @Test func mismatchedFilesAndFoldersAreRefused() throws {
        let file = try TemporaryFile()
        let connection = try Connection(path: file.path)
        try connection.execute("CREATE TABLE item (id)")
        func kind(_ path: String, _ folder: String) -> String {
            do {
                var isFollowed = false
                try ContinuousBackup(of: path, to: folder).run(until: { isFollowed }) { _ in isFollowed = true }
                return ""
            } catch {
                return "\(error)"
            }
        }
        let folder = file.path + "-copies"
        #expect(kind(file.path, folder).contains("has no write-ahead log"))
        try connection.execute("PRAGMA journal_mode = WAL")
        #expect(kind(file.path, folder) == "", "\(kind(file.path, folder))")
        #expect(kind(file.path, file.path).contains("as a folder"), "\(kind(file.path, file.path))")
        #expect(kind(file.path + "-none", folder) != "")
        let other = try TemporaryFile()
        let second = try Connection(path: other.path)
        try second.execute("PRAGMA journal_mode = WAL; CREATE TABLE item (id)")
        #expect(kind(other.path, folder).contains("choose another folder"), "\(kind(other.path, folder))")
        let lock = try CopyFolder(folder).lock()
        #expect(kind(file.path, folder).contains("is in use"))
        close(lock)
        #expect(throws: RelataError.self) { try ContinuousBackup.restore(from: file.path, to: file.path + "-new") }
        #expect(throws: RelataError.self) { try ContinuousBackup.restore(from: "/nowhere", to: file.path + "-new") }
    }
}
