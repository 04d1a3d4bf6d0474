#if CommandLineTool
import ArgumentParser
import RelataCore

/// `relata inspect FILE`
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Shows entities, attributes, relationships and how many objects there are.")

    /// How to show it.
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json }

    @OptionGroup var source: FileArgument
    @Option(help: "text or json.") var format = Format.text

    func run() throws {
        let database = try ToolDatabase(source.file)
        let inspection = try Progress.during("reading \(database.name)") { try Inspection(database, progress: $0) }
        switch format {
        case .text: for line in inspection.lines() { print(line) }
        case .json: print(JSONWriter.indentedText(inspection.json()))
        }
    }
}
#endif
