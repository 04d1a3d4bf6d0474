#if CommandLineTool && Server
import ArgumentParser
import Foundation
import RelataCore
import RelataEngines
import RelataParse
import RelataServer

/// `relata import-parse DATABASE SOURCE`
struct ParseImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-parse",
        abstract: "Moves the data of a Parse server into a database.",
        discussion: """
            Examples:
              relata import-parse library.sqlite export
              relata import-parse library.sqlite https://old.example.org/parse --app-id library

            The source is a folder with a JSON file for each class, from mongoexport or from Parse.com, or the address of a \
            server. The master key of a server is read from RELATA_SOURCE_MASTER_KEY, from the terminal, or from \
            standard input. Objects keep their ids, times and access lists. Users keep their names and, from an export \
            of the database, their passwords. Objects that are in the database already aren't changed. After an \
            interruption, the same command continues the import.
            """)

    @Argument(
        help: "The SQLite file, created if it doesn't exist, or the URL of a PostgreSQL database.",
        completion: .file())
    var database: String
    @Argument(help: "The folder of an export, or the URL of a server.", completion: .directory)
    var source: String
    @Option(name: .customLong("app-id"), help: "The server's application id.") var appID: String?
    @Option(help: "The folder in which to store files, the --files of relata serve.", completion: .directory)
    var files: String?
    @Option(help: "A folder with the contents of the export's files.", completion: .directory)
    var filesFrom: String?
    @Option(
        help: "A PEM file with the trusted certificates for the server.", completion: .file())
    var certificates: String?
    @Option(
        help: "The file with the progress of an interrupted import. (default: FILE.import)",
        completion: .file())
    var state: String?

    private var isServer: Bool { source.hasPrefix("https://") || source.hasPrefix("http://") }

    func validate() throws {
        if isServer, appID?.isEmpty ?? true {
            throw ValidationError("--app-id must be given for a server")
        }
        if !isServer, appID != nil || certificates != nil {
            throw ValidationError(
                "--app-id and --certificates are for a server, and \(source) is a folder")
        }
        if filesFrom != nil, files == nil {
            throw ValidationError("--files-from needs --files, the folder in which to store them")
        }
        if filesFrom != nil, isServer {
            throw ValidationError("--files-from is for an export: a server sends its files")
        }
    }

    func run() async throws {
        let from = try importSource()
        let location = try DatabaseLocation(database)
        let file = state ?? location.companionPath.map { $0 + ".import" }
        let earlier = try file.flatMap { try ImportState.progress(of: source, at: $0) }
        let store = try ParseStore.open(database)
        defer { try? store.close() }
        var options = ParseService.Options()
        options.secrets = ScryptSecrets()
        if let files { options.files = FileOptions(storage: try FolderStorage(files)) }
        do {
            let (reports, run) = try await Progress.during("importing") { progress in
                let run = ParseImport(from, into: store, options: options, after: earlier ?? .init()) {
                    step, state in
                    progress.step("importing \(DisplayText.visible(step))")
                    if let file { try ImportState.write(state, of: source, to: file) }
                }
                return (try await run.run(), run)
            }
            show(reports, run)
        } catch let error as ParseError {
            throw RelataError.invalidUse(error.message)
        }
        if let file { try? FileManager.default.removeItem(atPath: file) }
    }

    private func importSource() throws -> any ImportSource {
        guard isServer, let appID else { return try ImportFolder(source, contents: filesFrom) }
        let key =
            try ProcessInfo.processInfo.environment["RELATA_SOURCE_MASTER_KEY"]
            ?? PasswordInput.read("Master key of \(source): ", what: "master key", again: false)
        return try ImportServer(
            source, applicationID: appID, masterKey: key, certificates: certificates)
    }

    private func show(_ reports: [ParseImport.Report], _ run: ParseImport) {
        for note in run.notes { Console.write("relata: \(DisplayText.visible(note))\n") }
        let table = TextTable(
            headings: ["class", "new", "there", "refused", "links", "dangling"],
            rows: reports.map { report in
                [.init(DisplayText.visible(report.name))]
                    + [report.created, report.existing, report.refused, report.links, report.dangling].map {
                        .init(DisplayText.grouped($0), isNumber: true)
                    }
            })
        for line in table.lines() { print(line) }
        if run.fileCount > 0 { print("\n\(DisplayText.count(run.fileCount, "file")) stored") }
        if run.usersWithoutPassword > 0 {
            print(
                "\n\(DisplayText.count(run.usersWithoutPassword, "user")) came without a password: set one by a mail, or by "
                    + "relata user reset")
        }
    }
}

/// The file with the progress of an import.
enum ImportState {
    /// - Returns: `nil` if there is no such file.
    /// - Throws: `RelataError` for a file of another import.
    static func progress(of source: String, at path: String) throws -> ParseImport.Progress? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        guard let json = try? JSONParser.parse(data),
            let done = json["done"]?.array?.compactMap(\.string)
        else {
            throw RelataError.fileAccess(
                path: path, "isn't the state of an import: delete it to begin again")
        }
        guard json["source"]?.string == source else {
            throw RelataError.fileAccess(
                path: path,
                "is the state of another import: delete it, or choose another file with --state")
        }
        var progress = ParseImport.Progress()
        progress.done = Set(done)
        for (step, position) in json["positions"]?.object ?? [:] {
            progress.positions[step] = position.string
        }
        return progress
    }

    static func write(_ progress: ParseImport.Progress, of source: String, to path: String) throws {
        let json: JSONValue = [
            "source": .string(source), "done": .array(progress.done.sorted().map { .string($0) }),
            "positions": .object(
                JSONObject(
                    progress.positions.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })),
        ]
        do {
            try Data(JSONWriter.indentedText(json).utf8).write(
                to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            throw RelataError.fileAccess(path: path, "can't be written: \(error.localizedDescription)")
        }
    }
}
#endif
