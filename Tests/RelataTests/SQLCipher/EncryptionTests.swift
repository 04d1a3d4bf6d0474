#if SQLCipher
import Foundation
import Relata
import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// Files with a key: opening them, and their content without the key.
@Suite struct EncryptionTests {
    private let file = EncryptedTestFile()

    @Test(arguments: try EncryptedTestFile.keys()) func aFileOpensWithItsKey(key: EncryptionKey) throws {
        try file.make(key)
        #expect(try file.titles(key) == ["The Dispossessed"])
        var options = Store.Options()
        options.encryptionKey = key
        #expect(try Store.pendingMigration(file.path, for: Book.self, options: options).isEmpty)
        options.isReadOnly = true
        let store = try TestStore.open(file.path, for: [Book.self], options: options)
        #expect(try store.count(Book.all) == 1)
        try store.close()
    }

    @Test(arguments: try EncryptedTestFile.keys()) func wrongKeysAreRefusedAndTheFileIsKept(key: EncryptionKey) throws {
        try file.make(key)
        let before = try file.contents()
        let others = try [
            EncryptionKey(passphrase: "Ursula"), EncryptionKey(bytes: 2...33), EncryptionKey(passphrase: "ursula "),
        ]
        for other in others {
            let error = thrown { try file.open(other) }
            guard case .wrongKey(file.path) = error else {
                Issue.record("\(error as Any)")
                continue
            }
        }
        #expect(try file.contents() == before)
        #expect(try file.titles(key) == ["The Dispossessed"])
    }

    @Test func wrongKeysAreRefusedWhileAStoreWrites() throws {
        let (key, other) = (try EncryptionKey(bytes: 1...32), try EncryptionKey(bytes: 2...33))
        let store = try file.open(key)
        try store.insert(Book(title: "A"))
        #expect(thrown { try file.open(other) }?.kind == "wrongKey")
        try store.insert(Book(title: "B"))
        #expect(thrown { try file.open(other) }?.kind == "wrongKey")
        try store.close()
        #expect(try file.titles(key) == ["A", "B"])
    }

    @Test func encryptedFilesWithoutAKeyAreRefusedAndKept() throws {
        try file.make(try EncryptionKey(bytes: 1...32))
        let before = try file.contents()
        let error = thrown { try file.open(nil) }
        #expect(error?.kind == "corruptStore" && "\(error!)".contains("if it is encrypted, open it with its key"))
        #expect(try file.contents() == before)
    }

    @Test func plainFilesWithAKeyAreRefusedAndKept() throws {
        try file.make(nil)
        let before = try file.contents()
        for key in try EncryptedTestFile.keys() {
            guard case .notEncrypted(file.path)? = thrown({ try file.open(key) }) else {
                Issue.record("it was opened with a key")
                continue
            }
        }
        #expect(try file.contents() == before)
        #expect(try file.titles(nil) == ["The Dispossessed"])
    }

