import Foundation

/// `relata serve` as a process on a file or another database, which can be stopped, killed and started again on the same port.
public final class ServedFile {
    public struct Failure: Error, CustomStringConvertible {
        public let description: String
    }

    public let path: String
    public private(set) var port = 0
    private let tool: URL
    private let database: String
    private let options: [String]
    private let environment: [String: String]
    private let output: URL
    private var process: Process?

    /// - Parameters:
    ///   - tool: The command `relata`.
    ///   - path: The file to serve. The output of the process is kept beside it.
    ///   - database: The database to serve instead of the file.
    ///   - options: Options of `relata serve`, besides the port.
    ///   - environment: Variables of the process, besides those of this one.
    public init(
        tool: URL, path: String, database: String? = nil, options: [String], environment: [String: String] = [:]
    ) {
        self.tool = tool
        self.database = database ?? path
        self.path = path
        self.options = options
        self.environment = environment
        output = URL(fileURLWithPath: path + ".out")
    }

    deinit { kill() }

    /// Starts the process, and waits until it serves.
    public func start() throws {
        let process = Process()
        process.executableURL = tool
        process.arguments = ["serve", database, "--port", "\(port)"] + options
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        try Data().write(to: output)
        let handle = try FileHandle(forWritingTo: output)
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.run()
        self.process = process
        let end = Date().addingTimeInterval(30)
        while Date() < end {
            if let port = listeningPort() {
                self.port = port
                return
            }
            guard process.isRunning else { break }
            usleep(10_000)
        }
        throw Failure(description: "the server didn't start: \(printed)")
    }

    /// The process's output so far.
    public var printed: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }

    private func listeningPort() -> Int? {
        guard let place = printed.firstRange(of: "http://127.0.0.1:") ?? printed.firstRange(of: "https://127.0.0.1:")
        else {
            return nil
        }
        let rest = printed[place.upperBound...]
        // The line is complete only when something follows the number.
        let digits = rest.prefix { $0.isNumber }
        return digits.endIndex < rest.endIndex ? Int(digits) : nil
    }

    /// Has the process stop in its own time.
    ///
    /// - Returns: The exit code; `nil` if the process had to be killed.
    public func stop(signal: Int32 = SIGTERM) -> Int32? {
        guard let process else { return nil }
        Foundation.kill(process.processIdentifier, signal)
        let end = Date().addingTimeInterval(30)
        while process.isRunning {
            guard Date() < end else {
                kill()
                return nil
            }
            usleep(5_000)
        }
        self.process = nil
        return process.terminationReason == .exit ? process.terminationStatus : nil
    }

    /// Kills the process, as `kill -9` does.
    public func kill() {
        guard let process else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        self.process = nil
    }

    /// The megabytes of memory that the process holds.
    public func residentMegabytes() -> Double? {
        guard let process else { return nil }
        let ps = Process()
        ps.executableURL = URL(fileURLWithPath: "/bin/ps")
        ps.arguments = ["-o", "rss=", "-p", "\(process.processIdentifier)"]
        let pipe = Pipe()
        ps.standardOutput = pipe
        guard (try? ps.run()) != nil else { return nil }
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        ps.waitUntilExit()
        return Double(text.trimmingCharacters(in: .whitespacesAndNewlines)).map { $0 / 1024 }
    }
}
