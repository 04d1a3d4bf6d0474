#if CommandLineTool
import ArgumentParser
import Foundation
import RelataCore
import RelataEngine
import RelataEngines
import RelataRecords

/// `relata backup FILE DESTINATION`
struct BackupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copies a file of SQLite while others read and write it.",
        discussion: """
            The copy is of one moment, and has its name once it is whole and on the disk. relata restore brings it back. A \
            PostgreSQL database is backed up by pg_dump; relata copy makes a file of it.
            """)

    @OptionGroup var source: FileArgument
    @Argument(help: "The file to be made.", completion: .file()) var destination: String
    @Flag(name: .customLong("replace"), help: "Replace a database that is there, and that nobody uses.")
    var replaces = false
    @Flag(name: .customLong("verify"), help: "Read and check the copy, and count its rows.") var verifies = false

    func run() throws {
        try Self.refuseServers([source.file, destination])
        let plan = BackupPlan(to: destination, replaces ? .database : .never, verifies: verifies)
        try makeFile(from: source.file, plan, "backing up \(source.file)")
        print("\(destination): a copy of \(source.file)\(verifies ? ", checked" : "")")
    }

    /// Refuses databases of servers.
    static func refuseServers(_ names: [String]) throws {
        for location in try names.map({ try DatabaseLocation($0) }) where location.isServer {
            throw RelataError.invalidUse(
                "\(location.name) is a PostgreSQL database: back it up with pg_dump, or make a file of it with relata copy")
        }
    }

    /// Copies a file as it is, damaged or not, before it is changed.
    static func copy(_ file: String, to destination: String) throws {
        try makeFile(from: file, BackupPlan(to: destination, .never, verifies: false), "backing up \(file)")
        print("\(destination): a copy of \(file)")
    }
}

/// `relata restore BACKUP FILE`
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Brings a backup back.",
        discussion: """
            The backup is checked before anything is touched. A file that is there is left as it is, unless --replace is \
            given and nobody uses it.
            """)

    @Argument(help: "The backup.", completion: .file()) var backup: String
    @Argument(help: "The file to be made of it.", completion: .file()) var file: String
    @Flag(name: .customLong("replace"), help: "Replace a file that is there, damaged or not, and that nobody uses.")
    var replaces = false

    func run() throws {
        let plan = BackupPlan(to: file, replaces ? .anyFile : .never, verifies: true)
        try makeFile(from: backup, plan, "restoring \(file)")
        print("\(file): restored from \(backup), checked")
    }
}

/// Makes a file of another one.
private func makeFile(from source: String, _ plan: BackupPlan, _ step: String) throws {
    let store = try ToolDatabase.store(source)
    try Progress.during(step) { progress in try store.backup(plan) { progress.step(of: step, $0) } }
    try store.close()
}
#endif
