#if CommandLineTool
import ArgumentParser
import RelataCore
import RelataEngine

/// `relata walk FILE`: shows the other commands on any file. Writes to it: `scripts/run` gives it a copy.
struct WalkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "walk", shouldDisplay: false)

    @OptionGroup var source: FileArgument

    func run() throws {
        let file = source.file
        show("inspect", file)
        let fetch: [String]?
        let denied: [String]?
        let allowed: [String]?
        let remainder: [String]
        do {
            // Closed before anything is deleted.
            let chooser = WalkChooser(try ToolDatabase(file))
            fetch = try chooser.fetch()
            denied = try chooser.deletion(isDenied: true)
            allowed = try chooser.deletion(isDenied: false)
            remainder = allowed.map { chooser.remainder(of: $0[0]) } ?? []
        }
        if let fetch { show(["fetch", file] + fetch) }
        if let denied { show(["delete", file] + denied + ["--dry-run"]) }
        if let allowed {
            show(["delete", file] + allowed + ["--yes"])
            show(["fetch", file] + remainder)
        }
        show("check", file)
    }

    private func show(_ arguments: String...) { show(arguments) }

    /// Runs a command as if it had been typed.
    private func show(_ arguments: [String]) {
        print("\n$ relata " + arguments.map(Self.quoted).joined(separator: " "))
        do {
            var command = try RelataCommand.parseAsRoot(arguments)
            try command.run()
        } catch let code as ExitCode {
            print("(exit code \(code.rawValue))")
        } catch {
            Console.fail("\((error as? RelataError)?.description ?? RelataCommand.message(for: error))")
        }
    }

    /// An argument as a shell reads it.
    private static func quoted(_ argument: String) -> String {
        let isPlain = !argument.isEmpty && argument.allSatisfy { $0.isLetter || $0.isNumber || "-_./,@".contains($0) }
        let parts = argument.split(separator: "'", omittingEmptySubsequences: false)
        return isPlain ? argument : "'" + parts.joined(separator: "'\\''") + "'"
    }
}
#endif
