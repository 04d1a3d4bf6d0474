#if CommandLineTool && Server
import ArgumentParser
import RelataCore
import RelataParse

/// `relata access`
struct AccessCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "access", abstract: "Explains who may do what on a server's database.",
        subcommands: [AccessExplainCommand.self])
}

/// `relata access explain FILE CLASS [ID]`
struct AccessExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain", abstract: "Shows which rule allows, hides or denies each operation.",
        discussion: """
            Explains the rights on a class, or on one of its objects, for a user, for the users of a role, or for a \
            client without a session. They follow from the class's permissions and the object's access list, as on the \
            server.
            """)

    @OptionGroup var source: FileArgument
    @Argument(help: "The class.") var className: String
    @Argument(help: "An object's id; the whole class without it.") var objectID: String?
    @Option(help: "A user's name or id. (default: nobody)") var user: String?
    @Option(help: "A role: any user who has it and nothing else.") var role: String?

    func validate() throws {
        if user != nil, role != nil { throw ValidationError("--user and --role exclude each other") }
    }

    func run() async throws {
        let subject: AccessSubject = user.map { .user($0) } ?? role.map { .role($0) } ?? .nobody
        do {
            let explanation = try await SchemaSource.reading(source.file) {
                try await $0.explainAccess(of: subject, to: className, objectID)
            }
            for line in explanation.lines { print(DisplayText.visible(line)) }
        } catch let error as ParseError {
            throw RelataError.invalidUse(error.message)
        }
    }
}
#endif
