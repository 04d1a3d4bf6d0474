#if SQLCipher
import Foundation
import Relata
import RelataEngine

/// A file of a book, with any key, in its own folder.
struct EncryptedTestFile {
    let path = TestStore.path()
    private var folder: String { URL(fileURLWithPath: path).deletingLastPathComponent().path }

    /// One of each kind.
    static func keys() throws -> [EncryptionKey] {
        [try EncryptionKey(passphrase: "ursula"), try EncryptionKey(bytes: 1...32)]
    }

    /// A path beside the file.
    func beside(_ name: String) -> String { folder + "/" + name }

    @discardableResult
    func open(
        _ key: EncryptionKey?, at path: String? = nil, _ configure: (inout Store.Options) -> Void = { _ in }
    ) throws -> Store {
        var options = Store.Options()
        options.encryptionKey = key
        configure(&options)
        return try TestStore.open(path ?? self.path, for: [Book.self], options: options)
    }

    func make(_ key: EncryptionKey?) throws {
        let store = try open(key)
        try store.write { tx in
            try tx.insert(
                Book(
                    title: "The Dispossessed", genre: ToOne(Genre(name: "SF")), authors: [Author(name: "Le Guin")]))
        }
        try store.close()
    }

    func titles(_ key: EncryptionKey?, at path: String? = nil) throws -> [String] {
        let store = try open(key, at: path)
        defer { try? store.close() }
        return try store.fetch(Book.all.sorted { $0.title }).map(\.title)
    }

    /// The contents of the folder, byte for byte, read in another process: closing a file here would drop SQLite's
    /// locks.
    func contents() throws -> [String: Data] {
        let copy = TestStore.path("copy")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/cp")
        process.arguments = ["-R", folder, copy]
        try process.run()
        process.waitUntilExit()
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: copy) {
            contents[name] = FileManager.default.contents(atPath: copy + "/" + name) ?? Data()
        }
        return contents
    }
}
#endif
