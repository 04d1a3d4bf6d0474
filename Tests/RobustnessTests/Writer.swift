import Foundation
import Relata
import Testing

/// A process that works on a file, and that a test ends.
final class Writer {
    struct NotBuilt: Error {}

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var pending = Data()

    /// Starts it; the arguments are those of the writer's main file. A `shell` line runs it as `$WRITER` instead.
    init(_ arguments: String..., shell: String? = nil) throws {
        guard let executable = Self.executable else { throw NotBuilt() }
        if let shell {
            process.executableURL = URL(fileURLWithPath: "/bin/sh")
            process.arguments = ["-c", shell]
            var environment = ProcessInfo.processInfo.environment
            environment["WRITER"] = executable.path
            process.environment = environment
        } else {
            process.executableURL = executable
            process.arguments = arguments
        }
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    private static let executable: URL? = {
        let near = [URL(fileURLWithPath: CommandLine.arguments[0])] + Bundle.allBundles.map(\.bundleURL)
        let project = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let folders = near.map { $0.deletingLastPathComponent() } + [project.appendingPathComponent(".build/debug")]
        return folders.map { $0.appendingPathComponent("RobustnessWriter") }.first {
            FileManager.default.isExecutableFile(atPath: $0.path)
        }
    }()

    /// Waits for its next line; `nil` after its end.
    func line() -> String? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: pending[pending.startIndex..<end], as: UTF8.self)
                pending.removeSubrange(pending.startIndex...end)
                return line
            }
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { return nil }
            pending += data
        }
    }

    /// Sends it a signal.
    func signal(_ signal: Int32) { Foundation.kill(process.processIdentifier, signal) }

    /// Kills it like a power failure, waits until it has ended, and returns the lines it wrote until then.
    func kill() -> [String] {
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        return rest()
    }

    /// Ends its input, waits until it is done, and returns the lines it wrote.
    func finish() -> [String] {
        try? input.fileHandleForWriting.close()
        let lines = rest()
        process.waitUntilExit()
        return lines
    }

    private func rest() -> [String] {
        var lines: [String] = []
        while let line = line() { lines.append(line) }
        return lines
    }
}

/// A folder that is deleted with the object.
final class Folder {
    let path: String

    init(permissions: Int = 0o755) throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("relata-robust-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try setPermissions(permissions)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String = "garden.sqlite") -> String { path + "/" + name }

    func setPermissions(_ permissions: Int, of name: String? = nil) throws {
        try FileManager.default.setAttributes(
            [.posixPermissions: permissions], ofItemAtPath: name.map { file($0) } ?? path)
    }

    /// The contents of the folder, byte for byte. Nobody may have a file open: closing it here would drop SQLite's
    /// locks.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: path) {
            contents[name] = FileManager.default.contents(atPath: file(name))
        }
        return contents
    }
}

/// Opens a file, from code that is async too.
func open(
    _ path: String, _ models: [any Model.Type], options: Store.Options = Store.Options()
) throws -> Store {
    try Store.open(path, for: models, options: options)
}
