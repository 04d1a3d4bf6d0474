import Foundation

#if os(Linux)
/// A disk of 600 KB, which a shell mounts in its own namespace; it ends with the shell. Only root can mount one.
package enum SmallDisk {
    /// The words for a shell that runs others in a folder which is that disk.
    package static func shell(_ folder: String, _ body: String) -> String {
        """
        unshare -m sh -c 'mount -t tmpfs -o size=600k none "\(folder)" && cd "\(folder)" && \
        \(body.replacingOccurrences(of: "\n", with: "; "))'
        """
    }

    /// Has a shell run words in a folder which is that disk.
    ///
    /// - Returns: The running shell, and its output.
    package static func start(_ folder: String, _ body: String) throws -> (process: Process, output: FileHandle) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", shell(folder, body)]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        return (process, output.fileHandleForReading)
    }

    /// Whether one can be mounted here.
    package static let isAvailable: Bool = {
        let folder = FileManager.default.temporaryDirectory.path
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", shell(folder, "true") + " 2>/dev/null"]
        guard getuid() == 0, (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}
#endif
