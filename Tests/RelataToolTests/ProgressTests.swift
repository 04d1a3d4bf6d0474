#if CommandLineTool
import Foundation
import Synchronization
import Testing

/// The tool's progress when it works for longer than a second: here it waits for another process's lock.
@Suite struct ProgressTests {
    /// Runs a deletion while another connection holds the file's lock for so long.
    private static func delete(_ file: SampleFile, locked seconds: Double, terminal: Terminal? = nil) throws -> ToolRun
    {
        let connection = try SampleConnection(file.path)
        try connection.execute("BEGIN IMMEDIATE")
        let path = file.path
        let run = Mutex<Result<ToolRun, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            let result = Result {
                try Tool.run(["delete", path, "Loan", "2", "--yes"], errors: terminal?.input)
            }
            run.withLock { $0 = result }
            done.signal()
        }
        thread.start()
        Thread.sleep(forTimeInterval: seconds)
        try connection.execute("COMMIT")
        done.wait()
        return try #require(try run.withLock { try $0?.get() })
    }

    @Test func longOperationsAreReportedInOneLine() throws {
        let file = try SampleFile.library()
        let run = try Self.delete(file, locked: 2.5)
        #expect(run.exitCode == 0 && run.lines.contains("deleted 1 object: 1 Loan"))
        // No line each second, and nothing that only a terminal understands.
        #expect(run.errors == "deleting 1 object …\n")
    }

    @Test func shortOperationsAreSilent() throws {
        let file = try SampleFile.library()
        let run = try Self.delete(file, locked: 0)
        #expect(run.exitCode == 0 && run.errors == "")
    }

    @Test func terminalsShowATemporaryCounter() throws {
        let file = try SampleFile.library()
        let terminal = try Terminal()
        let run = try Self.delete(file, locked: 3, terminal: terminal)
        #expect(run.exitCode == 0 && run.lines.contains("deleted 1 object: 1 Loan"))
        let shown = terminal.output()
        let clear = "\r\u{1B}[2K"
        #expect(shown.contains(clear + "deleting 1 object … 1 s"))
        #expect(shown.contains(clear + "deleting 1 object … 2 s"))
        #expect(shown.hasSuffix(clear), "\(shown.debugDescription)")
        #expect(!shown.contains("\n"))
    }
}

/// A terminal without a user.
private final class Terminal: Sendable {
    struct NotMade: Error {}

    /// The end that a program writes to.
    let input: FileHandle
    private let screen: Int32

    init() throws {
        #if canImport(Darwin)
        screen = posix_openpt(O_RDWR | O_NOCTTY)
        guard screen >= 0, grantpt(screen) == 0, unlockpt(screen) == 0, let name = ptsname(screen) else {
            throw NotMade()
        }
        let path = String(cString: name)
        #else
        // These functions can't be called from Swift here, so their requests are made directly: TIOCSPTLCK and
        // TIOCGPTN.
        screen = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        var lock: Int32 = 0
        var number: Int32 = 0
        guard screen >= 0, ioctl(screen, 0x4004_5431, &lock) == 0, ioctl(screen, 0x8004_5430, &number) == 0 else {
            throw NotMade()
        }
        let path = "/dev/pts/\(number)"
        #endif
        input = try #require(FileHandle(forUpdatingAtPath: path))
    }

    deinit { close(screen) }

    /// The output so far.
    func output() -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        _ = fcntl(screen, F_SETFL, O_NONBLOCK)
        while true {
            let count = read(screen, &buffer, buffer.count)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }
}
#endif
