#if CommandLineTool
import ArgumentParser
import Foundation
import RelataCore
import RelataEngine
import RelataRecords

extension ImportOptions.Conflict: ExpressibleByArgument {}

/// `relata import DATABASE FILE|FOLDER|-`
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import", abstract: "Imports objects and their links from JSON Lines or CSV.",
        discussion: """
            Examples:
              relata import music.sqlite music --dry-run
              relata import music.sqlite albums.csv --class Album --on-conflict update

            Files are named after their classes: Album.csv, or Playlist.tracks.csv for the links of a list. The first \
            line of a CSV file contains the names of the fields. If there are bad rows, they are listed with their \
            lines and nothing is imported; --skip-bad-rows imports the other rows.
            """)

    @OptionGroup var target: DatabaseArgument
    @Argument(help: "A file, a folder of files, or - for standard input.", completion: .file()) var source: String
    @Option(
        name: .customLong("class"), help: "The class of the file's objects, by default the name of the file.")
    var className: String?
    @Option(help: "jsonl or csv; by default the extensions of the files.") var format: DataFormat?
    @Option(
        name: .customLong("on-conflict"), help: "What to do with rows whose keys already exist: refuse, skip or update."
    )
    var onConflict = ImportOptions.Conflict.refuse
    @Flag(name: .customLong("skip-bad-rows"), help: "Skip bad rows, and import the others.") var skipsBadRows = false
    @Flag(name: .customLong("dry-run"), help: "Check everything, and import nothing.") var isDryRun = false
    @Flag(name: .customLong("create"), help: "Create missing classes, and the database file.")
    var creates = false
    @Option(
        name: .customLong("batch-size"),
        help: "Commit after this many rows; after an interruption, the same command continues from there.")
    var batchSize: Int?

    func validate() throws {
        if let batchSize, batchSize < 1 { throw ValidationError("--batch-size \(batchSize) imports nothing") }
        if source == "-", format == nil { throw ValidationError("--format must be given for standard input") }
        if source == "-", format == .csv, className == nil {
            throw ValidationError("--class must be given for CSV from standard input")
        }
    }

    private var options: ImportOptions {
        var options = ImportOptions()
        options.format = format
        options.className = className
        options.onConflict = onConflict
        options.skipsBadRows = skipsBadRows
        options.isDryRun = isDryRun
        options.createsClasses = creates
        options.batchSize = batchSize
        return options
    }

    func run() throws {
        guard source == "-" else { return try run(ImportRun(source, options)) }
        // Lines of bad rows may have to be looked for, so that it is read twice.
        let copy = FileManager.default.temporaryDirectory.appendingPathComponent("relata-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: copy) }
        try StandardInput.save(to: copy.path)
        try run(ImportRun(copy.path, name: "standard input", options))
    }

    private func run(_ started: ImportRun) throws {
        var run = started
        let store = try openStore()
        try Progress.during("importing") { progress in
            let listener = ImportListener {
                progress.step("importing \(DisplayText.visible($0.name)): \(DisplayText.count($0.rows, "row"))")
            } badRow: {
                Console.write("relata: \(DisplayText.visible($0.description))\n")
            }
            try store.perform(&run, listener)
        }
        try store.close()
        try show(run.report, isRefused: run.isRefused)
    }

    private func openStore() throws -> RecordStore {
        let isThere = ServerURL.isOne(target.database) || FileManager.default.fileExists(atPath: target.database)
        // A dry run creates no database.
        if creates, isDryRun, !isThere { return try RecordStore.inMemory(mode: .production) }
        return try ToolDatabase.store(at: target.database, isReadOnly: false, makes: creates)
    }

    private func show(_ report: ImportReport, isRefused: Bool) throws {
        let bad = report.badRowCount
        if bad > report.badRows.count {
            Console.write("relata: … and \(DisplayText.count(bad - report.badRows.count, "more bad row"))\n")
        }
        if isRefused {
            let what =
                batchSize == nil ? "nothing was imported" : "this batch and those after it were not imported"
            throw RelataError.invalidUse("\(what): \(DisplayText.count(bad, "bad row"))")
        }
        let table = TextTable(
            headings: [isDryRun ? "checked" : "imported", "inserted", "updated", "skipped", "bad"],
            rows: report.parts.map { part in
                [.init(DisplayText.visible(part.name))]
                    + [part.inserted, part.updated, part.skipped, part.bad].map {
                        .init(DisplayText.grouped($0), isNumber: true)
                    }
            })
        for line in table.lines() { print(line) }
        if report.resumedAfter > 0 {
            print("\n\(DisplayText.count(report.resumedAfter, "row")) had been imported before")
        }
        if !report.createdClasses.isEmpty {
            print("\nmade \(DisplayText.visible(report.createdClasses.joined(separator: ", ")))")
        }
        guard isDryRun else { return }
        print("\nnothing was imported: this was a dry run")
        if bad > 0 { throw ExitCode.failure }
    }
}

/// The data on standard input.
enum StandardInput {
    /// Writes all of it to a file.
    static func save(to path: String) throws {
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]),
            let file = FileHandle(forWritingAtPath: path)
        else {
            throw RelataError.fileAccess(path: path, "can't be made: standard input is kept there while it is read")
        }
        while let data = try FileHandle.standardInput.read(upToCount: 1 << 18), !data.isEmpty {
            try file.write(contentsOf: data)
        }
        try file.close()
    }
}
#endif
