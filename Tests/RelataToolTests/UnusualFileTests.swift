#if CommandLineTool
import Foundation
import RelataCore
import RelataEngine
import RelataSQLite
import Testing

/// Files that were left in the middle of a transaction, and paths that aren't regular files.
@Suite struct UnusualFileTests {
    /// A file whose program died while it wrote: the pages of the open transaction are in it already, and the journal can
    /// take them back.
    private static func unfinished(in folder: TemporaryFolder, _ name: String = "copy.sqlite") throws -> String {
        let (path, copy) = (folder.path("live.sqlite"), folder.path(name))
        let writer = try Connection(path: path)
        try writer.execute(
            """
            PRAGMA journal_mode = DELETE; CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT);
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
            INSERT INTO t SELECT i, hex(zeroblob(200)) FROM n;
            PRAGMA cache_size = 5; BEGIN; UPDATE t SET text = 'changed'; DELETE FROM t WHERE id > 10;
            """)
        for end in ["", "-journal"] {
            try FileManager.default.copyItem(atPath: path + end, toPath: copy + end)
        }
        try writer.execute("ROLLBACK")
        try writer.close()
        try FileManager.default.removeItem(atPath: path)
        #expect {
            let connection = try Connection(path: copy, isReadOnly: true)
            _ = try connection.value(SQLStatement("SELECT count(*) FROM t"))
        } throws: {
            "\($0)".contains("was left in the middle of a transaction")
        }
        return copy
    }

    /// Every command on a file, and on another that is as it should be. Those of the server don't come to serve: the port
    /// is none.
    private static func commands(_ path: String, beside other: String, in folder: TemporaryFolder) -> [[String]] {
        var commands = [
            ["inspect", path], ["fetch", path, "t", "--limit", "1"], ["check", path],
            ["delete", path, "t", "7", "--yes"], ["copy", path, folder.path("made.sqlite")],
        ]
        #if Server
        commands += [
            ["schema", "export", path], ["schema", "diff", other, path], ["schema", "diff", path, other],
            ["schema", "deploy", other, path, "--dry-run"], ["schema", "deploy", other, path, "--yes"],
            ["open", path, "--port", "70000"], ["serve", path, "--port", "70000"],
        ]
        #endif
        return commands
    }

    @Test func everyCommandRollsBackAnInterruptedTransaction() throws {
        let other = try SampleFile("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
        let count = Self.commands("", beside: "", in: try TemporaryFolder()).count
        for number in 0..<count {
            let folder = try TemporaryFolder()
            let path = try Self.unfinished(in: folder)
            let command = Self.commands(path, beside: other.path, in: folder)[number]
            let run = try Tool.run(command)
            let isServing = command.contains("--port")
            #expect(!run.errors.contains("in the middle of a transaction"), "\(command): \(run.errors)")
            #expect(isServing ? run.errors.contains("port 70000") : run.exitCode == 0, "\(command): \(run.errors)")
            #expect(!FileManager.default.fileExists(atPath: path + "-journal"), "\(command)")
            let rows = try Connection(path: path).value(SQLStatement("SELECT count(*) FROM t"))
            #expect(rows == .integer(command[0] == "delete" ? 2999 : 3000), "\(command)")
        }
    }

    @Test(.enabled(if: Tool.canBeUnprivileged, "root may write any file, and there is no setpriv"))
    func readOnlyFilesWithAJournalNameTheJournal() throws {
        let other = try SampleFile("CREATE TABLE t (id INTEGER PRIMARY KEY, text TEXT)")
        let (folder, elsewhere) = (try TemporaryFolder(), try TemporaryFolder())
        let path = try Self.unfinished(in: folder)
        func set(_ folderMode: Int, _ fileMode: Int) throws {
            try FileManager.default.setAttributes([.posixPermissions: folderMode], ofItemAtPath: folder.url.path)
            for end in ["", "-journal"] {
                try FileManager.default.setAttributes([.posixPermissions: fileMode], ofItemAtPath: path + end)
            }
        }
        try set(0o555, 0o444)
        defer { try? set(0o755, 0o644) }
        try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: elsewhere.url.path)
        for command in Self.commands(path, beside: other.path, in: elsewhere) {
            let run = try Tool.run(command, isUnprivileged: true)
            #expect(run.exitCode != 0, "\(command): \(run.output)")
            #expect(run.errors.contains("its journal \(path)-journal"), "\(command): \(run.errors)")
            #expect(FileManager.default.fileExists(atPath: path + "-journal"))
        }
    }

    @Test func journalsMustBeRegularFiles() throws {
        let folder = try TemporaryFolder()
        let file = try SampleFile("CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1);")
        let link = folder.path("link")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: file.path)
        #expect(mkfifo(file.path + "-journal", 0o600) == 0)
        for path in [file.path, link] {
            for command in [
                ["inspect", path], ["fetch", path, "a"], ["delete", path, "a", "1", "--yes"], ["check", path],
                ["backup", path, folder.path("backup")], ["copy", path, folder.path("copy")],
            ] {
                let run = try Tool.run(command)
                #expect(run.exitCode != 0 && run.hasErrorAtEnd, "\(command): \(run.errors)")
                #expect(run.errors.contains("-journal: isn't a regular file"), "\(command): \(run.errors)")
            }
        }
        withExtendedLifetime((file, folder)) {}
    }

    @Test func databasesMustBeRegularFiles() throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let file = try SampleFile("CREATE TABLE a (id INTEGER PRIMARY KEY); INSERT INTO a VALUES (1);")
        var commands: [[String]] = []
        for path in [pipe, "/dev/null", folder.url.path] {
            commands += [
                ["inspect", path], ["fetch", path, "a"], ["delete", path, "a", "1", "--yes"], ["check", path],
                ["copy", path, folder.path("copy")], ["walk", path],
            ]
            commands.append(["make", folder.path("made"), path])
        }
        #if Server
        for path in [pipe, "/dev/null", folder.url.path] {
            commands += [
                ["serve", path, "--port", "0"], ["open", path, "--port", "0"], ["open", path, "--edit", "--port", "0"],
                ["schema", "export", path], ["schema", "diff", file.path, path], ["schema", "diff", path, file.path],
                ["schema", "deploy", file.path, path, "--yes"], ["schema", "deploy", path, file.path, "--yes"],
                ["serve", file.path, "--keys", path, "--port", "0"],
                ["serve", file.path, "--config", path, "--port", "0"],
                ["serve", file.path, "--audit", path, "--port", "0"],
                ["serve", file.path, "--tls-certificate", path, "--tls-key", path, "--port", "0"],
            ]
        }
        #endif
        for command in commands {
            let run = try Tool.run(command)
            #expect(run.exitCode != 0, "\(command): \(run.output)")
            #expect(run.hasErrorAtEnd, "\(command): \(run.errors)")
        }
    }
}
#endif
