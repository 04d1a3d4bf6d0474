#if CommandLineTool
import Foundation
import TestSupport
import Testing

/// `relata backup` and `relata restore`.
@Suite struct BackupTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
    }

    @Test func backupsAreRestored() throws {
        let library = try SampleFile.library()
        let before = try library.bytes()
        let run = try library.run("backup", folder.path("backup.sqlite"), "--verify")
        #expect(run.exitCode == 0 && run.output.hasSuffix(", checked\n"), "\(run.errors)")
        #expect(try names() == ["backup.sqlite"] && library.bytes() == before)
        try library.execute("DELETE FROM Review")
        let refused = try Tool.run("restore", folder.path("backup.sqlite"), library.path)
        #expect(refused.exitCode == 1 && refused.hasErrorLine && refused.errors.contains("already exists"))
        #expect(try library.rows("SELECT count(*) FROM Review") == ["0"])
        let restored = try Tool.run("restore", folder.path("backup.sqlite"), library.path, "--replace")
        #expect(restored.exitCode == 0, "\(restored.errors)")
        #expect(try library.rows("SELECT count(*) FROM Review") == ["9"])
        #expect(try library.run("check").exitCode == 0)
    }

    @Test(arguments: ["DELETE", "WAL"]) func aFileInUseIsNotReplaced(_ mode: String) throws {
        let library = try SampleFile.library()
        #expect(try library.run("backup", folder.path("backup.sqlite")).exitCode == 0)
        let other = try SampleConnection(library.path)
        // An idle program that has a file without a log open holds no locks.
        try other.execute(
            "PRAGMA journal_mode = \(mode); SELECT * FROM Book; \(mode == "DELETE" ? "BEGIN IMMEDIATE" : "")")
        let run = try Tool.run("restore", folder.path("backup.sqlite"), library.path, "--replace")
        #expect(run.exitCode == 1 && run.hasErrorLine && run.errors.contains("is in use"), "\(run.errors)")
        try other.execute("\(mode == "DELETE" ? "ROLLBACK; " : "")DELETE FROM Review")
        #expect(try library.rows("SELECT count(*) FROM Review") == ["0"], "it goes on working")
        #expect(try names() == ["backup.sqlite"])
    }

    @Test func impossibleBackupDestinationsAreRefused() throws {
        let library = try SampleFile.library()
        let before = try library.bytes()
        try "letter".write(toFile: folder.path("letter.txt"), atomically: false, encoding: .utf8)
        try FileManager.default.createDirectory(atPath: folder.path("directory"), withIntermediateDirectories: false)
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: library.path)
        let wrong = [
            ("letter.txt", "already exists"), ("directory", "is a directory"), ("pipe", "isn't a regular file"),
            ("missing/backup.sqlite", "there is no folder"), ("link", "is the file that is copied"),
        ]
        for (name, words) in wrong {
            let replace = name == "link" ? ["--replace"] : []
            let run = try library.run("backup", [folder.path(name)] + replace)
            #expect(run.exitCode == 1 && run.hasErrorLine && run.errors.contains(words), "\(name): \(run.errors)")
        }
        let run = try library.run("backup", folder.path("letter.txt"), "--replace")
        #expect(run.exitCode == 1 && run.errors.contains("is not an SQLite database"), "\(run.errors)")
        #expect(try library.run("backup", library.path, "--replace").errors.contains("is the file that is copied"))
        #expect(try String(contentsOfFile: folder.path("letter.txt"), encoding: .utf8) == "letter")
        #expect(try names() == ["directory", "letter.txt", "link", "pipe"] && library.bytes() == before)
        for arguments in [["nothing.sqlite"], ["letter.txt"], ["directory"], ["pipe"]] {
            let run = try Tool.run(["restore", folder.path(arguments[0]), folder.path("new.sqlite")])
            #expect(run.exitCode == 1 && run.hasErrorLine, "\(arguments): \(run.errors)")
        }
        #expect(try names() == ["directory", "letter.txt", "link", "pipe"])
    }

    @Test func backupsFollowSymbolicLinks() throws {
        let library = try SampleFile.library()
        #expect(try library.run("backup", folder.path("real.sqlite")).exitCode == 0)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("latest.sqlite"), withDestinationPath: folder.path("real.sqlite"))
        try library.execute("DELETE FROM Review")
        #expect(try library.run("backup", folder.path("latest.sqlite"), "--replace").exitCode == 0)
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path("latest.sqlite"))
        #expect(attributes[.type] as? FileAttributeType == .typeSymbolicLink)
        #expect(try SampleFile(copyOf: folder.path("real.sqlite")).rows("SELECT count(*) FROM Review") == ["0"])
    }

    @Test func damagedBackupsAreRefusedBeforeAnyChange() throws {
        let library = try SampleFile.library()
        try library.execute(
            "WITH n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO Author (name) SELECT 'author ' || i FROM n"
        )
        let backup = folder.path("backup.sqlite")
        #expect(try library.run("backup", backup).exitCode == 0)
        let handle = try #require(FileHandle(forUpdatingAtPath: backup))
        let size = try handle.seekToEnd()
        for place in stride(from: size / 2, to: size - 4096, by: 4096) {
            try handle.seek(toOffset: place / 4096 * 4096)
            try handle.write(contentsOf: Data(repeating: 0xAA, count: 512))
        }
        try handle.close()
        let before = try library.bytes()
        let run = try Tool.run("restore", backup, library.path, "--replace")
        #expect(run.exitCode == 1 && run.hasErrorLine && run.errors.contains("damaged"), "\(run.errors)")
        #expect(try library.bytes() == before)
        // A damaged file is also restored from an intact backup.
        let whole = folder.path("whole.sqlite")
        #expect(try library.run("backup", whole, "--verify").exitCode == 0)
        try Data(repeating: 7, count: 8192).write(to: URL(fileURLWithPath: library.path))
        #expect(try Tool.run("restore", whole, library.path, "--replace").exitCode == 0)
        #expect(try library.rows("SELECT count(*) > 5000 FROM Author") == ["1"])
    }

    @Test func damagedFilesKeepTheirLogIfTheBackupIsDamagedToo() throws {
        let library = try SampleFile.library()
        let (good, bad) = (folder.path("good.sqlite"), folder.path("bad.sqlite"))
        #expect(try library.run("backup", good).exitCode == 0)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: good))
        bytes.replaceSubrange(4096..<8192, with: repeatElement(0xAA, count: 4096))
        try bytes.write(to: URL(fileURLWithPath: bad))
        // A log that wasn't finished, beside a file whose beginning is gone.
        let target = folder.path("target.sqlite")
        do {
            let writer = try SampleConnection(library.path)
            try writer.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; DELETE FROM Review")
            try FileManager.default.copyItem(atPath: library.path + "-wal", toPath: target + "-wal")
        }
        try Data(repeating: 7, count: 8192).write(to: URL(fileURLWithPath: target))
        let names = try names()
        let log = try Data(contentsOf: URL(fileURLWithPath: target + "-wal"))
        #expect(!log.isEmpty)
        let run = try Tool.run("restore", bad, target, "--replace")
        #expect(run.exitCode == 1 && run.hasErrorLine && run.errors.contains("damaged"), "\(run.errors)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: target)) == Data(repeating: 7, count: 8192))
        #expect(try Data(contentsOf: URL(fileURLWithPath: target + "-wal")) == log)
        #expect(try self.names() == names)
        // An intact backup takes its place, and the log isn't applied to it.
        #expect(try Tool.run("restore", good, target, "--replace").exitCode == 0)
        let rows = try SampleFile(copyOf: target).rows("SELECT count(*) FROM Review")
        #expect(try rows == ["9"] && !self.names().contains("target.sqlite-wal"))
    }

    @Test func aFileInUseThatCannotBeReadIsNotReplaced() throws {
        let library = try SampleFile.library()
        #expect(try library.run("backup", folder.path("backup.sqlite")).exitCode == 0)
        let target = folder.path("target.sqlite")
        let content = Data(repeating: 7, count: 8192)
        try content.write(to: URL(fileURLWithPath: target))
        // Locked as by another process that has its key.
        let descriptor = open(target, O_RDWR)
        defer { close(descriptor) }
        var range = flock()
        range.l_type = Int16(F_RDLCK)
        range.l_whence = Int16(SEEK_SET)
        (range.l_start, range.l_len) = (0x4000_0002, 510)
        try #require(fcntl(descriptor, F_SETLK, &range) == 0)
        let run = try Tool.run("restore", folder.path("backup.sqlite"), target, "--replace")
        #expect(run.exitCode == 1 && run.errors.contains("is in use"), "\(run.errors)")
        #expect(lseek(descriptor, 0, SEEK_END) == 8192)
    }

    @Test func serversHaveTheirOwnBackupTools() throws {
        for arguments in [
            ["postgres://u@localhost/music", folder.path("x")], [folder.path("x"), "postgres://u@localhost/music"],
        ] {
            let run = try Tool.run(["backup"] + arguments)
            #expect(run.exitCode == 1 && run.hasErrorLine, "\(run.errors)")
            #expect(run.errors.contains("pg_dump") && run.errors.contains("relata copy"), "\(run.errors)")
        }
    }

    #if os(Linux)
    @Test(.enabled(if: SmallDisk.isAvailable, "a small disk can't be mounted here: that needs root"))
    func fullDisksAreReportedAndLeaveNothing() throws {
        let library = try SampleFile.library()
        try library.execute("CREATE TABLE big (data); INSERT INTO big VALUES (zeroblob(3000000))")
        let before = try library.bytes()
        let tool = try Tool.executablePath()
        let (process, output) = try SmallDisk.start(
            folder.url.path,
            """
            "\(tool)" backup "\(library.path)" backup.sqlite 2>&1
            echo $?
            "\(tool)" export "\(library.path)" big --output big.csv 2>&1
            echo $?
            ls -A
            """)
        let lines = String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
            .split(separator: "\n")
        process.waitUntilExit()
        try #require(lines.count == 4, "one error each, and no file: \(lines)")
        for (line, code) in [(lines[0], lines[1]), (lines[2], lines[3])] {
            #expect(line.hasPrefix("relata: ") && line.contains("no space left") && code == "1", "\(lines)")
        }
        #expect(try library.bytes() == before)
    }
    #endif
}
#endif
