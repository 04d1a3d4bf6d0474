#if CommandLineTool && Server
import Foundation
import Synchronization
import TestSupport
import Testing

/// The tool's questions for a password on a terminal.
struct PasswordPromptTests {
    /// Creates the user mei, and types an answer whenever the terminal shows its question.
    private static func create(
        in file: SampleFile, typing answers: KeyValuePairs<String, String>
    ) throws -> (run: ToolRun, shown: String) {
        let terminal = try Terminal()
        let path = file.path
        let run = Mutex<Result<ToolRun, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        let thread = Thread {
            let result = Result {
                try Tool.run(["user", "create", path, "mei"], keyboard: terminal.input, errors: terminal.input)
            }
            run.withLock { $0 = result }
            done.signal()
        }
        thread.start()
        var shown = ""
        for (question, answer) in answers {
            blockUntil {
                shown += terminal.output()
                return shown.hasSuffix(question)
            }
            terminal.enter(answer + "\n")
        }
        #expect(done.wait(timeout: .now() + 60) == .success, "\(shown)")
        shown += terminal.output()
        // The terminal shows again what is typed.
        terminal.enter("seen")
        var echo = ""
        blockUntil {
            echo += terminal.output()
            return echo == "seen"
        }
        return (try #require(try run.withLock { try $0?.get() }), shown)
    }

    private static func file() throws -> SampleFile { try SampleFile("CREATE TABLE note (id INTEGER PRIMARY KEY)") }

    @Test func aPasswordIsAskedTwiceAndNotShown() throws {
        let file = try Self.file()
        let (run, shown) = try Self.create(
            in: file, typing: ["Password: ": "a long secret", "Again: ": "a long secret"])
        #expect(shown == "Password: \r\nAgain: \r\n", "\(shown.debugDescription)")
        #expect(run.exitCode == 0 && run.output.hasPrefix("created mei with the id "), "\(run.output)")
        #expect(try file.rows("SELECT _password FROM _User").map { $0.hasPrefix("scrypt$") } == [true])
    }

    @Test func passwordsThatDifferChangeNothing() throws {
        let file = try Self.file()
        let (run, shown) = try Self.create(
            in: file, typing: ["Password: ": "a long secret", "Again: ": "a long sceret"])
        #expect(
            shown == "Password: \r\nAgain: \r\nrelata: the passwords differ: nothing was changed\r\n",
            "\(shown.debugDescription)")
        #expect(run.exitCode == 1 && run.output.isEmpty, "\(run.output)")
        #expect(try Tool.run("user", "list", file.path).output.contains("0 users"))
    }

    @Test func anEmptyPasswordIsRefusedAtOnce() throws {
        let file = try Self.file()
        let (run, shown) = try Self.create(in: file, typing: ["Password: ": ""])
        #expect(shown.hasPrefix("Password: \r\nrelata: there is no password"), "\(shown.debugDescription)")
        #expect(run.exitCode == 1)
        #expect(try Tool.run("user", "list", file.path).output.contains("0 users"))
    }
}
#endif
