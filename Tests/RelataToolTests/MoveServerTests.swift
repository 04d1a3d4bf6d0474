#if CommandLineTool && PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import Testing

/// `relata export` and `relata import` with a server.
@Suite(.enabled(if: PrivateCluster.isInstalled, "\(PrivateCluster.missing)"))
struct MoveServerTests {
    /// The sample library without its rows.
    private func emptyLibrary() throws -> SampleFile {
        let file = try SampleFile.library()
        try file.empty()
        return file
    }

    @Test(arguments: ["jsonl", "csv"]) func aLibraryIsMovedThroughAServer(_ format: String) throws {
        let (library, empty, folder) = (try SampleFile.library(), try emptyLibrary(), try TemporaryFolder())
        let database = try PrivateCluster.shared.makeDatabase()
        #expect(try empty.run("copy", database.url).exitCode == 0)
        let out = try library.run("export", "--output", folder.path("out"), "--format", format)
        #expect(out.exitCode == 0, "\(out.errors)")
        let there = try Tool.run("import", database.url, folder.path("out"))
        #expect(there.exitCode == 0, "\(there.errors)")
        let again = try Tool.run("export", database.url, "--output", folder.path("back"), "--format", format)
        #expect(again.exitCode == 0, "\(again.errors)")
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path("out")) {
            let texts = try ["out", "back"].map {
                try String(contentsOfFile: folder.path("\($0)/\(name)"), encoding: .utf8)
            }
            #expect(texts[0] == texts[1], "\(name)")
        }
        // The server continues counting after the given keys.
        let new = try Tool.run(
            "import", database.url, "-", "--format", "csv", "--class", "Author", input: "name\nNew One\n")
        #expect(new.exitCode == 0, "\(new.errors)")
        let bad = try Tool.run(
            "import", database.url, "-", "--format", "csv", "--class", "Review", input: "id,stars,bookId\n100,5,999\n")
        #expect(bad.errors.contains("standard input:2: book: leads to Book 999, which doesn't exist"), "\(bad.errors)")
    }

    @Test func tablesThatCannotMoveAreNamed() throws {
        let (database, folder) = (try PrivateCluster.shared.makeDatabase(), try TemporaryFolder())
        let session = try Session(PostgresURL(database.url))
        defer { session.close() }
        try session.run(
            """
            CREATE TABLE plain (id int PRIMARY KEY, name text); INSERT INTO plain VALUES (1, 'a');
            CREATE TABLE odd (id int PRIMARY KEY, code uuid); CREATE TABLE loose (u int NOT NULL UNIQUE)
            """)
        let all = try Tool.run("export", database.url, "--output", folder.path("out"))
        #expect(all.exitCode != 0 && all.errors.contains("odd.code has the type uuid"), "\(all.errors)")
        #expect(!FileManager.default.fileExists(atPath: folder.path("out")))
        let loose = try Tool.run("export", database.url, "loose")
        #expect(loose.exitCode != 0 && loose.errors.contains("loose has no primary key"), "\(loose.errors)")
        let plain = try Tool.run("export", database.url, "plain", "--format", "csv")
        #expect(plain.exitCode == 0 && plain.output.contains("1,a"), "\(plain.errors)")
        let back = try Tool.run(
            "import", database.url, "-", "--format", "csv", "--class", "odd", input: "id\n1\n")
        #expect(back.exitCode != 0 && back.errors.contains("odd.code has the type uuid"), "\(back.errors)")
    }
}
#endif
