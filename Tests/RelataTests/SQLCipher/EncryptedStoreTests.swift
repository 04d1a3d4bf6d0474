#if SQLCipher
import Foundation
import Relata
import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// An open store on an encrypted file: each connection has the key.
@Suite struct EncryptedStoreTests {
    private let file = EncryptedTestFile()
    private let key: EncryptionKey

    init() throws { key = try EncryptionKey(bytes: 1...32) }

    @Test func aBackupHasTheKeyOfItsStore() async throws {
        let store = try file.open(key)
        try await store.insert(Book(title: "A"))
        let copy = file.beside("copy.sqlite")
        try await store.backup(to: copy)
        #expect(thrown { try file.open(nil, at: copy) }?.kind == "corruptStore")
        #expect(try file.titles(key, at: copy) == ["A"])
        // The backup replaces an older one.
        try await store.insert(Book(title: "B"))
        try await store.backup(to: copy, replaces: true)
        #expect(try file.titles(key, at: copy) == ["A", "B"])
        try store.close()
    }

    @Test func backupsOverAFileWithAnotherKeyAreRefused() async throws {
        let store = try file.open(key)
        let other = EncryptedTestFile()
        for (own, kind) in [(nil, "notEncrypted"), (try EncryptionKey(bytes: 2...33), "wrongKey")] {
            try other.make(own)
            let before = try other.contents()
            #expect(await thrown { try await store.backup(to: other.path, replaces: true) }?.kind == kind)
            #expect(try other.contents() == before)
            try FileManager.default.removeItem(atPath: other.path)
        }
        try store.close()
    }

    @Test func aChangeLogIsKept() async throws {
        let store = try file.open(key) { $0.changeLog = true }
        try await store.insert(Book(title: "A"))
        try await store.insert(Book(title: "B"))
        #expect(try await store.changes(after: 0).count == 2)
        try store.close()
        let again = try file.open(key) { $0.changeLog = true }
        #expect(try await again.changes(after: 1).count == 1)
        try again.close()
    }

    @Test(.timeLimit(.minutes(20))) func writesOfOtherStoresAreObservedInEncryptedFiles() async throws {
        let store = try file.open(key) { $0.externalChangeDelay = 0.01 }
        let other = try file.open(key)
        var titles = store.observe(Book.all.sorted { $0.title }.select { $0.title }).makeAsyncIterator()
        #expect(try await titles.next() == [])
        try await other.insert(Book(title: "A"))
        #expect(try await titles.next() == ["A"])
        try await store.insert(Book(title: "B"))
        #expect(try await titles.next() == ["A", "B"])
        try other.close()
        try store.close()
    }

    @Test func severalStoresReadAndWriteAtOnce() async throws {
        let stores = try [file.open(key), file.open(key), file.open(key)]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for store in stores {
                group.addTask {
                    for number in 0..<40 { try await store.insert(Book(title: "\(number)")) }
                }
                group.addTask {
                    for _ in 0..<40 {
                        let (books, count) = try await store.read { tx in
                            (try tx.fetch(Book.all).count, try tx.count(Book.all))
                        }
                        #expect(books == count)
                    }
                }
            }
            try await group.waitForAll()
        }
        for store in stores {
            #expect(try await store.count(Book.all) == 120)
            #expect(try await store.check().isEmpty)
            try store.close()
        }
        #expect(try Array(file.contents().keys) == ["store.sqlite"])
    }

    @Test func theLogIsCopiedInTheBackground() async throws {
        let pool = try ConnectionPool(path: file.path, key: key)
        try pool.withWriter { try $0.execute("PRAGMA journal_mode = WAL; CREATE TABLE item (data BLOB)") }
        try pool.copyLogInBackground()
        let data = Data(repeating: 7, count: 4_000_000)
        _ = try await pool.write { try $0.run(SQLStatement("INSERT INTO item VALUES (?1)", [.value(.blob(data))])) }
        var size = 0
        for _ in 0..<6000 where size < data.count {
            try await Task.sleep(for: .milliseconds(1))
            size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
        }
        #expect(size > data.count, "nothing was copied")
        try pool.close()
        let connection = try Connection(path: file.path, key: key)
        #expect(try connection.value(SQLStatement("SELECT data FROM item")) == .blob(data))
        try connection.close()
    }

    @Test func aChangeOfTheModelsChangesTheFile() throws {
        var options = Store.Options()
        options.encryptionKey = key
        let lamps = try TestStore.open(file.path, for: [Lamp.self], options: options)
        try lamps.close()
        #expect(try Store.pendingMigration(file.path, for: Book.self, options: options).isEmpty == false)
        let store = try file.open(key)
        try store.insert(Book(title: "A"))
        try store.close()
        #expect(try file.titles(key) == ["A"])
    }
}
#endif
