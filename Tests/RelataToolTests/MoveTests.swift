#if CommandLineTool
import Foundation
import TestSupport
import Testing

/// `relata export` and `relata import`.
@Suite struct MoveTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// The sample library without its rows.
    private func emptyLibrary() throws -> SampleFile {
        let file = try SampleFile.library()
        try file.empty()
        return file
    }

    /// All rows of all tables.
    private func dump(_ file: SampleFile) throws -> [String] {
        let names = try file.rows(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name")
        return try names.flatMap { name in try [name] + file.rows("SELECT * FROM \"\(name)\" ORDER BY 1, 2") }
    }

    @Test(arguments: ["jsonl", "csv"]) func aLibraryIsExportedAndImported(_ format: String) throws {
        let (library, empty) = (try SampleFile.library(), try emptyLibrary())
        let before = try library.bytes()
        let export = try library.run("export", "--output", folder.path("out"), "--format", format)
        #expect(export.exitCode == 0, "\(export.errors)")
        #expect(export.lines.contains { $0.hasPrefix("Book.authors") && $0.hasSuffix("Book.authors.\(format)") })
        #expect(try library.bytes() == before)
        let run = try empty.run("import", folder.path("out"))
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(try dump(empty) == dump(library))
        #expect(try empty.run("check").exitCode == 0)
        // A second import finds that everything exists.
        let again = try empty.run("import", folder.path("out"))
        #expect(again.exitCode == 1 && again.errors.contains("Author.\(format):"), "\(again.errors)")
        #expect(again.hasErrorAtEnd && again.errors.contains("relata: nothing was imported: "))
        #expect(try empty.run("import", folder.path("out"), "--on-conflict", "skip").exitCode == 0)
        #expect(try dump(empty) == dump(library))
    }

    @Test func oneClassIsMovedThroughAPipe() throws {
        let (library, empty) = (try SampleFile.library(), try emptyLibrary())
        let csv = try library.run("export", "Author", "--format", "csv")
        #expect(csv.exitCode == 0 && csv.output.hasPrefix("id,name,born\r\n"))
        #expect(csv.told == ["relata: left out: Book.authors"])
        let run = try empty.run("import", "-", "--format", "csv", "--class", "author", input: csv.output)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(try empty.rows("SELECT count(*) FROM Author") == ["6"])
        let all = try library.run("export")
        #expect(all.lines.first?.hasPrefix("{\"@class\":\"") == true)
        let rest = try empty.run("import", "-", "--format", "jsonl", "--on-conflict", "skip", input: all.output)
        #expect(rest.exitCode == 0, "\(rest.errors)")
        #expect(try dump(empty) == dump(library))
    }

    @Test func badRowsAreListedWithTheirLines() throws {
        let file = try emptyLibrary()
        try "id,name\n1,Ann\ntwo,Bob\n1,Cy\n".write(
            toFile: folder.path("Author.csv"), atomically: false, encoding: .utf8)
        let run = try file.run("import", folder.path("Author.csv"))
        #expect(run.exitCode == 1 && run.output.isEmpty)
        #expect(
            run.told == [
                "relata: Author.csv:3: id: \"two\" isn't an integer", "relata: Author.csv:4: Author 1 already exists",
                "relata: nothing was imported: 2 bad rows",
            ], "\(run.errors)")
        #expect(try file.rows("SELECT count(*) FROM Author") == ["0"])
        let dry = try file.run("import", folder.path("Author.csv"), "--dry-run")
        #expect(dry.exitCode == 1 && dry.output.hasSuffix("nothing was imported: this was a dry run\n"))
        let rest = try file.run("import", folder.path("Author.csv"), "--skip-bad-rows")
        #expect(rest.exitCode == 0 && rest.lines.contains { $0.hasPrefix("Author") && $0.hasSuffix("2") })
        #expect(try file.rows("SELECT name FROM Author") == ["Ann"])
    }

    @Test func importsCreateADatabase() throws {
        try "name,born\nAda,1815\n".write(toFile: folder.path("Person.csv"), atomically: false, encoding: .utf8)
        let database = folder.path("new.sqlite")
        #expect(try Tool.run("import", database, folder.path("Person.csv")).errors.contains("there is no such file"))
        let dry = try Tool.run("import", database, folder.path("Person.csv"), "--create", "--dry-run")
        #expect(dry.exitCode == 0 && !FileManager.default.fileExists(atPath: database), "\(dry.errors)")
        let run = try Tool.run("import", database, folder.path("Person.csv"), "--create")
        #expect(run.exitCode == 0 && run.lines.contains("made Person"), "\(run.errors)")
        let fetch = try Tool.run("fetch", database, "Person", "--format", "csv")
        #expect(fetch.output == "id,name,born\n1,Ada,1815\n")
    }

    @Test func onlyRegularFilesAreRead() throws {
        let file = try emptyLibrary()
        #expect(mkfifo(folder.path("Book.csv"), 0o600) == 0)
        try FileManager.default.createDirectory(atPath: folder.path("empty"), withIntermediateDirectories: false)
        for (name, words) in [
            ("Book.csv", "isn't a regular file"), ("none.csv", "there is no such file"), ("empty", "contains no files"),
        ] {
            let run = try file.run("import", folder.path(name))
            #expect(run.exitCode == 1 && run.hasErrorLine && run.errors.contains(words), "\(name): \(run.errors)")
        }
    }

    @Test func existingFilesStayUnchanged() throws {
        let library = try SampleFile.library()
        try "mine".write(toFile: folder.path("Book.jsonl"), atomically: false, encoding: .utf8)
        for output in [folder.url.path, folder.path("Book.jsonl")] {
            let run = try library.run("export", "Book", "--output", output)
            #expect(run.exitCode == 1 && run.hasErrorLine && run.errors.contains("already exists"), "\(run.errors)")
        }
        #expect(try String(contentsOfFile: folder.path("Book.jsonl"), encoding: .utf8) == "mine")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["Book.jsonl"])
        #expect(try library.run("export", "Book", "--output", folder.url.path, "--replace").exitCode == 0)
        for wrong in [["Nobody"], ["--format", "csv"], ["--output", folder.path("no/such/file.csv"), "Book"]] {
            let run = try library.run("export", wrong)
            #expect(run.exitCode == 1 && run.hasErrorLine, "\(wrong): \(run.errors)")
        }
    }

    @Test func killedImportsLeaveNothingOrContinue() throws {
        let file = try SampleFile("CREATE TABLE Item (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
        let rows = (1...60_000).map { "\($0),item \($0)" }
        try (["id,name"] + rows).joined(separator: "\n").write(
            toFile: folder.path("Item.csv"), atomically: false, encoding: .utf8)
        let process = try Tool.start(["import", file.path, folder.path("Item.csv"), "--batch-size", "1000"])
        var count = 0
        for _ in 0..<4000 where count < 3000 && process.isRunning {
            Thread.sleep(forTimeInterval: 0.005)
            count = Int((try? file.rows("SELECT count(*) FROM Item"))?.first ?? "") ?? count
        }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        #expect(count >= 3000, "the import got on")
        #expect(process.terminationReason == .uncaughtSignal, "it wasn't over before")
        let rest = try file.run("import", folder.path("Item.csv"), "--batch-size", "1000")
        #expect(rest.exitCode == 0, "\(rest.errors)")
        #expect(rest.output.contains("had been imported before"))
        #expect(try file.rows("SELECT count(*), min(id), max(id) FROM Item") == ["60000|1|60000"])
        #expect(try file.rows("SELECT name FROM sqlite_master WHERE name LIKE 'relata%import'").isEmpty)
    }

    @Test(
        .enabled(if: SharedData.chinook != nil, "chinook.sqlite isn't beside the project"), arguments: ["jsonl", "csv"])
    func aRealDatabaseSurvivesARoundTrip(_ format: String) throws {
        let original = try SampleFile(copyOf: try #require(SharedData.chinook))
        let empty = try SampleFile(copyOf: original.path)
        try empty.empty()
        let export = try original.run("export", "--output", folder.path("out"), "--format", format)
        #expect(export.exitCode == 0 && export.errors.isEmpty, "\(export.errors)")
        let run = try empty.run("import", folder.path("out"))
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(try dump(empty) == dump(original))
    }
}
#endif
