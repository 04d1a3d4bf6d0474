#if CommandLineTool
import ArgumentParser
import Foundation
import RelataCore
import RelataEngine
import RelataEngines
import RelataSQLite

/// `relata copy SOURCE DESTINATION`: copies a database while others use it, without writing to it.
struct CopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copies a database: a file unchanged, or all data between SQLite and PostgreSQL.",
        discussion: """
            A file is copied to another file unchanged. If either side is a PostgreSQL database, entities, links, keys \
            and the stored facts about the models are copied, and everything that isn't copied is listed. At the end, \
            both databases are compared. After an interruption, the same command continues the copy.
            """)

    @OptionGroup var source: FileArgument
    @Argument(help: "The file to create, or the URL of an empty PostgreSQL database.", completion: .file())
    var destination: String

    func run() throws {
        let (from, to) = (try DatabaseLocation(source.file), try DatabaseLocation(destination))
        if from.isServer || to.isServer { try copyRows(from, to) } else { try copyFile() }
    }

    private func copyFile() throws {
        let store = try ToolDatabase.store(source.file)
        try Progress.during("copying \(source.file)") { progress in
            try store.backup(to: destination) { progress.step(of: "copying \(source.file)", $0) }
        }
        try store.close()
    }

    private func copyRows(_ from: DatabaseLocation, _ to: DatabaseLocation) throws {
        // A path that isn't a file is refused before a file is created.
        let file = from.isServer ? nil : try ToolDatabase(source.file)
        let original = try file?.connection ?? from.connect(isReadOnly: true)
        let outcomes = try Progress.during("looking at \(from.name)") { progress in
            try to.copy(from: original) { step in
                switch step {
                case .leavingOut(let phrases):
                    for phrase in phrases { Console.write("relata: left out: \(DisplayText.visible(phrase))\n") }
                case .copied(let entity, let rows):
                    progress.step("copying \(entity): \(DisplayText.count(rows, "row"))")
                case .verifying(let entity): progress.step("comparing \(entity)")
                case .finishing: progress.step("checking references")
                }
            }
        }
        report(outcomes, to.name)
    }

    private func report(_ outcomes: [DatabaseCopy.Outcome], _ name: String) {
        let table = TextTable(
            headings: ["copied", "rows", "checksum"],
            rows: outcomes.map { outcome in
                [
                    .init(DisplayText.visible(outcome.name)),
                    .init(DisplayText.grouped(outcome.rows), isNumber: true), .init(outcome.checksum),
                ]
            })
        for line in table.lines() { print(line) }
        print("\n\(name): \(DisplayText.count(outcomes.reduce(0) { $0 + $1.rows }, "row")), the same in both")
    }
}

/// Refuses to create a file over an existing one.
func refuseExisting(_ path: String) throws {
    if FileManager.default.fileExists(atPath: path) {
        throw RelataError.fileAccess(path: path, "already exists, and is left unchanged")
    }
}
#endif
