import Foundation
import RelataEngine
import RelataSQLite

/// The outcome of a run of the tool.
struct ToolRun {
    let output: String
    let errors: String
    let exitCode: Int32

    var lines: [String] { output.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) }
    /// The output as JSON.
    func json() throws -> Any { try JSONSerialization.jsonObject(with: Data(output.utf8)) }
    /// The lines on standard error, without those that tell of progress, which depend on the time that it takes.
    var told: [Substring] { errors.split(separator: "\n").filter { !$0.hasSuffix("…") } }
    /// Whether there is one line on standard error, which begins as errors do.
    var hasErrorLine: Bool { hasErrorAtEnd && errors.split(separator: "\n").count == 1 }
    /// The same, if progress may be printed before it.
    var hasErrorAtEnd: Bool {
        errors.hasSuffix("\n") && errors.split(separator: "\n").last?.hasPrefix("relata: ") == true
    }
}

/// Runs the tool that was built with the tests, as a process.
enum Tool {
    /// The folder of this project.
    static let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static let executable: URL? = {
        let near = [URL(fileURLWithPath: CommandLine.arguments[0])] + Bundle.allBundles.map(\.bundleURL)
        let folders = near.map { $0.deletingLastPathComponent() } + [project.appendingPathComponent(".build/debug")]
        return folders.map { $0.appendingPathComponent("relata") }.first {
            FileManager.default.isExecutableFile(atPath: $0.path)
        }
    }()

    struct NotBuilt: Error {}

    /// The tool's path, for a shell.
    static func executablePath() throws -> String {
        guard let executable else { throw NotBuilt() }
        return executable.path
    }

    static func run(_ arguments: String..., input: String = "") throws -> ToolRun {
        try run(arguments, input: input)
    }

    /// Starts it, and lets it run.
    static func start(_ arguments: [String]) throws -> Process {
        guard let executable else { throw NotBuilt() }
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        for stream in [\Process.standardInput, \.standardOutput, \.standardError] {
            process[keyPath: stream] = FileHandle.nullDevice
        }
        try process.run()
        return process
    }

    /// Makes root another user for a command: root may write any file.
    private static let setpriv = URL(fileURLWithPath: "/usr/bin/setpriv")
    /// Whether the tool can be run by a user whom permissions hold back.
    static var canBeUnprivileged: Bool {
        geteuid() != 0 || FileManager.default.isExecutableFile(atPath: setpriv.path)
    }

    /// Runs it. Its input comes from `keyboard`, and its output and its errors go to `output` and `errors`, if these are
    /// given.
    static func run(
        _ given: [String], input: String = "", keyboard: FileHandle? = nil, in folder: String? = nil,
        output: FileHandle? = nil, errors: FileHandle? = nil, isUnprivileged: Bool = false
    ) throws -> ToolRun {
        guard var executable else { throw NotBuilt() }
        var arguments = given
        if isUnprivileged, geteuid() == 0 {
            arguments = ["--reuid=65534", "--regid=65534", "--clear-groups", executable.path] + given
            executable = setpriv
        }
        // Files rather than pipes: a pipe that nobody reads would stop the process when it is full.
        let files = try TemporaryFolder()
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        if let folder { process.currentDirectoryURL = URL(fileURLWithPath: folder) }
        try input.write(toFile: files.path("in"), atomically: false, encoding: .utf8)
        for name in ["out", "err"] { try Data().write(to: URL(fileURLWithPath: files.path(name))) }
        process.standardInput = try keyboard ?? FileHandle(forReadingFrom: URL(fileURLWithPath: files.path("in")))
        process.standardOutput = try output ?? FileHandle(forWritingTo: URL(fileURLWithPath: files.path("out")))
        process.standardError = try errors ?? FileHandle(forWritingTo: URL(fileURLWithPath: files.path("err")))
        try process.run()
        process.waitUntilExit()
        return ToolRun(
            output: try String(contentsOfFile: files.path("out"), encoding: .utf8),
            errors: try String(contentsOfFile: files.path("err"), encoding: .utf8), exitCode: process.terminationStatus)
    }
}

/// A folder that is deleted with the object.
final class TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("relata-tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appendingPathComponent(name).path }
}

/// A database file that is deleted with the object.
final class SampleFile {
    private let folder: TemporaryFolder
    let path: String

    /// A file made by SQL, as another program would.
    init(_ sql: String, name: String = "sample.sqlite") throws {
        folder = try TemporaryFolder()
        path = folder.path(name)
        try execute(sql)
    }

    /// A copy of a file.
    init(copyOf original: String) throws {
        folder = try TemporaryFolder()
        path = folder.path(URL(fileURLWithPath: original).lastPathComponent)
        try Data(contentsOf: URL(fileURLWithPath: original)).write(to: URL(fileURLWithPath: path))
    }

    /// The project's sample library.
    static func library() throws -> SampleFile {
        let sql = Tool.project.appendingPathComponent("Examples/Library/library.sql")
        return try SampleFile(try String(contentsOf: sql, encoding: .utf8), name: "library.sqlite")
    }

    /// Gives the sample library an index `Review_stars` that is over some rows and says that it is over all.
    func damageIndex() throws {
        try execute(
            """
            CREATE INDEX Review_stars ON Review (stars) WHERE id < 4;
            PRAGMA writable_schema = ON;
            UPDATE sqlite_master SET sql = 'CREATE INDEX Review_stars ON Review (stars)' WHERE name = 'Review_stars';
            PRAGMA writable_schema = RESET;
            """)
    }

    /// Runs the tool on the file.
    func run(_ command: String, _ arguments: String..., input: String = "") throws -> ToolRun {
        try run(command, arguments, input: input)
    }

    func run(_ command: String, _ arguments: [String], input: String = "") throws -> ToolRun {
        // The file is deleted with the object, which may be used for the last time here.
        try withExtendedLifetime(self) { try Tool.run([command, path] + arguments, input: input) }
    }

    /// Runs SQL on the file, with foreign keys switched off.
    func execute(_ sql: String) throws {
        let connection = try Connection(path: path)
        try connection.execute("PRAGMA foreign_keys = OFF")
        try connection.execute(sql)
        try connection.close()
    }

    /// Removes all rows.
    func empty() throws {
        let names = try rows("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        try execute(names.map { "DELETE FROM \"\($0)\";" }.joined())
    }

    func bytes() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: path)) }

    /// The rows of a query as text, columns separated by `|`.
    func rows(_ sql: String) throws -> [String] {
        let connection = try Connection(path: path, isReadOnly: true)
        return try connection.values(.init(sql)).map { $0.map(\.description).joined(separator: "|") }
    }
}

/// A connection that a test keeps open while the tool runs.
struct SampleConnection {
    private let connection: Connection

    init(_ path: String) throws { connection = try Connection(path: path) }

    func execute(_ sql: String) throws { try connection.execute(sql) }
}
