import RelataCore
import RelataEngine
import RelataEngines

/// The result of a copy.
public struct CopyReport: Hashable, Sendable {
    /// The copied rows of a class or a list.
    public struct Part: Hashable, Sendable {
        /// The class, or the class and its list: `Playlist.tracks`.
        public let name: String
        /// The number of rows.
        public let rows: Int
        /// A checksum of their values, the same on any engine.
        public let checksum: String
    }

    /// The parts that were copied, in order, equal in both databases.
    public internal(set) var parts: [Part] = []
    /// The parts that were left out, because no class declares them, a phrase each: "columns without a property of
    /// Book: shelf".
    public internal(set) var omissions: [String] = []
}

extension RecordStore {
    /// Copies all objects and their links into an empty database, in a file or on a server, and compares both at the
    /// end.
    ///
    /// ```swift
    /// try await store.copy(to: "postgres://user@host/music")
    /// ```
    ///
    /// Keys, stamps, revisions and positions in lists stay the same, and so do the stored descriptions of the models:
    /// an app opens the copy like the original. The copy is of one state, regardless of concurrent writes. If it is
    /// interrupted, the same call continues it. A copy of an encrypted file isn't encrypted: `backup` keeps the key.
    ///
    /// - Parameters:
    ///   - destination: The path of a new file, or the URL of an empty database or schema.
    ///   - progress: Called with the progress.
    /// - Returns: A report of the copied objects, and of what was left out.
    /// - Throws: ``RelataError/invalidUse(_:)`` for a destination with other contents, and for an object that it can't
    ///   store, which is named; ``RelataError/schemaMismatch(_:)`` if the two differ at the end, because the source was
    ///   changed since an interruption; `CancellationError` if the task was cancelled.
    @discardableResult
    public func copy(
        to destination: String, progress: @escaping @Sendable (DataProgress) -> Void = { _ in }
    ) async throws -> CopyReport {
        try access.requireEverything(for: "a copy")
        return try await pool.onOwnThread {
            try await self.read { try Self.copy($0.connection, to: destination, progress) }
        }
    }

    /// Copies all objects and their links into an empty database, as the call with `await`.
    ///
    /// - Throws: the errors of the call with `await`.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func copy(
        to destination: String, progress: (DataProgress) -> Void = { _ in }
    ) throws -> CopyReport {
        try access.requireEverything(for: "a copy")
        return try read { try Self.copy($0.connection, to: destination, progress) }
    }

    private static func copy(
        _ connection: Connection, to destination: String, _ progress: (DataProgress) -> Void
    ) throws -> CopyReport {
        var report = CopyReport()
        let outcomes = try DatabaseLocation(destination).copy(from: connection) { step in
            switch step {
            case .leavingOut(let phrases): report.omissions = phrases
            case .copied(let name, let rows): progress(DataProgress(name: name, rows: rows))
            case .verifying, .finishing: break
            }
        }
        report.parts = outcomes.map { CopyReport.Part(name: $0.name, rows: $0.rows, checksum: $0.checksum) }
        return report
    }
}
