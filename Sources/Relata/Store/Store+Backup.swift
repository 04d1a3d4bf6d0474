import RelataCore
public import RelataEngine

extension Store {
    /// Copies the store to a file while it is in use; the copy is a snapshot, and gets its name once it is complete and
    /// on the disk.
    ///
    /// ```swift
    /// try await store.backup(to: "backup.sqlite", replaces: true) { print(Int($0.fraction * 100), "%") }
    /// ```
    ///
    /// The copy of an encrypted file has the same key.
    ///
    /// - Parameters:
    ///   - path: The file to create.
    ///   - replaces: Whether an existing, unused database is replaced. Otherwise it is refused.
    ///   - verifies: Whether the copy is read and checked, and its rows counted, before it gets its name.
    ///   - progress: Called with the progress of the copy.
    /// - Throws: ``RelataError/fileAccess(path:_:)`` if the file can't be created or exists, or the disk is full;
    ///   ``RelataError/corruptStore(_:)`` if the file to replace isn't a database, or the copy doesn't pass the check;
    ///   ``RelataError/busy(_:)`` if it is in use; ``RelataError/invalidUse(_:)`` for the store's own file, and for a
    ///   store on a server, which has its own tools. An existing file is unchanged then.
    public func backup(
        to path: String, replaces: Bool = false, verifies: Bool = false,
        progress: @Sendable (BackupProgress) -> Void = { _ in }
    ) async throws {
        try await pool.backup(BackupPlan(to: path, replaces: replaces, verifies: verifies), by: access, progress)
    }

    /// Copies the store to a file while it is in use, as the call with `await`.
    ///
    /// - Throws: The errors of the call with `await`.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func backup(
        to path: String, replaces: Bool = false, verifies: Bool = false,
        progress: (BackupProgress) -> Void = { _ in }
    ) throws {
        try pool.backup(BackupPlan(to: path, replaces: replaces, verifies: verifies), by: access, progress)
    }

    /// Shrinks the database to its contents, and updates the statistics by which the planner chooses indexes.
    ///
    /// Others may read in the meantime, and writers wait. A file needs up to twice its size during the rebuild. It is
    /// seldom needed: free space is reused, and an import of many rows updates the statistics itself.
    ///
    /// - Throws: ``RelataError/busy(_:)`` while another process writes; ``RelataError/fileAccess(path:_:)`` for a full
    ///   disk.
    public func compact() async throws { try await pool.compact(by: access) }

    /// Shrinks the database to its contents, as the call with `await`.
    ///
    /// - Throws: The errors of the call with `await`.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func compact() throws { try pool.compact(by: access) }
}
