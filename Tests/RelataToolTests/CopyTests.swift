#if CommandLineTool && PostgreSQL
import Foundation
import PostgresCluster
import RelataCore
import RelataPostgres
import Testing

/// `relata copy` between files and a server.
@Suite(.enabled(if: PrivateCluster.isInstalled, "\(PrivateCluster.missing)"))
struct CopyToolTests {
    @Test func aFileIsCopiedToAServerAndBack() throws {
        let file = try SampleFile.library()
        let before = try file.bytes()
        let database = try PrivateCluster.shared.makeDatabase()
        let folder = try TemporaryFolder()
        let there = try file.run("copy", database.url)
        #expect(there.exitCode == 0, "\(there.errors)")
        #expect(there.lines.contains { $0.hasPrefix("Book.authors") })
        #expect(there.output.contains("rows, the same in both"))
        #expect(try file.bytes() == before)
        let back = try Tool.run("copy", database.url, folder.path("back.sqlite"))
        #expect(back.exitCode == 0, "\(back.errors)")
        #expect(back.lines.dropLast(2) == there.lines.dropLast(2), "rows and checksums are the same")
        let original = try file.run("fetch", "Book", "--include", "authors,genre", "--sort", "title")
        #expect(
            try Tool.run("fetch", folder.path("back.sqlite"), "Book", "--include", "authors,genre", "--sort", "title")
                .output == original.output)
        let check = try Tool.run("check", folder.path("back.sqlite"))
        #expect(check.output == "back.sqlite: no findings in 8 entities, 6 references, 1 join table\n")
    }

    @Test func destinationsWithTablesStayUnchanged() throws {
        let database = try PrivateCluster.shared.makeDatabase()
        try run("CREATE TABLE mine (id int PRIMARY KEY)", in: database)
        let run = try SampleFile.library().run("copy", database.url)
        #expect(run.exitCode == 1 && run.hasErrorAtEnd)
        #expect(run.errors.contains("the destination has tables already (mine)"))
        let folder = try TemporaryFolder()
        let (source, copy) = (try PrivateCluster.shared.makeDatabase(), try SampleFile.library())
        let before = try copy.bytes()
        #expect(try Tool.run("copy", source.url, copy.path).errors.contains("the destination has tables already"))
        #expect(try copy.bytes() == before)
        #expect(try Tool.run("copy", database.url + "x", folder.path("new.sqlite")).exitCode == 1)
        #expect(!FileManager.default.fileExists(atPath: folder.path("new.sqlite")))
    }

    @Test func itemsThatAreNotCopiedAreNamed() throws {
        let database = try PrivateCluster.shared.makeDatabase()
        try run("CREATE TABLE thing (id int PRIMARY KEY); CREATE VIEW things AS SELECT * FROM thing", in: database)
        let folder = try TemporaryFolder()
        let run = try Tool.run("copy", database.url, folder.path("new.sqlite"))
        #expect(run.exitCode == 0)
        #expect(run.errors.contains("relata: left out: things, which is a view\n"))
    }

    @Test func killedCopiesContinue() throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let file = try SampleFile(
            """
            CREATE TABLE a (id INTEGER PRIMARY KEY, text TEXT NOT NULL, next INTEGER REFERENCES a (id));
            WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
            INSERT INTO a SELECT i, 'row ' || i, 100001 - i FROM n;
            """)
        // The copy is killed in the middle, twice.
        for _ in 0..<2 {
            let process = try Tool.start(["copy", file.path, database.url])
            let session = try Session(PostgresURL(database.url))
            defer { session.close() }
            let before = try copied(session)
            var now = before
            for _ in 0..<4000 where now < before + 4000 && process.isRunning {
                Thread.sleep(forTimeInterval: 0.005)
                now = try copied(session)
            }
            #expect(now >= before + 4000, "the copy got on")
            kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
            #expect(process.terminationReason == .uncaughtSignal, "it wasn't over before")
        }
        let session = try Session(PostgresURL(database.url))
        #expect(try copied(session) < 100_000)
        session.close()
        let run = try file.run("copy", database.url)
        #expect(run.exitCode == 0, "\(run.errors)")
        #expect(run.output.contains("100,000 rows, the same in both"))
    }

    private func run(_ sql: String, in database: TestDatabase) throws {
        let session = try Session(PostgresURL(database.url))
        defer { session.close() }
        try session.run(sql)
    }

    /// The number of rows.
    private func copied(_ session: Session) throws -> Int64 {
        // Cells are valid as long as their result exists.
        func number(_ sql: String) throws -> Int64 {
            let result = try session.execute(SQLStatement(sql))
            return try withExtendedLifetime(result) { try result[0][0].integer() }
        }
        guard try number("SELECT (to_regclass('a') IS NOT NULL)::integer::bigint") == 1 else { return 0 }
        return try number("SELECT count(*) FROM a")
    }
}
#endif
