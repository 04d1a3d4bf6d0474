import RelataCore
import RelataEngine

/// The callbacks of a running import.
package struct ImportListener: Sendable {
    let progress: @Sendable (DataProgress) -> Void
    let badRow: @Sendable (BadRow) -> Void

    /// - Parameters:
    ///   - progress: Called with the progress.
    ///   - badRow: Called with each listed bad row.
    package init(
        progress: @escaping @Sendable (DataProgress) -> Void, badRow: @escaping @Sendable (BadRow) -> Void = { _ in }
    ) {
        self.progress = progress
        self.badRow = badRow
    }
}

/// The results of one transaction of an import.
struct ImportStep: Sendable {
    let report: ImportReport
    let start, end: ImportPlace
}

/// Takes a transaction of an import back: it was for looking only, or rows are bad.
struct ImportStop: Error {
    let step: ImportStep
}

/// An import of files, one transaction after the other.
package struct ImportRun: Sendable {
    private let files: [ImportedFile]
    private let options: ImportOptions
    private var hasBegun = false
    /// The result so far.
    package private(set) var report = ImportReport()
    /// Whether nothing is left to do.
    package private(set) var isDone = false
    /// Whether rows are bad, so that nothing was imported, or nothing of the last batch.
    package private(set) var isRefused = false

    /// An import of a file, or of the files of a folder.
    ///
    /// - Parameter name: The name in messages.
    package init(_ path: String, name: String? = nil, _ options: ImportOptions) throws(RelataError) {
        if let name {
            files = [try ImportedFile(path, name: name, options)]
        } else {
            files = try ImportedFile.files(at: path, options)
        }
        if let size = options.batchSize, size < 1 {
            throw .invalidUse("a batch of \(size) rows imports nothing: give it one row or more")
        }
        self.options = options
    }

    /// Imports the next rows, in a transaction.
    func next(in transaction: RecordWriteTransaction, _ listener: ImportListener) throws -> ImportStep {
        let pass = try ImportPass(files, options, in: transaction, listener)
        let batch = options.isDryRun ? nil : options.batchSize
        let state = ImportState(of: files, on: transaction.connection)
        let known = try state.place()
        if known != nil, batch == nil {
            throw RelataError.invalidUse(
                "an import of these files was started in batches: continue it with a batch size")
        }
        let start = known ?? ImportPlace()
        let (report, end) = try pass.run(from: start, rows: batch)
        let step = ImportStep(report: report, start: start, end: end)
        if options.isDryRun || isRefused(report) { throw ImportStop(step: step) }
        if batch != nil { try state.note(end) }
        return step
    }

    private func isRefused(_ report: ImportReport) -> Bool { report.badRowCount > 0 && !options.skipsBadRows }

    /// Records a committed step.
    mutating func take(_ step: ImportStep) {
        add(step)
        isDone = step.end.isDone
    }

    /// Records a step that was rolled back.
    mutating func end(_ stop: ImportStop) {
        add(stop.step)
        (isDone, isRefused) = (true, !options.isDryRun)
    }

    /// Whether all is done, and was no dry run.
    var hasWritten: Bool { isDone && !isRefused && !options.isDryRun }

    private mutating func add(_ step: ImportStep) {
        if !hasBegun { report.resumedAfter = step.start.rows }
        hasBegun = true
        report.add(step.report)
    }

    /// - Throws: ``RelataError/validation(_:)`` with the bad rows, if nothing was imported because of them.
    func throwIfRefused() throws(RelataError) {
        guard isRefused else { return }
        throw .validation(report.badRows.map(\.failure))
    }
}

extension ImportReport {
    /// Adds the results of a later transaction.
    fileprivate mutating func add(_ other: ImportReport) {
        for part in other.parts {
            guard let place = parts.firstIndex(where: { $0.name == part.name }) else {
                parts.append(part)
                continue
            }
            parts[place].inserted += part.inserted
            parts[place].updated += part.updated
            parts[place].skipped += part.skipped
            parts[place].bad += part.bad
        }
        createdClasses += other.createdClasses
        badRows += other.badRows.prefix(Self.listedRows - badRows.count)
        badRowCount += other.badRowCount
    }
}
