#if CommandLineTool
import ArgumentParser
import Foundation
import RelataCore

/// `relata`: its subcommands do the work.
struct RelataCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relata",
        abstract: "Inspects databases by their relationships, and deletes by their rules.",
        discussion: """
            Works with any SQLite file, and with any PostgreSQL database by its URL. Entities and properties can be \
            given by their names in Relata (Album.artist) or in the database (ArtistId), in any case.
            """,
        version: ToolVersion.text,
        subcommands: [
            InspectCommand.self, FetchCommand.self, DeleteCommand.self, CheckCommand.self, MakeCommand.self,
            ExportCommand.self, ImportCommand.self, BackupCommand.self, RestoreCommand.self, CopyCommand.self,
            VacuumCommand.self, WalkCommand.self,
        ] + servers)

    #if Server
    private static let servers: [any ParsableCommand.Type] = [
        ServeCommand.self, OpenCommand.self, SchemaCommand.self, AccessCommand.self,
        UserCommand.self, KeysCommand.self, ParseImportCommand.self,
    ]
    #else
    private static let servers: [any ParsableCommand.Type] = []
    #endif

    /// Runs the command and ends the process: 0 for success, 1 for a failure or findings, 64 for wrong usage.
    static func run(_ arguments: [String]) async -> Never {
        if let problem = ArgumentBytes.problem {
            Console.fail("\(problem) (see relata --help)")
            leave(ExitCode.validationFailure.rawValue)
        }
        let dashed = DashedValues(arguments: arguments)
        do {
            var command = try parseAsRoot(dashed.parsed)
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch let code as ExitCode {
            leave(code.rawValue)
        } catch {
            let code = exitCode(for: error)
            if code == .success { exit(withError: error) }  // help or the version, on standard output
            let isUsage = code == .validationFailure
            let hint = isUsage ? dashed.hint.map { ": \($0)" } ?? "" : ""
            Console.fail(message(of: error) + hint + (isUsage ? " (see relata --help)" : ""))
            leave(isUsage ? code.rawValue : 1)
        }
        leave(0)
    }

    private static func leave(_ code: Int32) -> Never {
        if fflush(nil) != 0, code == 0 {
            Console.fail("the output can't be written: \(String(cString: strerror(errno)))")
            Foundation.exit(1)
        }
        Foundation.exit(code)
    }

    private static func message(of error: any Error) -> String {
        if let error = error as? RelataError { return error.description }
        return Self.message(for: error)
    }
}

/// The version of the tool.
enum ToolVersion {
    static let text = "0.1.0"
}

/// The database that every subcommand is about.
struct FileArgument: ParsableArguments {
    @Argument(
        help: "The SQLite file, or the URL of a PostgreSQL database: postgres://user@host/database.",
        completion: .file())
    var file: String
}
#endif
