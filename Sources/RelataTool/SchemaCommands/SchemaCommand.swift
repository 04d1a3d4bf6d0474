#if CommandLineTool && Server
import ArgumentParser
import Foundation
import RelataCore
import RelataEngine
import RelataEngines
import RelataParse
import RelataSQLite

/// `relata schema`
struct SchemaCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schema", abstract: "Compares the classes of two servers' databases, and deploys them.",
        discussion: """
            Develop with a server that creates classes as they are used, then deploy the classes to the production \
            server. relata schema diff development.sqlite production.sqlite shows the changes, relata schema deploy \
            makes them, and relata schema compare shows every difference. A database is a file or the URL of a \
            PostgreSQL database. A document written by relata schema export can replace any database except the one \
            to change. Classes and fields are only removed with --remove, and only if they are empty. If a change is \
            impossible, for example because a field has another type in the database, it is reported, and nothing is \
            changed.
            """,
        subcommands: [SchemaExportCommand.self, CompareCommand.self, DiffCommand.self, DeployCommand.self])
}

/// `relata schema export FILE`
struct SchemaExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Writes the classes of a database as JSON, as GET /schemas shows them.")

    @OptionGroup var source: FileArgument

    func run() async throws {
        print(try await SchemaSource.reading(source.file) { try await $0.schemaText() }, terminator: "")
    }
}

/// `relata schema compare FIRST SECOND`
struct CompareCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare",
        abstract: "Shows the classes, fields, indexes and permissions that differ. Exits with 1 if any do.",
        discussion: """
            Lines with - are about the first database, lines with + about the second. Permissions that a document \
            leaves out aren't compared.
            """)

    @Argument(
        help: "An SQLite file, the URL of a PostgreSQL database, or the output of export.", completion: .file())
    var first: String
    @Argument(help: "The same, to compare the first with.", completion: .file()) var second: String

    func run() async throws {
        let here = try await SchemaSource.document(first)
        let differences = here.differences(to: try await SchemaSource.document(second))
        if differences.isEmpty {
            print("no differences")
            return
        }
        print("--- \(DisplayText.visible(try ToolDatabase.name(first)))")
        print("+++ \(DisplayText.visible(try ToolDatabase.name(second)))")
        for line in differences.flatMap(\.lines) { print(DisplayText.visible(line)) }
        throw ExitCode.failure
    }
}

/// The arguments of `diff` and `deploy`.
struct DeploymentArguments: ParsableArguments {
    @Argument(
        help: "The source of the classes: an SQLite file, the URL of a PostgreSQL database, or the output of export.",
        completion: .file())
    var wanted: String
    @Argument(help: "The SQLite file to change, or the URL of a PostgreSQL database.", completion: .file())
    var file: String
    @Flag(help: "Remove classes and fields that the source doesn't have, if they are empty.") var remove = false
}

/// `relata schema diff WANTED FILE`
struct DiffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Shows what deploying would change. Exits with 1 if it would change anything.")

    @OptionGroup var arguments: DeploymentArguments

    func run() async throws {
        let document = try await SchemaSource.document(arguments.wanted)
        let plan = try await SchemaSource.plan(for: document, arguments)
        print(plan)
        if !plan.isEmpty { throw ExitCode.failure }
    }
}

/// `relata schema deploy WANTED FILE`
struct DeployCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "deploy", abstract: "Changes the classes of a database to those of the source.",
        discussion: "A server that is serving the database picks them up automatically.")

    @OptionGroup var arguments: DeploymentArguments
    @Flag(help: "Only show what would change.") var dryRun = false
    @Flag(help: "Don't ask.") var yes = false

    func run() async throws {
        let document = try await SchemaSource.document(arguments.wanted)
        let plan = try await SchemaSource.plan(for: document, arguments)
        print(plan)
        try plan.checkIsAllowed()
        if !dryRun && !plan.isEmpty {
            guard try yes || Console.confirm("Change \(ToolDatabase.name(arguments.file))?") else {
                throw RelataError.invalidUse("nothing was changed: give --yes to change it without a question")
            }
            let store = try SchemaSource.store(arguments.file, isReadOnly: false)
            try await store.deploy(document, removes: arguments.remove, expecting: plan)
            try store.close()
        }
    }
}

/// The source of the classes.
enum SchemaSource {
    /// The plan of deploying a document.
    static func plan(for document: SchemaDocument, _ arguments: DeploymentArguments) async throws -> DeploymentPlan {
        try await reading(arguments.file) { try await $0.deploymentPlan(for: document, removes: arguments.remove) }
    }

    /// Reads from an existing database of a server.
    static func reading<Result>(_ path: String, _ body: (ParseStore) async throws -> Result) async throws -> Result {
        let store = try store(path)
        let result = try await body(store)
        try store.close()
        return result
    }

    /// An existing database of a server.
    static func store(_ path: String, isReadOnly: Bool = true) throws -> ParseStore {
        do {
            if try DatabaseLocation(path).isServer {
                return try ParseStore.open(path, mode: .production, isReadOnly: isReadOnly)
            }
            let store = try ToolDatabase.reading(path) {
                try ParseStore.open(path, mode: .production, isReadOnly: true)
            }
            if isReadOnly { return store }
            try store.close()
            return try ParseStore.open(path, mode: .production)
        } catch let error as ParseError {
            throw RelataError.invalidUse(error.message)
        }
    }

    /// The classes of a database, or those of a document.
    static func document(_ path: String) async throws -> SchemaDocument {
        if try DatabaseLocation(path).isServer { return try await stored(path) }
        try RegularFile.check(path, for: "a schema")
        guard let file = FileHandle(forReadingAtPath: path), let start = try? file.read(upToCount: 16) ?? Data() else {
            throw RelataError.fileAccess(path: path, "there is no such file")
        }
        if start != Data("SQLite format 3\0".utf8) {
            return try SchemaDocument(try JSONParser.parse(start + (file.readToEnd() ?? Data())))
        }
        // Closing it later would take SQLite's locks from it.
        try file.close()
        return try await stored(path)
    }

    private static func stored(_ path: String) async throws -> SchemaDocument {
        try SchemaDocument(try await reading(path) { try await $0.schemaJSON() })
    }
}
#endif
