#if CommandLineTool
import ArgumentParser
import Foundation
import RelataCore
import RelataEngine
import RelataSQLite

/// `relata make FILE SQL`: makes a database by running SQL, for the project's own sample.
struct MakeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "make", shouldDisplay: false)

    @OptionGroup var target: FileArgument
    @Argument(help: "A file of SQL statements.") var sql: String

    func run() throws {
        try refuseExisting(target.file)
        try RegularFile.check(sql, for: "a text")
        guard let text = try? String(contentsOfFile: sql, encoding: .utf8) else {
            throw RelataError.fileAccess(path: sql, "can't be read as text")
        }
        let connection = try Connection(path: target.file)
        try connection.execute("BEGIN; \(text)\n; COMMIT")
        try connection.close()
    }
}

/// `relata copy FILE COPY`: copies a database while others use it, without writing to it.
struct CopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "copy", shouldDisplay: false)

    @OptionGroup var source: FileArgument
    @Argument(help: "The file to be made.") var copy: String

    func run() throws {
        let original = try ToolDatabase.store(source.file)
        try refuseExisting(copy)
        let connection = try Connection(path: copy)
        try Progress.during("copying \(source.file)") { _ in
            try original.pool.read { try $0.backup(to: connection) }
        }
        try connection.close()
    }
}

private func refuseExisting(_ path: String) throws {
    if FileManager.default.fileExists(atPath: path) {
        throw RelataError.fileAccess(path: path, "exists already, and is left as it is")
    }
}
#endif
