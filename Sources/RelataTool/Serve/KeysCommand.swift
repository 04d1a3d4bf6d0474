#if CommandLineTool && Server
import ArgumentParser
import RelataCore
import RelataParse
import RelataServer

/// `relata keys`
struct KeysCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys", abstract: "Replaces the secret keys of a server.",
        subcommands: [KeysRotateCommand.self])
}

/// `relata keys rotate FILE.keys`
struct KeysRotateCommand: ParsableCommand {
    enum Key: String, ExpressibleByArgument, CaseIterable {
        case master, maintenance
        case readOnlyMaster = "read-only-master"

        var privilege: ParseKeys.Privilege {
            switch self {
            case .master: .master
            case .readOnlyMaster: .readOnlyMaster
            case .maintenance: .maintenance
            }
        }
    }

    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Makes a new key, and writes its hash to a server's key file.",
        discussion: """
            A running server accepts the new key within seconds, and the old key for the --old-key-time of relata serve. \
            A key from a flag, a variable or the configuration file isn't replaced.
            """)

    @Argument(help: "The key file, such as library.sqlite.keys.", completion: .file()) var file: String
    @Option(help: "master, read-only-master or maintenance.") var key = Key.master

    func run() throws { print(try KeyFile.rotate(file, key.privilege)) }
}
#endif
