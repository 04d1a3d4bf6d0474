#if CommandLineTool && Server
import Foundation
import TestSupport
import Testing

#if PostgreSQL
import PostgresCluster
#endif

/// `relata schema` on files of other programs.
struct SchemaCommandTests {
    private static let foreign = """
        CREATE TABLE artist (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born DATE);
        CREATE TABLE "Order Line" (
            id INTEGER PRIMARY KEY, "first name" TEXT, length REAL NOT NULL DEFAULT 1,
            artist INTEGER NOT NULL REFERENCES artist(id) ON DELETE CASCADE, other INTEGER REFERENCES artist(id));
        CREATE TABLE passport (id INTEGER PRIMARY KEY, artist INTEGER UNIQUE REFERENCES artist(id));
        CREATE TABLE tag (id INTEGER PRIMARY KEY, data JSON);
        CREATE TABLE artist_tag (
            artist INTEGER NOT NULL REFERENCES artist(id), tag INTEGER NOT NULL REFERENCES tag(id),
            PRIMARY KEY (artist, tag));
        INSERT INTO artist (name) VALUES ('A');
        """

    /// A folder that contains only the file, so that files written beside it are noticed.
    private func content(beside path: String) throws -> [String: Data] {
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        var content: [String: Data] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            content[name] = try Data(contentsOf: folder.appendingPathComponent(name))
        }
        return content
    }

    @Test func aFileMatchesItsOwnSchema() throws {
        let file = try SampleFile(Self.foreign)
        let run = try Tool.run("schema", "diff", file.path, file.path)
        #expect(run.output == "nothing to change\n", "\(run.output)\(run.errors)")
        #expect(run.exitCode == 0)
        let removing = try Tool.run("schema", "diff", file.path, file.path, "--remove")
        #expect(removing.output == "nothing to change\n", "\(removing.output)\(removing.errors)")
    }

    @Test(.enabled(if: SharedData.chinook != nil, "chinook.sqlite isn't beside the project"))
    func aRealFileMatchesItsExportedSchema() throws {
        let file = try SampleFile(copyOf: try #require(SharedData.chinook))
        let before = try content(beside: file.path)
        let export = try Tool.run("schema", "export", file.path)
        #expect(export.exitCode == 0, "\(export.errors)")
        let folder = try TemporaryFolder()
        try export.output.write(toFile: folder.path("schema.json"), atomically: false, encoding: .utf8)
        for remove in [[], ["--remove"]] {
            let run = try Tool.run(["schema", "diff", folder.path("schema.json"), file.path] + remove)
            #expect(run.output == "nothing to change\n", "\(run.output)\(run.errors)")
        }
        #expect(try content(beside: file.path) == before)
    }

    @Test func documentsMayBeShorterThanASQLiteHeader() throws {
        let (file, folder) = (try SampleFile(Self.foreign), try TemporaryFolder())
        let path = folder.path("schema.json")
        for text in ["[]", ""] {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            let run = try Tool.run("schema", "diff", path, file.path)
            #expect(run.exitCode == (text.isEmpty ? 1 : 0), "\(run.output)\(run.errors)")
        }
        #expect(try Tool.run("schema", "diff", folder.path("none"), file.path).errors.contains("no such file"))
    }

    @Test func readingCommandsChangeNoFiles() throws {
        let (file, other) = (try SampleFile(Self.foreign), try SampleFile("CREATE TABLE t (id INTEGER PRIMARY KEY)"))
        let before = (try content(beside: file.path), try content(beside: other.path))
        #expect(try Tool.run("schema", "export", file.path).exitCode == 0)
        #expect(try Tool.run("schema", "diff", other.path, file.path).exitCode == 1)
        let dry = try Tool.run("schema", "deploy", other.path, file.path, "--dry-run")
        #expect(dry.exitCode == 0 && dry.output.contains("add the class t"), "\(dry.output)\(dry.errors)")
        #expect(try content(beside: file.path) == before.0)
        #expect(try content(beside: other.path) == before.1)
        let done = try Tool.run("schema", "deploy", other.path, file.path, "--yes")
        #expect(done.exitCode == 0, "\(done.errors)")
        #expect(try Tool.run("schema", "diff", other.path, file.path).exitCode == 0)
    }

    @Test func bothSidesOfEachDifferenceAreCompared() throws {
        let file = try SampleFile(
            "CREATE TABLE A (id INTEGER PRIMARY KEY, a TEXT, b TEXT); CREATE TABLE U (id INTEGER PRIMARY KEY)")
        let folder = try TemporaryFolder()
        let document = folder.path("schema.json")
        try """
        [{"className": "A", "fields": {"a": {"type": "Number"}, "c": {"type": "String", "required": true}}},
         {"className": "N"}]
        """.write(toFile: document, atomically: false, encoding: .utf8)
        let before = try content(beside: file.path)
        let run = try Tool.run("schema", "compare", file.path, document)
        #expect(run.exitCode == 1 && run.errors.isEmpty, "\(run.errors)")
        #expect(
            run.lines.dropFirst() == [
                "+++ schema.json", "- A.a: String", "+ A.a: Number", "- A.b: String", "+ A.c: String, required",
                "+ the class N", "- the class U", "",
            ], "\(run.output)")
        let same = try Tool.run("schema", "compare", file.path, file.path)
        #expect(same.exitCode == 0 && same.output == "no differences\n", "\(same.output)\(same.errors)")
        #expect(try content(beside: file.path) == before)
    }

    #if PostgreSQL
    @Test(.enabled(if: PrivateCluster.isInstalled, "\(PrivateCluster.missing)"))
    func databasesOfAServerAreComparedAndDeployed() throws {
        let database = try PrivateCluster.shared.makeDatabase()
        let folder = try TemporaryFolder()
        let (document, file) = (folder.path("schema.json"), try SampleFile("CREATE TABLE t (id INTEGER PRIMARY KEY)"))
        try #"[{"className": "Book", "fields": {"title": {"type": "String"}}}]"#
            .write(toFile: document, atomically: false, encoding: .utf8)
        let first = try Tool.run("schema", "compare", document, database.url)
        #expect(
            first.exitCode == 1 && first.lines.contains("- the class Book: title"), "\(first.output)\(first.errors)")
        let done = try Tool.run("schema", "deploy", document, database.url, "--yes")
        #expect(done.exitCode == 0, "\(done.errors)")
        let second = try Tool.run("schema", "compare", document, database.url)
        #expect(second.output == "no differences\n", "\(second.output)\(second.errors)")
        #expect(try Tool.run("schema", "export", database.url).output.contains(#""className": "Book""#))
        let elsewhere = try Tool.run("schema", "diff", database.url, file.path)
        #expect(elsewhere.exitCode == 1 && elsewhere.lines.contains("add the class Book"), "\(elsewhere.errors)")
        // It is deleted with the object.
        withExtendedLifetime(database) {}
    }
    #endif

    @Test func impossibleDeploymentsAreShownAndChangeNothing() throws {
        let file = try SampleFile(
            """
            CREATE TABLE A (id INTEGER PRIMARY KEY, a TEXT, b TEXT);
            CREATE TABLE U (id INTEGER PRIMARY KEY);
            CREATE TABLE V (id INTEGER PRIMARY KEY);
            INSERT INTO U VALUES (1)
            """)
        let folder = try TemporaryFolder()
        let document = folder.path("schema.json")
        try """
        [{"className": "A", "fields": {"a": {"type": "Number"}, "b": {"type": "String"}}},
         {"className": "N", "fields": {"x": {"type": "String", "required": true}}}]
        """.write(toFile: document, atomically: false, encoding: .utf8)
        let before = try content(beside: file.path)
        for command in [["diff"], ["deploy", "--yes"], ["deploy", "--dry-run"]] {
            let run = try Tool.run(["schema", command[0], document, file.path, "--remove"] + command.dropFirst())
            #expect(
                run.output == """
                    add the class N
                    add N.x: String, required
                    remove the class V
                    keep the class U: it holds objects
                    can't deploy A.a: Field a exists, cannot update: it is String, not Number

                    """, "\(run.output)\(run.errors)")
            #expect(run.exitCode != 0 && run.errors.contains("A.a") == (command[0] == "deploy"), "\(run.errors)")
        }
        #expect(try content(beside: file.path) == before)
        try #"[{"className": "A", "fields": {"a": {"type": "String"}, "b": {"type": "String"}}}]"#
            .write(toFile: document, atomically: false, encoding: .utf8)
        let done = try Tool.run("schema", "deploy", document, file.path, "--remove", "--yes")
        #expect(done.exitCode == 0, "\(done.errors)")
        #expect(done.output == "remove the class V\nkeep the class U: it holds objects\n", "\(done.output)")
        let again = try Tool.run("schema", "diff", document, file.path, "--remove")
        #expect(again.exitCode == 0, "\(again.errors)")
        #expect(again.output == "nothing to change\nkeep the class U: it holds objects\n", "\(again.output)")
    }
}
#endif
