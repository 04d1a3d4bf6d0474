#if PostgreSQL
import Foundation

/// A shell that runs a script until it is released, or this process ends in any way: the script reads a pipe whose
/// other end this process alone holds.
final class GuardedShell: Sendable {
    private let process: Process
    private let lifeline: FileHandle

    /// Runs a command whose script says `ready` once it is, and then waits for the end of its input.
    ///
    /// - Throws: ``PrivateCluster/StartError`` with the output if the program doesn't start.
    init(_ command: [String], starting name: String, errors: FileHandle) throws {
        let (input, output) = (Pipe(), Pipe())
        lifeline = input.fileHandleForWriting
        // No other process may hold this process's end of the pipe.
        for end in [lifeline, output.fileHandleForReading] { _ = fcntl(end.fileDescriptor, F_SETFD, FD_CLOEXEC) }
        process = Process()
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardInput = input
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        try? input.fileHandleForReading.close()
        try? output.fileHandleForWriting.close()
        // The pipe stays open: the program that runs the shell as another user holds its end as well.
        var bytes = Data()
        while !bytes.starts(with: Data("ready\n".utf8)) {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            bytes += more
        }
        let answer = String(decoding: bytes, as: UTF8.self)
        guard answer.hasPrefix("ready") else {
            throw PrivateCluster.StartError(description: "\(name) didn't start: \(answer)")
        }
    }

    deinit { letGo() }

    /// Has the script continue to its end.
    func letGo() { try? lifeline.close() }
}
#endif
