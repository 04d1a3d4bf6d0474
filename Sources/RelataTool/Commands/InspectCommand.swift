#if CommandLineTool
import ArgumentParser
import RelataCore

/// `relata inspect FILE`
struct InspectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect", abstract: "Shows entities, attributes, relationships and the numbers of objects.")

    /// The output format.
    enum Format: String, ExpressibleByArgument, CaseIterable { case text, json, svg, mermaid, swift }

    @OptionGroup var source: FileArgument
    @Option(help: "text, json, a diagram (svg or mermaid), or models (swift).") var format = Format.text

    func run() throws {
        let database = try ToolDatabase(source.file, followsAllKeys: true)
        switch format {
        case .text: for line in try inspection(of: database).lines() { print(line) }
        case .json: print(JSONWriter.indentedText(try inspection(of: database).json()))
        case .svg: print(database.schema.diagram().svg, terminator: "")
        case .mermaid: print(database.schema.diagram().mermaid, terminator: "")
        case .swift: print(SwiftModels(database).source(), terminator: "")
        }
    }

    private func inspection(of database: ToolDatabase) throws -> Inspection {
        try Progress.during("reading \(database.name)") { try Inspection(database, progress: $0) }
    }
}
#endif
