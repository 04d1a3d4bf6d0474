#if CommandLineTool
import ArgumentParser
import RelataEngine
import RelataCore

/// `relata check FILE`
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Finds data that contradicts the schema, and says how to fix it.",
        discussion: """
            Finds dangling references, wrong counts and positions, values that should be unique, enum values without a \
            case, text that isn't JSON, and damage of the file. Exits with 1 if it finds any. Only the models can tell \
            whether JSON fits a Swift type: see store.check().

            --repair fixes the problems that can be fixed safely, in one transaction, after it has listed them and \
            asked for confirmation. A second check in the same transaction makes sure that every fix is an \
            improvement; data that isn't improved is left unchanged. Make a backup first, for example with --backup.
            """)

    @OptionGroup var source: FileArgument
    @Flag(name: .customLong("repair"), help: "Fix the problems that can be fixed safely.") var repairs = false
    @Flag(name: .customLong("dry-run"), help: "Only show what --repair would do.") var isDryRun = false
    @Flag(name: .customLong("yes"), help: "Don't ask.") var isConfirmed = false
    @Option(name: .customLong("backup"), help: "A file for a copy of the database, made before the repair.")
    var backup: String?

    func validate() throws {
        if !repairs, isDryRun || isConfirmed || backup != nil {
            throw ValidationError("--dry-run, --yes and --backup need --repair")
        }
    }

    func run() throws {
        if let backup {
            try BackupCommand.refuseServers([source.file, backup])
            // Even if there is nothing to repair, and before any question.
            try RegularFile.check(backup, for: "a database")
        }
        let findings = try showFindings()
        guard !findings.isEmpty else { return }
        let wanted = findings.filter { $0.repair != nil }
        guard repairs, !isDryRun else { throw ExitCode.failure }
        guard !wanted.isEmpty else {
            print("\nnothing can be fixed safely")
            throw ExitCode.failure
        }
        print("")
        let subject = "\(wanted.count) of \(DisplayText.count(findings.count, "finding"))"
        guard isConfirmed || Console.confirm("Fix \(subject)?") else {
            print("nothing was fixed")
            throw ExitCode.failure
        }
        if let backup { try BackupCommand.copy(source.file, to: backup) }
        let report = try fix(wanted)
        guard report.remaining.isEmpty else { throw ExitCode.failure }
    }

    /// Checks the database and shows the findings. It is closed again, so that others don't wait for an answer.
    private func showFindings() throws -> [IntegrityFinding] {
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
            return []
        }
        print("\(database.name): \(DisplayText.count(findings.count, "finding"))")
        for finding in findings {
            print("\n" + DisplayText.visible(finding.description))
            if repairs, let repair = finding.repair {
                print("  repair: " + DisplayText.visible(repair.description))
            } else {
                print("  \(repairs ? "by hand" : "fix"): " + DisplayText.visible(finding.fix))
            }
        }
        return findings
    }

    private func fix(_ findings: [IntegrityFinding]) throws -> IntegrityRepairReport {
        let result = try Progress.during("fixing") { progress in
            try ToolDatabase.write(source.file) { database in
                try RepairRun.run(findings, on: database.connection) {
                    try IntegrityCheck.run(database.connection, schema: database.schema, step: progress.step)
                }
            }
        }
        for finding in result.repaired { print("fixed: " + DisplayText.visible(finding.subject)) }
        for refusal in result.refused { print("not fixed: " + DisplayText.visible(refusal.description)) }
        let left = result.remaining.count
        print(
            left == 0
                ? "no findings are left" : "\(DisplayText.count(left, "finding")) \(left == 1 ? "is" : "are") left")
        return result
    }
}
#endif
