import RelataCore
import RelataEngine

/// A backup of a database into a file, which gets its name once it is complete.
package struct FileBackup {
    private let source: Connection
    private let key: EncryptionKey?

    /// A backup of the state that a connection sees.
    ///
    /// - Parameter key: The key of the copy, which is also the key of the source: SQLite can't copy an encrypted
    ///   database into a plain one, or vice versa.
    package init(of source: Connection, key: EncryptionKey?) {
        self.source = source
        self.key = key
    }

    /// Makes it.
    ///
    /// - Throws: ``RelataError/fileAccess(path:_:)`` for a path that can't be created, and for an existing file;
    ///   ``RelataError/corruptStore(_:)`` for a copy that doesn't pass the check. An existing file is unchanged then.
    package func run(_ plan: BackupPlan, _ progress: (BackupProgress) throws -> Void) throws {
        let place = try BackupPlace(plan, of: source.path, key: key)
        try place.fill { path in
            let copy = try Connection(path: path, key: key)
            do {
                // The comparison uses the copied state.
                try source.keepingMoment {
                    try source.copyPages(to: copy, progress)
                    if plan.verifies {
                        try BackupCheck(of: copy, as: plan.path, from: source.path).run(comparingWith: source)
                    }
                }
                try copy.close()
            } catch {
                try? copy.close()
                throw error
            }
        }
    }
}

/// Whether a copy is complete.
struct BackupCheck {
    private let copy: Connection
    /// The name of the copy in messages.
    private let name: String
    /// The name of the source in messages.
    private let origin: String

    init(of copy: Connection, as name: String, from origin: String) {
        (self.copy, self.name, self.origin) = (copy, name, origin)
    }

    /// Lets SQLite check the whole copy, and compares the numbers of rows with the source, unless the source changes
    /// in the meantime.
    ///
    /// - Throws: ``RelataError/corruptStore(_:)``.
    func run(comparingWith source: Connection?) throws(RelataError) {
        let found = try copy.values(SQLStatement("PRAGMA integrity_check(5)")).compactMap(\.first)
        guard found == [.text("ok")] else {
            let problems = found.map(\.description).joined(separator: "; ")
            throw .corruptStore(
                "the copy for \(name) is damaged (\(problems)), so \(origin) is damaged too: \(name) wasn't made; restore from an intact copy"
            )
        }
        guard let source, source.isInTransaction else { return }
        let (original, copied) = (try Self.counts(source), try Self.counts(copy))
        for (table, count) in original where copied[table] != count {
            throw .corruptStore(
                "the copy for \(name) has \(copied[table] ?? 0) rows of \(table), and \(origin) has \(count): \(name) wasn't made; try again"
            )
        }
    }

    /// The number of rows each table has.
    private static func counts(_ connection: Connection) throws(RelataError) -> [String: Int64] {
        let names = try connection.values(
            SQLStatement("SELECT name FROM temp.pragma_table_list WHERE schema = 'main' AND type = 'table'"))
        var counts: [String: Int64] = [:]
        for case .text(let name)? in names.map(\.first) {
            let query = SQLStatement("SELECT count(*) FROM main.\(Dialect.sqlite.quote(name))")
            if case .integer(let count)? = try connection.value(query) { counts[name] = count }
        }
        return counts
    }
}
