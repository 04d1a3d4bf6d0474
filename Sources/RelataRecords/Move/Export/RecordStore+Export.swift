import RelataCore

extension RecordStore {
    /// Writes objects and their links to files for other programs, as a consistent snapshot, regardless of concurrent
    /// writes.
    ///
    /// ```swift
    /// try await store.export(to: .folder("music"))
    /// try await store.export(["Album"], to: .file("albums.csv"), format: .csv)
    /// ```
    ///
    /// Each class becomes a file with all fields of its objects: to-ones as the keys of their targets, and stamps,
    /// revisions and positions in lists as they are stored. A many-to-many becomes a separate file,
    /// `Playlist.tracks.jsonl`, with a row for each link. `import(_:)` reads them.
    ///
    /// - Parameters:
    ///   - classes: The classes to write, with the many-to-manys between them; a many-to-many is written by its own
    ///     name, too: `Playlist.tracks`. All by default.
    ///   - destination: The file, folder or stream to write.
    ///   - format: The form of the files.
    ///   - replaces: Whether existing files are replaced. Otherwise they are refused, and nothing is written.
    ///   - progress: Called with the progress.
    /// - Returns: A report of the written objects.
    /// - Throws: ``RelataError/invalidUse(_:)`` for missing classes, and for several in one CSV file;
    ///   ``RelataError/fileAccess(path:_:)`` if files can't be written. No file is left half written.
    @discardableResult
    public func export(
        _ classes: [String] = [], to destination: DataDestination, format: DataFormat = .jsonLines,
        replaces: Bool = false, progress: @escaping @Sendable (DataProgress) -> Void = { _ in }
    ) async throws -> ExportReport {
        try access.requireEverything(for: "an export")
        return try await pool.onOwnThread {
            try await self.read {
                try Export(
                    transaction: $0, destination: destination, format: format, replaces: replaces, progress: progress
                ).run(classes)
            }
        }
    }

    /// Writes objects and their links to files, as the call with `await`.
    ///
    /// - Throws: The errors of the call with `await`.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func export(
        _ classes: [String] = [], to destination: DataDestination, format: DataFormat = .jsonLines,
        replaces: Bool = false, progress: @escaping (DataProgress) -> Void = { _ in }
    ) throws -> ExportReport {
        try access.requireEverything(for: "an export")
        return try read {
            try Export(
                transaction: $0, destination: destination, format: format, replaces: replaces, progress: progress
            ).run(classes)
        }
    }
}
