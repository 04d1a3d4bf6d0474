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
        commandName: "backup", abstract: "Copies an SQLite file while others read and write it.",
        discussion: """
            The copy contains the state of a single moment. It gets its name only when it is complete and on the disk. \
            relata restore restores it. Use pg_dump to back up a PostgreSQL database; relata copy copies one to a \
            file.

            --continuous copies everything that is written from now on to a folder, until Ctrl-C or SIGTERM; relata \
            restore FOLDER FILE --at MOMENT restores any moment of it.
            """)

    @OptionGroup var source: FileArgument
    @Argument(help: "The file to create.", completion: .file()) var destination: String?
    @Flag(name: .customLong("replace"), help: "Replace an existing database that isn't in use.")
    var replaces = false
    @Flag(name: .customLong("verify"), help: "Read and check the copy, and count its rows.") var verifies = false
    @Option(
        name: .customLong("continuous"), help: "The folder for continuous copies of everything that is written.",
        completion: .directory)
    var folder: String?
    @Option(help: "With --continuous: how far back a moment can be restored, such as 7d or 12h. Default: unlimited.")
    var keep: TimeSpan?
    @Option(help: "With --continuous: how long a commit may wait to be copied. Default: 1s.") var interval: TimeSpan?

    func validate() throws {
        guard (destination == nil) != (folder == nil) else {
            throw ValidationError("give the file to create, or --continuous and a folder")
        }
        if folder == nil, keep != nil || interval != nil {
            throw ValidationError("--keep and --interval need --continuous")
        }
        if folder != nil, replaces || verifies {
            throw ValidationError("--replace and --verify are for a single file: restore checks continuous copies")
        }
    }

    func run() throws {
        try Self.refuseServers([source.file, destination, folder].compactMap(\.self))
        if let folder { return try follow(to: folder) }
        guard let destination else { return }
        let plan = BackupPlan(to: destination, replaces ? .database : .never, verifies: verifies)
        try makeFile(from: source.file, plan, "backing up \(source.file)")
        print("\(destination): a copy of \(source.file)\(verifies ? ", checked" : "")")
    }

    private func follow(to folder: String) throws {
        try RegularFile.require(source.file)
        // A file of another program is refused before anything is created.
        try ToolDatabase.store(source.file).close()
        let copies = ContinuousBackup(
            of: source.file, to: folder, keeping: keep?.duration, interval: interval?.duration ?? .seconds(1))
        StopSignal.listen()
        try copies.run(until: { StopSignal.isReceived }) { event in
            print("\(folder): " + text(event))
            // Readers of the output wait for it.
            fflush(nil)
        }
    }

    private func text(_ event: ContinuousBackup.Event) -> String {
        switch event {
        case .base(let moment): "\(source.file) can be restored from \(ContinuousBackup.text(moment)) on"
        case .resumed(let moment): "continues after \(ContinuousBackup.text(moment))"
        case .lost(let reason): "starts again, because some writes may be missing: \(reason)"
        case .removed(let count): "removed \(DisplayText.count(count, "old base"))"
        }
    }

    /// Refuses databases of servers.
    static func refuseServers(_ names: [String]) throws {
        for location in try names.map({ try DatabaseLocation($0) }) where location.isServer {
            throw RelataError.invalidUse(
                "\(location.name) is a PostgreSQL database: back it up with pg_dump, or make a file of it with relata copy"
            )
        }
    }

    /// Copies a file unchanged, damaged or not, before it is changed.
    static func copy(_ file: String, to destination: String) throws {
        try makeFile(from: file, BackupPlan(to: destination, .never, verifies: false), "backing up \(file)")
        print("\(destination): a copy of \(file)")
    }
}

/// `relata restore BACKUP FILE`
struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Restores a backup.",
        discussion: """
            The backup is checked before anything is changed. An existing file is only replaced with --replace, and \
            only if no process uses it. From a folder of relata backup --continuous, the last copied moment is \
            restored, or the moment given by --at.
            """)

    @Argument(help: "The backup, or a folder of continuous copies.", completion: .file()) var backup: String
    @Argument(help: "The file to create.", completion: .file()) var file: String
    @Flag(name: .customLong("replace"), help: "Replace an existing file that isn't in use, damaged or not.")
    var replaces = false
    @Option(help: "A moment of continuous copies, such as 2026-11-26T08:00:00Z.") var at: String?

    func run() throws {
        try BackupCommand.refuseServers([backup, file])
        let plan = BackupPlan(to: file, replaces ? .anyFile : .never, verifies: true)
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: backup, isDirectory: &isFolder), isFolder.boolValue {
            return try restoreMoment(plan)
        }
        guard at == nil else {
            throw RelataError.invalidUse("\(backup) is a copy of one moment: --at is for a folder of continuous copies")
        }
        try makeFile(from: backup, plan, "restoring \(file)")
        print("\(file): restored from \(backup), checked")
    }

    private func restoreMoment(_ plan: BackupPlan) throws {
        let moment = try at.map { text in
            guard let moment = ContinuousBackup.moment(text) else {
                throw RelataError.invalidUse("\(text) isn't a moment: write it as 2026-11-26T08:00:00Z")
            }
            return moment
        }
        let restored = try Progress.during("restoring \(file)") { _ in
            try ContinuousBackup.restore(from: backup, plan, at: moment)
        }
        print("\(file): restored from \(backup) as it was at \(ContinuousBackup.text(restored.moment)), checked")
        if let gap = restored.gap { Console.write("note: \(DisplayText.visible(gap))\n") }
    }
}

/// Restores a file from another one.
private func makeFile(from source: String, _ plan: BackupPlan, _ step: String) throws {
    let store = try ToolDatabase.store(source)
    try Progress.during(step) { progress in try store.backup(plan) { progress.step(of: step, $0) } }
    try store.close()
}
#endif
