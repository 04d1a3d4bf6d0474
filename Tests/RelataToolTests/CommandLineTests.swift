#if CommandLineTool
import Foundation
import Testing

@Suite struct CommandLineTests {
    #if os(Linux)
    @Test(arguments: [["inspect"], ["fetch", "Book"]])
    func lostOutputIsAnError(_ command: [String]) throws {
        let file = try SampleFile.library()
        let full = try #require(FileHandle(forWritingAtPath: "/dev/full"))
        let arguments = [command[0], file.path] + command.dropFirst()
        let run = try Tool.run(arguments, output: full)
        #expect(run.exitCode == 1 && run.errors.contains("the output can't be written"), "\(run.errors)")
    }
    #endif

    @Test func helpAndVersionGoToStandardOutput() throws {
        for arguments in [["--help"], ["help", "fetch"], ["delete", "--help"]] {
            let run = try Tool.run(arguments)
            #expect(run.exitCode == 0)
            #expect(run.output.contains("USAGE: relata"))
            #expect(run.errors.isEmpty)
        }
        let version = try Tool.run("--version")
        #expect(version.exitCode == 0)
        #expect(version.output.split(separator: ".").count == 3)
    }

    @Test func wrongUsageEndsWith64() throws {
        let file = try SampleFile.library()
        let wrong = [
            ["nonsense", file.path], ["inspect", "--format"], ["inspect", file.path, "--format", "xml"],
            ["fetch", file.path, "Book", "--limit", "many"], ["delete", file.path, "Book"],
        ]
        for words in wrong {
            let run = try Tool.run(words)
            #expect(run.exitCode == 64, "\(words)")
            #expect(run.hasErrorLine, "\(words): \(run.errors)")
            #expect(run.output.isEmpty)
        }
    }

    @Test func invalidDatabasesStayUnchanged() throws {
        let folder = try TemporaryFolder()
        let text = String(repeating: "This is a letter and no database. ", count: 50)
        try text.write(toFile: folder.path("letter.txt"), atomically: false, encoding: .utf8)
        let commands = [
            ["inspect", "letter.txt"], ["fetch", "letter.txt", "A"], ["check", "letter.txt"],
            ["delete", "letter.txt", "A", "1", "--yes"],
        ]
        for words in commands {
            let run = try Tool.run(words, in: folder.url.path)
            #expect(run.exitCode == 1)
            #expect(run.hasErrorLine && run.errors.contains("letter.txt is not an SQLite database"), "\(run.errors)")
        }
        #expect(try String(contentsOfFile: folder.path("letter.txt"), encoding: .utf8) == text)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["letter.txt"])
    }

    @Test func missingFilesAreNotCreated() throws {
        let folder = try TemporaryFolder()
        let missing = try Tool.run("delete", folder.path("none.sqlite"), "A", "1", "--yes")
        #expect(missing.exitCode == 1)
        #expect(missing.hasErrorLine && missing.errors.contains("there is no such file"))
        let directory = try Tool.run("check", folder.url.path)
        #expect(directory.exitCode == 1)
        #expect(directory.hasErrorLine && directory.errors.contains("is a directory"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test func theWalkWorksOnAnyFile() throws {
        let files = [
            try SampleFile.library(), try SampleFile("CREATE TABLE t (a)"),
            try SampleFile(
                """
                CREATE TABLE "odd name" (id TEXT PRIMARY KEY, name TEXT, up TEXT REFERENCES "odd name" ON DELETE CASCADE);
                INSERT INTO "odd name" VALUES ('it''s', 'a "quoted" \\ name', NULL), ('$(touch x)', NULL, 'it''s');
                """),
        ]
        for file in files {
            let run = try file.run("walk")
            #expect(run.exitCode == 0)
            #expect(run.errors.isEmpty)
            #expect(run.output.contains("$ relata inspect"))
            #expect(run.output.contains("no findings"))
        }
        let library = try SampleFile.library().run("walk")
        for part in ["--where", "denied: nothing is deleted while", "└─ Publisher.books → Book", "deleted 6 objects"] {
            #expect(library.output.contains(part), "\(part)")
        }
    }

    @Test func copiesAreCompleteAndKeepTheOriginal() throws {
        let file = try SampleFile.library()
        let before = try file.bytes()
        let folder = try TemporaryFolder()
        #expect(try file.run("copy", folder.path("copy.sqlite")).exitCode == 0)
        let run = try Tool.run("check", folder.path("copy.sqlite"))
        #expect(run.output == "copy.sqlite: no findings in 8 entities, 6 references, 1 join table\n")
        #expect(try file.bytes() == before)
    }

    @Test func interruptedCopiesAreCompletedByTheNextCall() throws {
        let file = try SampleFile.library()
        let folder = try TemporaryFolder()
        let copy = folder.path("copy.sqlite")
        // The leftovers of a killed process.
        let part = folder.path(".relata-part-a1b2c3")
        try FileManager.default.createDirectory(atPath: part, withIntermediateDirectories: false)
        for name in ["/1", "/1-journal"] {
            try Data("half a page".utf8).write(to: URL(fileURLWithPath: part + name))
        }
        #expect(try file.run("copy", copy).exitCode == 0)
        #expect(try Tool.run("check", copy).exitCode == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("")) == ["copy.sqlite"])
        let missing = try file.run("copy", folder.path("missing/copy.sqlite"))
        #expect(missing.exitCode == 1 && missing.errors.contains("copy.sqlite"))
    }

    @Test func samplesDoNotOverwriteFiles() throws {
        let file = try SampleFile.library()
        let before = try file.bytes()
        let sql = Tool.project.appendingPathComponent("Examples/Library/library.sql").path
        let run = try file.run("make", sql)
        #expect(run.exitCode == 1 && run.hasErrorLine)
        #expect(try file.run("copy", file.path).exitCode == 1)
        #expect(try file.bytes() == before)
    }
}
#endif
