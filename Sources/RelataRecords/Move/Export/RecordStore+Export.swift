import RelataCore

extension RecordStore {
    /// Writes objects and their links to files that any program reads, all of one moment, whatever is written meanwhile.
    ///
    /// ```swift
    /// try await store.export(to: .folder("music"))
    /// try await store.export(["Album"], to: .file("albums.csv"), format: .csv)
    /// ```
    ///
    /// Each class becomes a file with all fields of its objects: to-ones as the keys that they lead to, and stamps, revisions
    /// and places in lists as they are stored. A many-to-many becomes a file of its own, `Playlist.tracks.jsonl`, with a row
    /// for each link. ``import(_:options:progress:)-(String,_,_)`` reads them again.
    ///
    /// - Parameters:
    ///   - classes: The classes to write, with the many-to-manys between them; a many-to-many is written by its own name, too:
    ///     `Playlist.tracks`. All by default.
    ///   - destination: Where they go.
    ///   - format: The form of the files.
    ///   - replaces: Whether files that are there are replaced. Else they are refused, and nothing is written.
    ///   - progress: Is told how far it is.
    /// - Returns: What was written.
    /// - Throws: ``RelataError/invalidUse(_:)`` for classes that aren't there, and for several in one file of CSV;
    ///   ``RelataError/fileAccess(path:_:)`` where files can't be written. No file is left half written.
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
