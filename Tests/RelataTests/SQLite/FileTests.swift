import Foundation
import Relata
import RelataCore
import RelataEngine
import RelataSQLite
import TestSupport
import Testing

/// Files that can't be opened: a clear error each, and nothing is touched.
@Suite struct FileTests {
    private let path = TestStore.path()
    private var folder: String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    /// The contents of the folder, byte for byte. Nobody may have a file open: closing it here would drop SQLite's
    /// locks.
    private func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            contents[name] = FileManager.default.contents(atPath: folder + "/" + name) ?? Data()
        }
        return contents
    }

    /// Opens the file, reads from it, and closes it.
    private func use(_ options: Store.Options = Store.Options()) throws {
        let store = try TestStore.open(path, for: [Book.self], options: options)
        defer { try? store.close() }
        _ = try store.fetch(Book.all)
        _ = try store.fetch(Author.all)
    }

    /// Expects an error of that case, for writing and for reading only, with the folder as it was.
    private func expect(_ kind: String, _ words: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let before = try contents()
        var options = Store.Options()
        options.busyTimeout = 0.02
        for isReadOnly in [false, true] {
            options.isReadOnly = isReadOnly
            let error = thrown { try use(options) }
            #expect(error?.kind == kind, "\(String(describing: error))", sourceLocation: sourceLocation)
            #expect("\(error as Any)".contains(words), "\(error as Any)", sourceLocation: sourceLocation)
            #expect(try isUnchanged(since: before, isReadOnly: isReadOnly), sourceLocation: sourceLocation)
        }
    }

    /// A reader can't remove the log that SQLite creates, which stays empty.
    private func isUnchanged(since before: [String: Data], isReadOnly: Bool) throws -> Bool {
        var after = try contents()
        if isReadOnly, after["store.sqlite-wal"] == Data() { after["store.sqlite-wal"] = nil }
        if isReadOnly { after["store.sqlite-shm"] = nil }
        return after == before
    }

    /// A store with a few hundred books, closed.
    private func library() throws {
        let store = try TestStore.open(path, for: [Book.self])
        try store.write { tx in
            let authors = try tx.insert((0..<40).map { Author(name: "author \($0)") })
            try tx.insert(
                (0..<300).map { number in
                    Book(title: "book \(number)", authors: ToMany([authors[number % 40], authors[number / 8]]))
                })
        }
        try store.close()
        #expect(try contents().keys.sorted() == ["store.sqlite"])
    }

    private func write(_ data: Data) throws { try data.write(to: URL(fileURLWithPath: path)) }

    @Test func foldersInPlaceOfAFile() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try expect("fileAccess", "it is a folder")
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).isEmpty)
    }

    @Test func missingFolders() throws {
        let missing = folder + "/missing/store.sqlite"
        let error = thrown { try TestStore.open(missing, for: [Book.self]) }
        #expect(error?.kind == "fileAccess")
        #expect("\(error as Any)".contains("its folder exists"))
        #expect(try contents().isEmpty)
    }

    @Test func readingDoesNotCreateFiles() throws {
        var options = Store.Options()
        options.isReadOnly = true
        #expect(thrown { try use(options) }?.kind == "fileAccess")
        #expect(try contents().isEmpty)
    }

    // SQLite takes a file of one byte for an empty one.
    @Test(arguments: [2, 15, 99, 100, 511, 4096, 70_000]) func filesThatAreNotDatabases(size: Int) throws {
        try write(Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ 7) }))
        try expect("corruptStore", "is not an SQLite database, and was left as it is")
    }

    @Test func invalidHeaders() throws {
        try library()
        var data = try #require(try contents()["store.sqlite"])
        for offset in 16..<100 { data[offset] = 0xA5 }
        try write(data)
        let before = try contents()
        #expect(["corruptStore"].contains(thrown { try use() }?.kind))
        #expect(try contents() == before)
    }

    @Test func truncatedFiles() throws {
        try library()
        let data = try #require(try contents()["store.sqlite"])
        #expect(data.count > 10 * 4096)
        for count in [data.count - 1, data.count - 4096, data.count / 2, 4096, 3000, 512] {
            try write(data.prefix(count))
            // If nothing needs the last page, its loss goes unnoticed.
            let before = try contents()
            let error = thrown { try use() }
            #expect(error == nil || error?.kind == "corruptStore", "\(count): \(error as Any)")
            #expect(error != nil || count == data.count - 1, "\(count)")
            #expect(try contents() == before, "\(count)")
        }
    }

    @Test func overwrittenPages() throws {
        try library()
        let data = try #require(try contents()["store.sqlite"])
        var found = 0
        for page in 1..<(data.count / 4096) {
            var damaged = data
            for offset in 0..<4096 { damaged[page * 4096 + offset] = UInt8(truncatingIfNeeded: offset &* 89 &+ page) }
            try write(damaged)
            let before = ["store.sqlite": damaged]
            let error = thrown { try use() }
            #expect(error == nil || error?.kind == "corruptStore", "page \(page): \(error as Any)")
            if error != nil { found += 1 }
            #expect(try contents() == before, "page \(page)")
            // The check opens the file, and finds the damage even if no other read does; unless SQLite finds it on
            // opening, as of 3.53.
            let connection: Connection
            do {
                connection = try Connection(path: path, isReadOnly: true)
            } catch RelataError.corruptStore {
                continue
            }
            if let schema = try? Schema(try Introspection.entities(of: connection)) {
                #expect(try IntegrityCheck.run(connection, schema: schema).contains { $0.kind == .damage }, "\(page)")
            }
            try connection.close()
        }
        #expect(found > 0)
    }

    @Test(arguments: ["DELETE", "WAL"]) func filesOfOtherPrograms(journal: String) throws {
        let connection = try Connection(path: path)
        try connection.execute("PRAGMA journal_mode = \(journal)")
        try connection.execute(
            """
            CREATE TABLE Book (number INTEGER PRIMARY KEY, title BLOB, year TEXT NOT NULL);
            INSERT INTO Book VALUES (1, x'00', 'MCM');
            CREATE TABLE bookmarks (url TEXT)
            """)
        try connection.close()
        try expect("schemaMismatch", "the file was made by another program")
    }

    @Test func lockedFiles() throws {
        try library()
        let other = try Connection(path: path)
        try other.execute("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
        var options = Store.Options()
        options.busyTimeout = 0.05
        for isReadOnly in [false, true] {
            options.isReadOnly = isReadOnly
            let isSoonBusy = isQuick(.seconds(1)) { #expect(thrown { try use(options) }?.kind == "busy") }
            #expect(isSoonBusy)
        }
        try other.execute("ROLLBACK")
        try use(options)
        try other.close()
    }

    @MainActor @Test func openingALockedFileDoesNotBlockTheThread() async throws {
        try await Store.open(path, for: Book.self).close()
        let other = try Connection(path: path)
        try other.execute("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE")
        var hasBegun = false
        let opening = Task { @MainActor [path] in
            var options = Store.Options()
            options.busyTimeout = 60
            hasBegun = true
            return try await Store.open(path, for: Book.self, options: options)
        }
        // This is the thread that would wait: it continues here once the other task has suspended.
        while !hasBegun { await Task.yield() }
        try other.execute("ROLLBACK")
        try other.close()
        let store = try await opening.value
        try await store.save(Book(title: "x"))
        #expect(try await store.count(Book.all) == 1)
    }

    @Test(arguments: Engine.embedded) func fullDisks(engine: Engine) async throws {
        let store = try TestStore.make(engine, for: Book.self)
        try await store.insert(Book(title: "first"))
        let pages = try await store.rows("PRAGMA page_count")[0][0].description
        try await store.write { tx in
            _ = try tx.rows(SQL(stringLiteral: "PRAGMA max_page_count = \((Int(pages) ?? 0) + 8)"))
        }
        let many = (0..<5000).map { Book(title: "\($0) " + String(repeating: "x", count: 100)) }
        for _ in 0..<2 {
            let error = await thrown { try await store.insert(many) }
            #expect(error?.kind == "fileAccess")
            #expect("\(error as Any)".contains("no space left: the transaction was rolled back"))
            #expect(try await store.count(Book.all) == 1)
        }
        // A savepoint can't restore a transaction that SQLite has ended.
        let error = await thrown {
            try await store.write { tx in
                try tx.insert(Book(title: "second"))
                _ = try? tx.savepoint { try $0.insert(many) }
                try tx.insert(Book(title: "third"))
            }
        }
        #expect(error?.kind == "invalidUse")
        #expect("\(error as Any)".contains("rolled it back"))
        #expect(try await store.fetch(Book.all).map(\.title) == ["first"])
        try await store.write { tx in _ = try tx.rows("PRAGMA max_page_count = 100000") }
        try await store.insert(many)
        #expect(try await store.count(Book.where { $0.title.hasSuffix("xxx") }) == 5000)
    }

    @Test func unwritableBackupsKeepTheExistingFile() throws {
        let store = try TestStore.open(path, for: [Book.self])
        try store.insert(Book(title: "first"))
        #expect(thrown { try store.backup(to: folder + "/missing/copy.sqlite") }?.kind == "fileAccess")
        let text = folder + "/text.txt"
        try Data("no database, but somebody's letter".utf8).write(to: URL(fileURLWithPath: text))
        #expect(thrown { try store.backup(to: text, replaces: true) }?.kind == "corruptStore")
        #expect(try String(contentsOfFile: text, encoding: .utf8) == "no database, but somebody's letter")
        #expect(thrown { try store.backup(to: path) }?.kind == "invalidUse")
        #expect(try store.count(Book.all) == 1)
    }

    @Test func backupsRunAsynchronouslyToo() async throws {
        var options = Store.Options()
        options.maximumReaders = 1
        let store = try await Store.open(path, for: Book.self, options: options)
        try await store.save(Book(title: "first"))
        try await store.backup(to: folder + "/copy.sqlite")
        #expect(await thrown { try await store.backup(to: path) }?.kind == "invalidUse")
        let copy = try await Store.open(folder + "/copy.sqlite", for: Book.self)
        #expect(try await copy.fetch(Book.all).map(\.title) == ["first"])
        let task = Task { [folder] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.backup(to: folder + "/cancelled.sqlite")
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
