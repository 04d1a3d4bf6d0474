import Foundation

/// Parts of workloads that run in separate processes, because their peak memory is measured.
public enum ChildPeak {
    /// Runs this program once more with arguments, and returns its peak memory in megabytes, which it printed.
    public static func measure(_ arguments: [String]) throws -> Double {
        guard let executable = Bundle.main.executableURL else {
            throw Failure("the program doesn't know its own file")
        }
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0, let peak = Double(output.trimmingCharacters(in: .whitespacesAndNewlines))
        else { throw Failure("the process for \(arguments.joined(separator: " ")) failed") }
        return peak
    }

    /// The peak memory of this process, in megabytes.
    public static func ofThisProcess() throws -> Double {
        #if os(Linux)
        // Not `getrusage`, which includes the memory of the process that started this one.
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
            let kilobytes = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Double($0) })
        else { throw Failure("the process's memory is unknown") }
        return kilobytes / 1024
        #else
        var usage = rusage()
        guard getrusage(RUSAGE_SELF, &usage) == 0 else { throw Failure("the process's memory is unknown") }
        return Double(usage.ru_maxrss) / 1_048_576
        #endif
    }
}
