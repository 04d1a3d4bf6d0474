#if CommandLineTool
import ArgumentParser
import RelataEngine
import RelataCore

/// `relata check FILE`
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Looks for what contradicts the schema, and says how to mend it.",
        discussion: """
            Dangling references, counts, positions, values that should be unique, cases that an enum doesn't have, \
            text that is no JSON, and damage of the file. Ends with 1 if there is any. Whether JSON fits a Swift type \
            only the models can tell: store.check() does.
            """)

    @OptionGroup var source: FileArgument

    func run() throws {
        let database = try ToolDatabase(source.file)
        let findings = try Progress.during("checking") { progress in
            try IntegrityCheck.run(database.connection, schema: database.schema, step: progress.step)
        }
        let schema = database.schema
        guard !findings.isEmpty else {
            let parts = [
                DisplayText.count(schema.tables.count, "entity", "entities"),
                DisplayText.count(schema.references.count, "reference"),
                DisplayText.count(schema.joins.count, "join table"),
            ]
            print("\(database.name): no findings in \(parts.joined(separator: ", "))")
            return
        }
        print("\(database.name): \(DisplayText.count(findings.count, "finding"))")
        for finding in findings {
            print("\n" + DisplayText.visible(finding.description))
            print("  mend: " + DisplayText.visible(finding.mend))
        }
        throw ExitCode.failure
    }
}
#endif
