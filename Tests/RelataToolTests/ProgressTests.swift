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
#endif
