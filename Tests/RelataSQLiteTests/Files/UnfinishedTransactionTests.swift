import Foundation
import RelataCore
import RelataEngine
import TestSupport
import Testing

@testable import RelataSQLite

/// Files whose program died while it wrote.
@Suite struct UnfinishedTransactionTests {
    private let live: TemporaryFile
    private let copy: TemporaryFile
    private var journal: String { copy.path + "-journal" }

    init() throws { (live, copy) = (try TemporaryFile(), try TemporaryFile()) }

    /// Copies a file with pages of an open transaction, and the journal that takes them back.
    private func copyDuringTransaction() throws {
        let writer = try Connection(path: live.path)
        try writer.execute(
            """
            PRAGMA journal_mode = DELETE; CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT);
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO t SELECT i, hex(zeroblob(200)) FROM n;
            PRAGMA cache_size = 5; BEGIN; UPDATE t SET text = 'changed'; DELETE FROM t WHERE id > 10;
            """)
        for end in ["", "-journal"] {
            try FileManager.default.copyItem(atPath: live.path + end, toPath: copy.path + end)
        }
        try writer.execute("ROLLBACK")
        try writer.close()
    }

    @Test func aFileWithANeededJournalIsNoticedUntilItIsRolledBack() throws {
        try copyDuringTransaction()
        #expect(UnfinishedTransaction.isIn(copy.path))
        #expect(!UnfinishedTransaction.isIn(live.path))
        let connection = try Connection(path: copy.path)
        #expect(try connection.lines("SELECT count(*), min(text) <> 'changed' FROM t") == ["3000|1"])
        try connection.close()
        #expect(!UnfinishedTransaction.isIn(copy.path))
        #expect(!FileManager.default.fileExists(atPath: journal))
    }

    @Test func aReadOnlyConnectionNamesTheJournalAndKeepsIt() throws {
        try copyDuringTransaction()
        let before = try Data(contentsOf: URL(fileURLWithPath: copy.path))
        let error = #expect(throws: RelataError.self) {
            let connection = try Connection(path: copy.path, isReadOnly: true)
            _ = try connection.lines("SELECT count(*) FROM t")
        }
        #expect("\(error as Any)".contains(UnfinishedTransaction.message(copy.path)))
        #expect(UnfinishedTransaction.isIn(copy.path))
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy.path)) == before)
    }

    @Test func otherJournalsAreNotNeeded() throws {
        #expect(!UnfinishedTransaction.isIn(copy.path))
        // SQLite empties a journal, or overwrites its head, when the transaction is complete.
        for content in [Data(), Data(count: 512), Data([0xd9, 0xd5, 0x05])] {
            try content.write(to: URL(fileURLWithPath: journal))
            #expect(!UnfinishedTransaction.isIn(copy.path), "\(content)")
        }
    }

    @Test(.timeLimit(.minutes(1))) func aPipeIsNotWaitedFor() throws {
        try Connection(path: copy.path).execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        #expect(mkfifo(journal, 0o600) == 0)
        #expect(!UnfinishedTransaction.isIn(copy.path))
        let error = #expect(throws: RelataError.self) { try Connection(path: copy.path) }
        #expect("\(error as Any)".contains("isn't a regular file"))
    }
}
