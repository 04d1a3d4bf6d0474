#if CommandLineTool
import ArgumentParser
import RelataCore

/// `relata delete FILE ENTITY KEY…`
struct DeleteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete", abstract: "Deletes objects by the delete rules.",
        discussion: """
            Shows the plan, and asks for confirmation before anything is deleted. The parts of a key are separated by \
            commas: 3,12. Keys that begin with - must come after --, except negative numbers, which may stand \
            anywhere.
            """)

    @OptionGroup var source: FileArgument
    @Argument(help: "The entity, such as Artist.") var entity: String
    @Argument(help: "The objects' keys.") var keys: [String]
    @Flag(name: .customLong("dry-run"), help: "Only show the plan.") var isDryRun = false
    @Flag(name: .customLong("yes"), help: "Don't ask.") var isConfirmed = false
    @Option(help: "How many objects of each kind to name.") var show = 5

    func run() throws {
        let plan = try showPlan()
        if plan.isDenied { throw ExitCode.failure }
        if isDryRun { return }
        let objects = DisplayText.count(plan.deletedCount, "object")
        guard isConfirmed || Console.confirm("Delete \(objects)?") else {
            print("nothing was deleted")
            throw ExitCode.failure
        }
        try Progress.during("deleting \(objects)") { _ in
            try ToolDatabase.write(source.file, naming: entity) { database in
                try DeletionRequest(database, entity: entity, keys: keys).run(in: database, expecting: plan)
            }
        }
        let counts = plan.deleted.map { "\($0.keys.count) \($0.entity)" }.joined(separator: ", ")
        print("deleted \(objects): \(counts)")
    }

    /// Reads the plan and shows it. The file is closed again, so that others don't wait for the answer.
    private func showPlan() throws -> DeletionReport {
        let database = try ToolDatabase(source.file, naming: entity)
        let request = try DeletionRequest(database, entity: entity, keys: keys)
        let limit = max(0, show)
        let (plan, names) = try Progress.during("planning") { _ in
            let plan = try request.plan(in: database)
            return (plan, try ObjectNames(plan, showing: max(1, limit), in: database))
        }
        for line in plan.lines(showing: limit, naming: names.callAsFunction) { print(DisplayText.visible(line)) }
        return plan
    }
}
#endif
