#if SQLCipher
import Foundation
import Relata
import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// Other keys for files, and copies with other keys.
@Suite struct KeyChangeTests {
    private let file = EncryptedTestFile()

    @Test func changedKeysReplaceTheOldOnes() throws {
        let (passphrase, bytes) = (try EncryptionKey(passphrase: "ursula"), try EncryptionKey(bytes: 1...32))
        try file.make(passphrase)
        for (old, new) in [
            (passphrase, bytes), (bytes, try EncryptionKey(passphrase: "kroeber")),
            (try EncryptionKey(passphrase: "kroeber"), try EncryptionKey(bytes: 2...33)),
        ] {
            try Store.changeKey(of: file.path, from: old, to: new)
            #expect(thrown { try file.open(old) }?.kind == "wrongKey")
            #expect(try file.titles(new) == ["The Dispossessed"])
        }
        #expect(try Array(file.contents().keys) == ["store.sqlite"])
    }

    @Test func aFileInUseKeepsItsKey() throws {
        let (key, other) = (try EncryptionKey(bytes: 1...32), try EncryptionKey(bytes: 2...33))
        let store = try file.open(key)
        try store.insert(Book(title: "A"))
        let error = thrown { try Store.changeKey(of: file.path, from: key, to: other) }
        #expect(error?.kind == "busy" && "\(error!)".contains("open elsewhere"), "\(error as Any)")
        try store.insert(Book(title: "B"))
        try store.close()
        #expect(try file.titles(key) == ["A", "B"])
    }

    @Test func onlyTheRightKeyIsChanged() throws {
        let (key, other) = (try EncryptionKey(bytes: 1...32), try EncryptionKey(bytes: 2...33))
        #expect(thrown { try Store.changeKey(of: file.path, from: key, to: other) }?.kind == "fileAccess")
        #expect(try file.contents().isEmpty)
        for (own, kind) in [(key, "wrongKey"), (nil, "notEncrypted")] {
            try file.make(own)
            let before = try file.contents()
            #expect(thrown { try Store.changeKey(of: file.path, from: other, to: key) }?.kind == kind)
            #expect(try file.contents() == before)
            try FileManager.default.removeItem(atPath: file.path)
        }
    }

    // MARK: Copies

    /// A database of another program, with everything it may contain.
    private static let foreign = """
        CREATE TABLE plain (a TEXT, twice AS (a || a), kept AS (a || '!') STORED);
        INSERT INTO plain (a) VALUES ('one'), ('two'), ('three'), ('four');
        DELETE FROM plain WHERE a IN ('one', 'three');
        CREATE TABLE "odd ""name" (rowid TEXT, _rowid_ TEXT, n INTEGER CHECK (n > 1));
        PRAGMA ignore_check_constraints = ON;
        INSERT INTO "odd ""name" VALUES ('a', 'b', 0), ('c', 'd', 7);
        DELETE FROM "odd ""name" WHERE n = 7;
        INSERT INTO "odd ""name" (oid, n) VALUES (77, 8);
        PRAGMA ignore_check_constraints = OFF;
        CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT COLLATE NOCASE UNIQUE);
        INSERT INTO counted VALUES (41, 'x'), (99, 'y');
        DELETE FROM counted WHERE id = 99;
        CREATE TABLE keyed (k TEXT PRIMARY KEY, v) WITHOUT ROWID, STRICT;
        CREATE TABLE log (entry TEXT);
        CREATE INDEX by_kept ON plain (kept) WHERE a > 'a';
        CREATE TRIGGER noted AFTER INSERT ON plain BEGIN INSERT INTO log VALUES (new.a); END;
        CREATE TRIGGER gone AFTER DELETE ON plain BEGIN INSERT INTO log VALUES (old.a); END;
        CREATE VIEW both AS SELECT a, name FROM plain, counted;
        PRAGMA foreign_keys = OFF;
        CREATE TABLE child (parent TEXT REFERENCES keyed);
        INSERT INTO child VALUES ('nowhere');
        CREATE VIRTUAL TABLE found USING fts5(body);
        INSERT INTO found VALUES ('a wizard of earthsea');
        PRAGMA user_version = 7;
        PRAGMA application_id = 8;
        """.replacing("v) WITHOUT", with: "v ANY) WITHOUT")

    /// Everything in that database, as a connection reads it.
    private func state(_ connection: Connection) throws -> [[[Value]]] {
        try [
            "PRAGMA encoding", "PRAGMA user_version", "PRAGMA application_id", "PRAGMA auto_vacuum",
            "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name",
            "SELECT rowid, * FROM plain ORDER BY rowid", "SELECT oid, * FROM \"odd \"\"name\" ORDER BY oid",
            "SELECT * FROM counted", "SELECT * FROM sqlite_sequence", "SELECT * FROM keyed",
            "SELECT rowid, * FROM log", "SELECT * FROM both", "SELECT rowid, * FROM child",
            "SELECT rowid, body FROM found WHERE found MATCH 'wizard'", "PRAGMA integrity_check(1)",
        ].map { try connection.values(SQLStatement($0)) }
    }

