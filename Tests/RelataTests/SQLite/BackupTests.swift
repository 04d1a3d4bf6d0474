import Foundation
import Relata
import RelataCore
import RelataEngine
import Synchronization
import Testing

/// Backups from Swift, while the store is in use.
@Suite struct BackupTests {
    private let path = TestStore.path()
    private var folder: String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    private func titles(_ path: String) async throws -> [String] {
        let copy = try await Store.open(path, for: Book.self)
        defer { try? copy.close() }
        return try await copy.fetch(Book.all).map(\.title).sorted()
    }

    @Test func backupsAreSnapshotsWhileOthersWrite() async throws {
        let store = try await Store.open(path, for: Book.self)
        let padding = String(repeating: "x", count: 2000)
        try await store.insert((0..<6000).map { Book(title: "\($0) " + padding) })
        // Each transaction writes a pair, at the beginning of the file and at its end.
        let written = Mutex(0)
        let isDone = Mutex(false)
        let failure = Mutex<String?>(nil)
        // A separate thread: the threads of tasks may all be busy.
        let writer = Thread {
            var number = 0
            do {
                while !isDone.withLock({ $0 }) {
                    try store.insert([Book(title: "first \(number)"), Book(title: "second \(number)")])
                    number += 1
                    written.withLock { $0 = number }
                }
            } catch {
                failure.withLock { $0 = "\(error)" }
            }
        }
        writer.start()
        let steps = Mutex<[BackupProgress]>([])
        let atFirstStep = Mutex<Int?>(nil)
        try await store.backup(to: folder + "/copy.sqlite", verifies: true) { step in
            steps.withLock { $0.append(step) }
            // The writer continues between the steps of the copy.
            let seen = written.withLock { $0 }
            atFirstStep.withLock { $0 = $0 ?? seen }
            let end = ContinuousClock.now + .seconds(20)
            while written.withLock({ $0 }) == seen, ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.001) }
        }
        isDone.withLock { $0 = true }
        while !writer.isFinished { try await Task.sleep(for: .milliseconds(2)) }
        #expect(failure.withLock { $0 } == nil)
        let fractions = steps.withLock { $0.map(\.fraction) }
        #expect(fractions.count > 3 && fractions == fractions.sorted() && fractions.last == 1)
        let (first, last) = (try #require(atFirstStep.withLock { $0 }), written.withLock { $0 })
        #expect(last >= first + fractions.count, "the writer went on meanwhile")
        let copied = try await titles(folder + "/copy.sqlite").filter { !$0.hasSuffix(padding) }
        #expect(copied.count.isMultiple(of: 2), "no half of a transaction")
        #expect(copied.count / 2 <= first + 1, "it is of its beginning")
    }

    @Test func existingDatabasesAreReplacedOnlyOnRequest() async throws {
        let store = try await Store.open(path, for: Book.self)
        let copy = folder + "/copy.sqlite"
        try await store.insert(Book(title: "A"))
        try await store.backup(to: copy)
        try await store.insert(Book(title: "B"))
        let error = await thrown { try await store.backup(to: copy) }
        #expect(error?.kind == "fileAccess" && "\(error as Any)".contains("already exists"))
        #expect(try await titles(copy) == ["A"])
        let user = try await Store.open(copy, for: Book.self)
        #expect(await thrown { try await store.backup(to: copy, replaces: true) }?.kind == "busy")
        #expect(try await user.fetch(Book.all).map(\.title) == ["A"])
        try user.close()
        try await store.backup(to: copy, replaces: true)
        #expect(try await titles(copy) == ["A", "B"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.contains("part") } == [])
    }

    @Test func orphanedLogsAreNotAppliedToABackup() async throws {
        let store = try await Store.open(path, for: Book.self)
        try await store.insert(Book(title: "A"))
        let other = folder + "/other.sqlite"
        let stale = try await Store.open(other, for: Book.self)
        try await stale.insert(Book(title: "stale"))
        let log = try Data(contentsOf: URL(fileURLWithPath: other + "-wal"))
        try stale.close()
        try FileManager.default.removeItem(atPath: other)
        try log.write(to: URL(fileURLWithPath: other + "-wal"))
        try await store.backup(to: other)
        #expect(try await titles(other) == ["A"])
    }

    @Test func memoryStoresAreBackedUpToAFile() async throws {
        let store = try Store.inMemory(for: Book.self)
        try await store.insert(Book(title: "A"))
        try await store.backup(to: folder + "/copy.sqlite", verifies: true)
        #expect(try await titles(folder + "/copy.sqlite") == ["A"])
    }

    @Test func cancelledBackupsLeaveNothing() async throws {
        let store = try await Store.open(path, for: Book.self)
        try await store.insert((0..<4000).map { Book(title: "\($0) " + String(repeating: "x", count: 2000)) })
        let task = Task { [folder] in
            try await store.backup(to: folder + "/copy.sqlite") { _ in withUnsafeCurrentTask { $0?.cancel() } }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasPrefix("copy") } == [])
    }
}
