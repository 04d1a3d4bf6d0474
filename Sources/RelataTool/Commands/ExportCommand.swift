#if CommandLineTool
import ArgumentParser
import RelataCore
import RelataRecords

extension DataFormat: ExpressibleByArgument {}

/// `relata export DATABASE [CLASS…]`
struct ExportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes objects and their links as JSON Lines or CSV.",
        discussion: """
            Examples:
              relata export music.sqlite --output music
              relata export music.sqlite Album --output albums.csv
              relata export music.sqlite Playlist.tracks --format csv

            Each class is written to a file in a folder, and so is each many-to-many relationship, with a row for each \
            link. The export contains the state of a single moment, regardless of concurrent writes. relata import \
            reads it.
            """)

    @OptionGroup var source: DatabaseArgument
    @Argument(help: "Classes, such as Album, and lists, such as Playlist.tracks. All by default.")
    var classes: [String] = []
    @Option(help: "jsonl or csv; by default the extension of the output, or jsonl.")
    var format: DataFormat?
    @Option(help: "A folder, a file whose name ends with .jsonl or .csv, or - for standard output.")
    var output = "-"
    @Flag(name: .customLong("replace"), help: "Replace existing files.") var replaces = false

    func run() throws {
        let ending = DataFormat(fileName: output)
        let destination: DataDestination =
            output == "-" ? .standardOutput : ending == nil ? .folder(output) : .file(output)
        let store = try ToolDatabase.store(at: source.database)
        let report = try Progress.during("exporting") { progress in
            try store.export(
                classes, to: destination, format: format ?? ending ?? .jsonLines, replaces: replaces
            ) { progress.step("exporting \(DisplayText.visible($0.name)): \(DisplayText.count($0.rows, "row"))") }
        }
        try store.close()
        show(report)
    }

    private func show(_ report: ExportReport) {
        if !report.omittedLists.isEmpty {
            Console.write("relata: left out: \(DisplayText.visible(report.omittedLists.joined(separator: ", ")))\n")
        }
        for (field, count) in report.misfits.sorted(by: { $0.key < $1.key }) {
            Console.write(
                "relata: \(DisplayText.visible(field)): \(DisplayText.count(count, "value")) of another type than the "
                    + "field's, which relata import refuses\n")
        }
        if output == "-" { return }
        let table = TextTable(
            headings: ["exported", "rows", "file"],
            rows: report.parts.map {
                [
                    .init(DisplayText.visible($0.name)), .init(DisplayText.grouped($0.rows), isNumber: true),
                    .init(DisplayText.visible($0.path ?? "")),
                ]
            })
        for line in table.lines(cellWidth: 200) { print(line) }
        print("\n\(DisplayText.count(report.parts.reduce(0) { $0 + $1.rows }, "row"))")
    }
}

/// The database of a subcommand that works on files and servers.
struct DatabaseArgument: ParsableArguments {
    @Argument(help: "The SQLite file, or the URL of a PostgreSQL database.", completion: .file())
    var database: String
}
#endif
