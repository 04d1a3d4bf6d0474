import RelataCore
public import RelataEngine

extension Store {
    /// Copies the store to a file while it is in use; the copy is of one moment, and has its name once it is whole and on the
    /// disk.
    ///
    /// ```swift
    /// try await store.backup(to: "backup.sqlite", replaces: true) { print(Int($0.fraction * 100), "%") }
    /// ```
    ///
    /// Where the file is encrypted, the copy has the same key.
    ///
    /// - Parameters:
    ///   - path: The file to be made.
    ///   - replaces: Whether a database that is there, and that nobody uses, is replaced. Else it is refused.
    ///   - verifies: Whether the copy is read and checked, and its rows counted, before it gets its name.
    ///   - progress: Is told how far the copy is.
    /// - Throws: ``RelataError/fileAccess(path:_:)`` where the file can't be made or is there, or the disk is full;
    ///   ``RelataError/corruptStore(_:)`` where a file to be replaced is no database, or the copy doesn't pass the check;
    ///   ``RelataError/busy(_:)`` where it is in use; ``RelataError/invalidUse(_:)`` for the store's own file, and for a
    ///   store on a server, which has tools of its own. What was there is left as it was then.
    public func backup(
        to path: String, replaces: Bool = false, verifies: Bool = false,
        progress: @Sendable (BackupProgress) -> Void = { _ in }
    ) async throws {
        try await pool.backup(BackupPlan(to: path, replaces: replaces, verifies: verifies), by: access, progress)
    }

    /// Copies the store to a file while it is in use, as the call with `await`.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func backup(
        to path: String, replaces: Bool = false, verifies: Bool = false,
        progress: (BackupProgress) -> Void = { _ in }
    ) throws {
        try pool.backup(BackupPlan(to: path, replaces: replaces, verifies: verifies), by: access, progress)
    }

    /// Makes the database as small as what it holds, and counts anew what the planner goes by to choose indexes.
    ///
    /// Others may read meanwhile, and writers wait. A file takes up to twice its room while it is made anew. It is seldom needed:
    /// room that is free is used again, and an import of many rows has the planner's figures counted by itself.
    ///
    /// - Throws: ``RelataError/busy(_:)`` while another process writes; ``RelataError/fileAccess(path:_:)`` for a full disk.
    public func compact() async throws { try await pool.compact(by: access) }

    /// Makes the database as small as what it holds, as the call with `await`.
    ///
    /// - Throws: As the call with `await`.
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func compact() throws { try pool.compact(by: access) }
}
