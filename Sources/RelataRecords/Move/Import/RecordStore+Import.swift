import RelataCore
import RelataEngine

extension RecordStore {
    /// Imports objects and their links from a file, or from all files of a folder, as
    /// `export(_:to:)` writes them, or other programs.
    ///
    /// ```swift
    /// let report = try await store.import("music")
    /// ```
    ///
    /// A file is named after its class, `Album.csv`, or after a class and its list, `Playlist.tracks.csv`. Names of
    /// fields, and of columns of CSV, are those of the class, or of the columns of its table. Rows may be in any order,
    /// and refer to each other in cycles. They are written unchanged: stamps and revisions in a file aren't replaced.
    ///
    /// All rows are written in one transaction, unless ``ImportOptions/batchSize`` is set.
    ///
    /// - Parameters:
    ///   - path: The file, or the folder.
    ///   - options: The treatment of bad rows and existing objects.
    ///   - progress: Called with the progress.
    /// - Returns: A report of the imported objects.
    /// - Throws: ``RelataError/validation(_:)`` for bad rows, with their files and lines, and nothing imported;
    ///   ``RelataError/invalidUse(_:)`` for missing classes and columns; ``RelataError/fileAccess(path:_:)`` for files
    ///   that can't be read.
    @discardableResult
    public func `import`(
        _ path: String, options: ImportOptions = ImportOptions(),
        progress: @escaping @Sendable (DataProgress) -> Void = { _ in }
    ) async throws -> ImportReport {
        let run = try await performing(try ImportRun(path, options), ImportListener(progress: progress))
        try run.throwIfRefused()
        return run.report
    }

    /// Imports objects and their links, as the call with `await`.
    ///
    /// - Throws: The errors of the call with `await`.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func `import`(
        _ path: String, options: ImportOptions = ImportOptions(),
        progress: @escaping @Sendable (DataProgress) -> Void = { _ in }
    ) throws -> ImportReport {
        var run = try ImportRun(path, options)
        try perform(&run, ImportListener(progress: progress))
        try run.throwIfRefused()
        return run.report
    }

    /// A finished import, or one with bad rows.
    package func performing(_ run: ImportRun, _ listener: ImportListener) async throws -> ImportRun {
        try access.requireEverything(for: "an import")
        return try await pool.onOwnThread {
            var run = run
            while !run.isDone {
                let step = run
                do {
                    run.take(try await self.write { try step.next(in: $0, listener) })
                } catch let stop as ImportStop {
                    run.end(stop)
                }
            }
            if let tables = self.tablesToCount(run) {
                // An error here doesn't undo the import.
                try? await self.pool.alone { try $0.gatherStatistics(of: tables) }
            }
            return run
        }
    }

    /// Runs an import to its end, or until rows are bad.
    package func perform(_ run: inout ImportRun, _ listener: ImportListener) throws {
        try access.requireEverything(for: "an import")
        while !run.isDone {
            let step = run
            do {
                run.take(try write { try step.next(in: $0, listener) })
            } catch let stop as ImportStop {
                run.end(stop)
            }
        }
        if let tables = tablesToCount(run) { try? pool.withWriter { try $0.gatherStatistics(of: tables) } }
    }

    /// From that many rows on, the planner's statistics are updated: it assumes a table's size at the last update.
    private static let manyRows = 10_000

    /// The tables, in SQL, that an import has written many rows to; `nil` for none.
    private func tablesToCount(_ run: ImportRun) -> [String]? {
        guard run.hasWritten else { return nil }
        let classes = currentClasses
        let tables = (try? MovedTable.tables(of: classes)) ?? []
        let names = run.report.parts.filter { $0.inserted + $0.updated >= Self.manyRows }.map(\.name)
        let counted = tables.filter { names.contains($0.name) }.map { table in
            switch table.owner {
            case .entity(let number): classes.schema.tables[number].stored(classes.dialect)
            case .join(let number): classes.schema.joins[number].stored(classes.dialect)
            }
        }
        return counted.isEmpty ? nil : counted
    }
}
