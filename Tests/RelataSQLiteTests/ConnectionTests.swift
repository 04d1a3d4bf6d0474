import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

@Suite struct ConnectionTests {
    @Test(arguments: [":memory:", "file:memory?mode=memory&cache=shared", ":", "file:"])
    func aFileMayHaveAnyName(_ name: String) throws {
        // A relative path: SQLite interprets such a name differently at the beginning of a path.
        let path = name + UUID().uuidString
        defer { for end in ["", "-journal"] { try? FileManager.default.removeItem(atPath: "./" + path + end) } }
        let connection = try Connection(path: path)
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        try connection.close()
        #expect(FileManager.default.fileExists(atPath: "./" + path))
    }

    @Test func anEmptyNameIsRefused() throws {
        #expect { try Connection(path: "") } throws: { error in
            if case RelataError.fileAccess = error { true } else { false }
        }
    }

    @Test func aClosedConnectionFreesItsFile() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).sqlite").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let connection = try Connection(path: path)
        try connection.execute("PRAGMA journal_mode = WAL")
        try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        try connection.close()
        try connection.close()
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }

    /// Writes to a file without a name would be lost, and so would writes to a file whose name another one has taken.
    @Test(arguments: [false, true]) func aMovedOrReplacedFileIsNotWritten(isReplaced: Bool) throws {
        let folder = FileManager.default.temporaryDirectory
        let path = folder.appending(path: "\(UUID().uuidString).sqlite").path
        defer { for end in ["", "-wal", "-shm", "-old"] { try? FileManager.default.removeItem(atPath: path + end) } }
        let pool = try ConnectionPool(path: path)
        try pool.write { try $0.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)") }
        try FileManager.default.moveItem(atPath: path, toPath: path + "-old")
        if isReplaced { try Connection(path: path).execute("CREATE TABLE other (id INTEGER PRIMARY KEY)") }
        #expect {
            try pool.write { try $0.execute("INSERT INTO t VALUES (1)") }
        } throws: { error in
            "\(error)".contains("was moved, removed or replaced")
        }
        if isReplaced { try FileManager.default.removeItem(atPath: path) }
        try FileManager.default.moveItem(atPath: path + "-old", toPath: path)
        try pool.write { try $0.execute("INSERT INTO t VALUES (2)") }
        #expect(try pool.read { try $0.value(SQLStatement("SELECT count(*) FROM t")) } == 1)
        try pool.close()
    }

    @Test func doubleQuotedTextIsAlwaysAName() throws {
        let connection = try Connection(path: nil)
        #expect(throws: RelataError.self) { try connection.execute(#"SELECT "no such column""#) }
    }

    @Test func aCopyIsMadeWhileOthersRead() throws {
        let source = try Connection(path: nil)
        try source.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        try source.execute("INSERT INTO t VALUES (7)")
        let copy = try Connection(path: nil)
        try source.backup(to: copy)
        #expect(try copy.lines("SELECT id FROM t") == ["7"])
        try copy.begin("BEGIN IMMEDIATE")
        #expect { try source.backup(to: copy) } throws: { "\($0)".contains("within a transaction") }
    }

    @Test func grdbCollationsAreSupported() throws {
        let connection = try Connection(path: nil)
        try connection.execute(
            """
            CREATE TABLE t (
                id INTEGER PRIMARY KEY, a TEXT COLLATE swiftCompare, b TEXT COLLATE swiftCaseInsensitiveCompare UNIQUE,
                c TEXT COLLATE swiftLocalizedStandardCompare, d TEXT COLLATE swiftLocalizedCompare,
                e TEXT COLLATE swiftLocalizedCaseInsensitiveCompare
            )
            """)
        try connection.execute(
            "INSERT INTO t VALUES (1, 'b', 'x', 'track 10', 'b', 'B'), (2, 'a', 'y', 'track 9', 'a', 'a')")
        for column in ["a", "c", "d", "e"] {
            #expect(try connection.lines("SELECT id FROM t ORDER BY \(column)") == ["2", "1"])
        }
        #expect(throws: RelataError.self) { try connection.execute("INSERT INTO t (b) VALUES ('X')") }
        try connection.execute("CREATE INDEX i ON t (swiftLowercaseString(b), swiftLocalizedUppercaseString(c))")
        try connection.execute("INSERT INTO t (b) VALUES ('Z')")
        #expect(try connection.lines("SELECT swiftCapitalizedString('ab cd')") == ["Ab Cd"])
    }
}