    @Test(arguments: ["UTF-8", "UTF-16le"]) func copiesAreComplete(encoding: String) throws {
        let first = try Connection(path: file.path)
        try first.execute("PRAGMA encoding = '\(encoding)'; PRAGMA auto_vacuum = INCREMENTAL; \(Self.foreign)")
        let expected = try state(first)
        try first.close()
        #expect(expected[0] == [[.text(encoding)]] && expected[3] == [[.integer(2)]])
        #expect(expected[5].map(\.first) == [.integer(2), .integer(4)])
        let before = try file.contents()["store.sqlite"]

        let keys = try [nil, EncryptionKey(bytes: 1...32), EncryptionKey(passphrase: "ursula"), nil]
        var path = file.path
        for (key, newKey) in zip(keys, keys.dropFirst()) {
            let copy = file.beside("copy-\(newKey.map { $0 == keys[1] ? "bytes" : "passphrase" } ?? "plain").sqlite")
            try Store.copy(path, key: key, to: copy, key: newKey)
            let connection = try Connection(path: copy, key: newKey)
            #expect(try state(connection) == expected)
            // Triggers run again.
            try connection.execute("INSERT INTO plain (a) VALUES ('five')")
            #expect(try connection.value(SQLStatement("SELECT count(*) FROM log")) == .integer(1))
            try connection.execute("DELETE FROM plain WHERE a = 'five'; DELETE FROM log")
            try connection.close()
            path = copy
        }
        #expect(try file.contents()["store.sqlite"] == before)
    }

    @Test func filesWithTablesNamedLikeFunctionsAreCopied() throws {
        let tables = """
            CREATE TABLE pragma_table_list (name, schema, type, wr); CREATE TABLE pragma_table_xinfo (name, hidden);
            CREATE TABLE plain (a); INSERT INTO plain VALUES ('one'), ('two'), ('three');
            DELETE FROM plain WHERE a = 'one'
            """
        let first = try Connection(path: file.path)
        try first.execute(tables)
        try first.close()
        let (copy, key) = (file.beside("copy.sqlite"), try EncryptionKey(bytes: 1...32))
        try Store.copy(file.path, key: nil, to: copy, key: key)
        let connection = try Connection(path: copy, key: key)
        let rows = try connection.values(SQLStatement("SELECT rowid, a FROM plain ORDER BY rowid"))
        #expect(rows == [[.integer(2), .text("two")], [.integer(3), .text("three")]])
        try connection.close()
    }

    @Test func aPlainStoreBecomesAnEncryptedOneAndBack() throws {
        let key = try EncryptionKey(passphrase: "ursula")
        try file.make(nil)
        let (encrypted, plain) = (file.beside("encrypted.sqlite"), file.beside("plain.sqlite"))
        // While it is open.
        let store = try file.open(nil)
        try store.insert(Book(title: "Lavinia"))
        try Store.copy(file.path, key: nil, to: encrypted, key: key)
        try store.close()
        #expect(try file.titles(key, at: encrypted) == ["Lavinia", "The Dispossessed"])
        #expect(thrown { try file.open(nil, at: encrypted) }?.kind == "corruptStore")
        try Store.copy(encrypted, key: key, to: plain, key: nil)
        #expect(try file.titles(nil, at: plain) == ["Lavinia", "The Dispossessed"])
        let copy = try file.open(nil, at: plain)
        let book = try copy.fetch(Book.where { $0.genre.name == "SF" }.including { $0.authors })
        #expect(try book.first?.authors.objects.map(\.name) == ["Le Guin"])
        #expect(try copy.check().isEmpty)
        try copy.close()
    }

    @Test func failedCopiesLeaveAndOverwriteNoFile() throws {
        let (key, other) = (try EncryptionKey(bytes: 1...32), try EncryptionKey(bytes: 2...33))
        let copy = file.beside("copy.sqlite")
        #expect(thrown { try Store.copy(file.path, key: nil, to: copy, key: key) }?.kind == "fileAccess")
        #expect(try file.contents().isEmpty)
        try file.make(key)
        #expect(thrown { try Store.copy(file.path, key: other, to: copy, key: key) }?.kind == "wrongKey")
        #expect(thrown { try Store.copy(file.path, key: nil, to: copy, key: key) }?.kind == "corruptStore")
        #expect(thrown { try Store.copy(file.path, key: key, to: file.path, key: other) }?.kind == "fileAccess")
        #expect(
            thrown { try Store.copy(file.path, key: key, to: file.beside("no/copy"), key: other) }?.kind == "fileAccess"
        )
        #expect(try Array(file.contents().keys) == ["store.sqlite"])
        // In the middle: the last page of a larger file is damaged.
        let store = try file.open(key)
        try store.write { tx in
            for number in 0..<500 { try tx.insert(Book(title: "\(number) \(String(repeating: "x", count: 100))")) }
        }
        try store.close()
        var data = try #require(try file.contents()["store.sqlite"])
        data[data.count - 2000] ^= 1
        try data.write(to: URL(fileURLWithPath: file.path))
        #expect(thrown { try Store.copy(file.path, key: key, to: copy, key: other) }?.kind == "corruptStore")
        #expect(try file.contents() == ["store.sqlite": data])
    }
}
#endif