    /// Encrypted pages can be any bytes: only files that can't consist of such pages are distinguished.
    @Test(arguments: [(100, "corruptStore"), (511, "corruptStore"), (4096, "wrongKey"), (5000, "corruptStore")])
    func invalidFilesWithAKeyAreRefusedAndKept(size: Int, kind: String) throws {
        let data = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) })
        try data.write(to: URL(fileURLWithPath: file.path))
        #expect(thrown { try file.open(try EncryptionKey(bytes: 1...32)) }?.kind == kind)
        #expect(try file.contents() == ["store.sqlite": data])
    }

    @Test func overwrittenPagesAreDetected() throws {
        let key = try EncryptionKey(bytes: 1...32)
        let store = try file.open(key)
        try store.write { tx in
            for number in 0..<500 { try tx.insert(Book(title: "\(number) \(String(repeating: "x", count: 100))")) }
        }
        try store.close()
        let data = try #require(try file.contents()["store.sqlite"])
        var found = 0
        for page in 1..<(data.count / 4096) {
            var damaged = data
            damaged[page * 4096 + 2000] ^= 1
            try damaged.write(to: URL(fileURLWithPath: file.path))
            let error = thrown { _ = try file.titles(key) }
            // Damage to a page that nothing reads goes unnoticed.
            #expect(error == nil || error?.kind == "corruptStore", "page \(page): \(error as Any)")
            if error != nil { found += 1 }
        }
        #expect(found > 10)
    }

    // MARK: Keys

    @Test func keysAreNeverShown() throws {
        for key in [try EncryptionKey(passphrase: "swordfish"), try EncryptionKey(bytes: 1...32)] {
            var options = Store.Options()
            options.encryptionKey = key
            var text = "\(key) \(String(reflecting: key)) \(options) \(String(reflecting: options))"
            dump(key, to: &text)
            dump(options, to: &text)
            // As letters, as numbers, as digits.
            for part in ["swordfish", "115", "119", "73776f", "010203", "0a0b0c"] {
                #expect(!text.contains(part), "\(text)")
            }
        }
    }

    @Test func invalidKeysAreRefused() throws {
        let literal = "x'" + String(repeating: "0a", count: 32) + "'"
        for text in ["", literal, literal.uppercased(), "x'" + String(repeating: "0a", count: 48) + "'"] {
            #expect(thrown { try EncryptionKey(passphrase: text) }?.kind == "invalidUse", "\(text)")
        }
        for count in [0, 31, 33] {
            let bytes = [UInt8](repeating: 7, count: count)
            #expect(thrown { try EncryptionKey(bytes: bytes) }?.kind == "invalidUse", "\(count)")
        }
        // Almost of that form.
        _ = try EncryptionKey(passphrase: literal + " ")
    }

    @Test func aPassphraseMayHaveAnyCharacters() throws {
        for text in ["'; DROP TABLE Book; --", "a\0b", "\0", "書\u{301}👩‍👩‍👧", "x'0a'"] {
            let file = EncryptedTestFile()
            try file.make(try EncryptionKey(passphrase: text))
            #expect(try file.titles(try EncryptionKey(passphrase: text)) == ["The Dispossessed"])
            let shorter = text.unicodeScalars.dropLast().isEmpty ? "b" : String(text.unicodeScalars.dropLast())
            #expect(thrown { try file.open(try EncryptionKey(passphrase: shorter)) }?.kind == "wrongKey", "\(text)")
        }
    }

    @Test func keysForMemoryStoresAreRefused() throws {
        var options = Store.Options()
        options.encryptionKey = try EncryptionKey(bytes: 1...32)
        let store = try Store.inMemory(for: Book.self, options: options)
        try store.insert(Book(title: "A"))
        #expect(try store.count(Book.all) == 1)
        #expect(try Store.pendingMigration(file.path, for: Book.self, options: options).isEmpty == false)
        #expect(try file.contents().isEmpty)
    }

    @Test func keysForDatabaseServersAreRefused() throws {
        var options = Store.Options()
        options.encryptionKey = try EncryptionKey(bytes: 1...32)
        let error = thrown { try TestStore.open("postgres://nowhere/nothing", for: [Book.self], options: options) }
        #expect(error?.kind == "invalidUse" && "\(error!)".contains("encryptionKey"))
    }

    // MARK: Contents of the files

    /// The files of the folder that contain the text as UTF-8.
    private func places(of text: String) throws -> [String] {
        try file.contents().filter { $0.value.range(of: Data(text.utf8)) != nil }.map(\.key).sorted()
    }

    @Test func noFileContainsPlainText() throws {
        let text = "Always Coming Home"
        for key in [nil, try EncryptionKey(bytes: 1...32)] {
            let store = try file.open(key)
            try store.insert(Book(title: text))
            try store.pool.withWriter { try $0.execute("PRAGMA wal_checkpoint") }
            try store.update(Book.all) { $0.title.set(to: text + "!") }
            let open = try places(of: text)
            #expect(open == (key == nil ? ["store.sqlite", "store.sqlite-wal"] : []))
            #expect(try file.contents().keys.contains("store.sqlite-wal"))
            try store.close()
            #expect(try places(of: text) == (key == nil ? ["store.sqlite"] : []))
            #expect(try places(of: "CREATE TABLE") == (key == nil ? ["store.sqlite"] : []))
            try FileManager.default.removeItem(atPath: file.path)
        }
    }

    @Test func theJournalContainsNoPlainText() throws {
        let text = "Always Coming Home"
        for key in [nil, try EncryptionKey(bytes: 1...32)] {
            let connection = try Connection(path: file.path, key: key)
            try connection.execute("PRAGMA cache_size = 5; CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT)")
            let rows = "WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 500)"
            try connection.execute("\(rows) INSERT INTO t SELECT i, '\(text)' || i FROM n")
            try connection.begin("BEGIN IMMEDIATE")
            // More than the cache holds, so that the old pages are in the journal.
            try connection.execute("UPDATE t SET a = a || printf('%100d', 0)")
            #expect(try file.contents()["store.sqlite-journal"].map { $0.count > 10_000 } == true)
            #expect(try places(of: text) == (key == nil ? ["store.sqlite", "store.sqlite-journal"] : []))
            try connection.execute("ROLLBACK")
            try connection.close()
            try FileManager.default.removeItem(atPath: file.path)
        }
    }
}
#endif
