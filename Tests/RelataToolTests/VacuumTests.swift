#if CommandLineTool
import Foundation
import Testing

/// `relata vacuum`.
@Suite struct VacuumTests {
    @Test func vacuumShrinksTheFile() throws {
        let file = try SampleFile.library()
        try file.execute("CREATE TABLE big (data); INSERT INTO big VALUES (zeroblob(3000000)); DELETE FROM big")
        let before = try file.bytes().count
        let run = try file.run("vacuum")
        let after = try file.bytes().count
        #expect(run.exitCode == 0 && run.output == "library.sqlite: \(after) bytes, after \(before)\n", "\(run.errors)")
        #expect(before > 3_000_000 && after < 200_000)
        #expect(try file.rows("SELECT count(*) > 0 FROM sqlite_stat1") == ["1"])
        #expect(try file.rows("SELECT count(*) FROM Review") == ["9"])
        #expect(try file.run("check").exitCode == 0)
    }

    @Test func vacuumKeepsOtherFiles() throws {
        let folder = try TemporaryFolder()
        try "letter".write(toFile: folder.path("letter"), atomically: false, encoding: .utf8)
        let run = try Tool.run("vacuum", folder.path("letter"))
        #expect(run.exitCode == 1 && run.hasErrorLine, "\(run.errors)")
        #expect(try String(contentsOfFile: folder.path("letter"), encoding: .utf8) == "letter")
    }
}
#endif
