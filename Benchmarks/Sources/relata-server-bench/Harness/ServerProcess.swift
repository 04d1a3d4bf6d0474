#if Server
import BenchmarkReport
import Foundation

/// A server in its own process, during the lifetime of the object. It ends by itself when this process does: its
/// standard input is a pipe whose other end is here.
final class ServerProcess: Sendable {
    let port: Int
    private let process: Process
    private let input: Pipe

    /// Starts this program again as a server.
    static func child(_ arguments: String...) throws -> ServerProcess {
        guard let executable = Bundle.main.executableURL else {
            throw Failure("the program doesn't know its own file")
        }
        return try ServerProcess(executable, ["--child"] + arguments)
    }

    /// Starts a program that prints the port it listens on, and waits until it does.
    init(_ executable: URL, _ arguments: [String], log: String? = nil) throws {
        process = Process()
        input = Pipe()
        process.executableURL = executable
        process.arguments = arguments
        let output = Pipe()
        process.standardInput = input
        process.standardOutput = output
        if let log {
            try Data().write(to: URL(filePath: log))
            process.standardError = try FileHandle(forWritingTo: URL(filePath: log))
        }
        try process.run()
        var printed = Data()
        while !printed.contains(UInt8(ascii: "\n")) {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            printed += data
        }
        guard let port = Int(String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        else {
            kill(process.processIdentifier, SIGKILL)
            let errors = log.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) } ?? ""
            throw Failure(
                "\(([executable.lastPathComponent] + arguments).joined(separator: " ")) didn't start: \(errors)")
        }
        self.port = port
    }

    deinit {
        // Its data is no longer needed; and a child may have been started with other signals blocked.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// The peak memory of the process, in megabytes.
    func peakMegabytes() throws -> Double { try megabytes("VmHWM:") }

    /// The current memory of the process, in megabytes.
    func residentMegabytes() throws -> Double { try megabytes("VmRSS:") }

    private func megabytes(_ field: String) throws -> Double {
        #if os(Linux)
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(field) }),
            let kilobytes = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Double($0) })
        else { throw Failure("the server's memory is unknown") }
        #else
        // The current memory: the peak of another process can't be determined.
        let text = try Shell.run(["ps", "-o", "rss=", "-p", "\(process.processIdentifier)"])
        guard let kilobytes = Double(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw Failure("the server's memory is unknown")
        }
        #endif
        return kilobytes / 1024
    }

    /// Waits until the process is idle: until it takes less than a tenth of a processor for a while.
    func waitUntilIdle() throws {
        let end = Clock.now + 300
        var last = try processorSeconds()
        repeat {
            Thread.sleep(forTimeInterval: 0.5)
            let now = try processorSeconds()
            if now - last < 0.05 { return }
            last = now
        } while Clock.now < end
        throw Failure("the server was busy for five minutes")
    }

    /// The processor time of the process so far, in seconds.
    private func processorSeconds() throws -> Double {
        #if os(Linux)
        let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/stat", encoding: .utf8)
        // After the program's name, which may contain anything, the twelfth and the thirteenth field are the times of
        // the program and of the system.
        let fields = (status.split(separator: ")").last ?? "").split(separator: " ")
        guard fields.count > 12, let own = Double(fields[11]), let system = Double(fields[12]) else {
            throw Failure("the server's time is unknown")
        }
        return (own + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        #else
        let text = try Shell.run(["ps", "-o", "cputime=", "-p", "\(process.processIdentifier)"])
        return text.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: ":").reduce(0) {
            $0 * 60 + (Double($1) ?? 0)
        }
        #endif
    }
}

/// Other programs.
enum Shell {
    /// Runs a program to its end.
    ///
    /// - Returns: The output.
    static func run(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        let pipe = Pipe()
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Failure("\(arguments[0]) failed: \(output.suffix(2000))")
        }
        return output
    }
}
#endif
