#if CommandLineTool
import ArgumentParser
import Foundation
import RelataCore
import RelataEngine
import RelataSQLite

/// `relata make FILE SQL`: creates a database by running SQL, for the project's own sample.
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
#endif
