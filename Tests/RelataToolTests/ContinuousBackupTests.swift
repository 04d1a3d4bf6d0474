#if CommandLineTool
import Foundation
import TestSupport
import Testing

/// `relata backup --continuous`, and `relata restore` of its copies.
@Suite struct ContinuousBackupTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var copies: String { folder.path("copies") }

    /// Waits until there is so much in the folder.
    private func waitForCopies(_ isEnough: ([String: Int]) -> Bool) throws {
        for _ in 0..<6000 {
            var sizes: [String: Int] = [:]
            for name in (try? FileManager.default.contentsOfDirectory(atPath: copies)) ?? [] {
                let attributes = try? FileManager.default.attributesOfItem(atPath: copies + "/" + name)
                sizes[name] = attributes?[.size] as? Int ?? 0
            }
            if isEnough(sizes) { return }
            usleep(10_000)
        }
        Issue.record("nothing was copied")
    }

    private func end(_ process: Process) -> Int32 {
        process.terminate()
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test func everythingIsCopiedUntilTheProcessEnds() throws {
        let library = try SampleFile.library()
        try library.execute("PRAGMA journal_mode = WAL")
        let follower = try Tool.start(
            ["backup", library.path, "--continuous", copies, "--keep", "7d", "--interval", "20ms"])
        try waitForCopies { $0.keys.contains { $0.hasSuffix(".sqlite") } }
        let other = try SampleConnection(library.path)
        try other.execute("DELETE FROM Review WHERE id < 5")
        try waitForCopies { $0.contains { $0.key.hasSuffix(".changes") && $0.value > 4096 } }
        try other.execute("DELETE FROM Review")
        #expect(end(follower) == 0)
        let restored = folder.path("restored.sqlite")
        let run = try Tool.run("restore", copies, restored)
        #expect(run.exitCode == 0 && run.output.hasSuffix("Z, checked\n") && run.told.isEmpty, "\(run.errors)")
        #expect(try SampleFile(copyOf: restored).rows("SELECT count(*) FROM Review") == ["0"])
        // The first moment is the base's.
        let base = try #require(
            FileManager.default.contentsOfDirectory(atPath: copies).first { $0.hasSuffix(".sqlite") })
        let digits = Array(base)
        let moment =
            "\(String(digits[0..<4]))-\(String(digits[4..<6]))-\(String(digits[6..<11])):\(String(digits[11..<13])):\(String(digits[13..<23]))"
        let refused = try Tool.run("restore", copies, restored, "--at", moment)
        #expect(refused.exitCode == 1 && refused.errors.contains("already exists"), "\(refused.errors)")
        let first = try Tool.run("restore", copies, restored, "--at", moment, "--replace")
        #expect(
            first.exitCode == 0 && first.output.contains("as it was at \(moment)"), "\(first.output)\(first.errors)")
        #expect(try SampleFile(copyOf: restored).rows("SELECT count(*) FROM Review") == ["9"])
        for (text, words) in [("2001-01-01T00:00:00Z", "contains no copy from before"), ("noon", "isn't a moment")] {
            let run = try Tool.run("restore", copies, folder.path("early.sqlite"), "--at", text)
            #expect(run.exitCode == 1 && run.hasErrorAtEnd && run.errors.contains(words), "\(run.errors)")
        }
        let later = try Tool.run("restore", copies, folder.path("later.sqlite"), "--at", "2999-01-01T00:00:00Z")
        #expect(later.exitCode == 0 && later.errors.contains("are missing"), "\(later.errors)")
    }

    @Test func unsupportedSourcesAreRefused() throws {
        let library = try SampleFile.library()
        let before = try library.bytes()
        let plain = try library.run("backup", "--continuous", copies)
        #expect(plain.exitCode == 1 && plain.hasErrorAtEnd && plain.errors.contains("no write-ahead log"))
        #expect(try library.bytes() == before)
        let server = try Tool.run("backup", "postgres://u@localhost/x", "--continuous", copies)
        #expect(server.exitCode == 1 && server.errors.contains("pg_dump"), "\(server.errors)")
        let missing = try library.run("backup", "--continuous", folder.path("none/copies"))
        #expect(missing.exitCode == 1 && missing.hasErrorAtEnd && missing.errors.contains("can't be made"))
        for arguments in [
            [], ["x.sqlite", "--continuous", copies], ["x.sqlite", "--keep", "7d"],
            ["--continuous", copies, "--replace"], ["--continuous", copies, "--keep", "soon"],
        ] {
            let run = try library.run("backup", arguments)
            #expect(run.exitCode == 64, "\(arguments): \(run.errors)")
        }
        #expect(try library.run("restore", [folder.path("x"), "--at", "2026-01-01T00:00:00Z"]).exitCode == 1)
    }

    @Test(.enabled(if: Tool.canBeUnprivileged, "permissions bind nobody here"))
    func unwritableFoldersAreReported() throws {
        let library = try SampleFile.library()
        try library.execute("PRAGMA journal_mode = WAL")
        try FileManager.default.createDirectory(atPath: copies, withIntermediateDirectories: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o555], ofItemAtPath: copies)
        for path in [library.path, URL(fileURLWithPath: library.path).deletingLastPathComponent().path] {
            try FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path)
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.url.path)
        let run = try Tool.run(["backup", library.path, "--continuous", copies], isUnprivileged: true)
        #expect(run.exitCode == 1 && run.hasErrorAtEnd && run.errors.contains("can't be written"), "\(run.errors)")
        #expect(try library.rows("SELECT count(*) FROM Review") == ["9"])
    }

    #if os(Linux)
    @Test(.enabled(if: SmallDisk.isAvailable, "a small disk can't be mounted here: that needs root"))
    func fullDisksAreReportedAndKeepTheFile() throws {
        let library = try SampleFile.library()
        try library.execute("PRAGMA journal_mode = WAL; CREATE TABLE big (data)")
        let writer = try SampleConnection(library.path)
        try writer.execute("INSERT INTO big VALUES (1)")
        let tool = try Tool.executablePath()
        // The disk has room for the base, but not for the later writes.
        let (process, output) = try SmallDisk.start(
            folder.url.path,
            """
            true
            "\(tool)" backup "\(library.path)" --continuous copies --interval 20ms >out 2>&1 & \
            while ! grep -q restored out; do sleep 0.05; done
            echo ready
            wait $!
            echo $?
            cat out
            "\(tool)" restore copies "\(library.path)-restored" 2>&1
            """)
        var text = ""
        while !text.contains("ready\n") {
            let data = output.availableData
            try #require(!data.isEmpty, "\(text)")
            text += String(decoding: data, as: UTF8.self)
        }
        try writer.execute("INSERT INTO big VALUES (randomblob(900000))")
        text += String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let lines = text.split(separator: "\n")
        #expect(lines.count > 1 && lines[1] == "1", "\(text)")
        #expect(lines.contains { $0.hasPrefix("relata: ") && $0.contains("no space left") }, "\(text)")
        #expect(lines.last?.hasSuffix(", checked") == true, "what was copied before is there: \(text)")
        #expect(try library.rows("SELECT count(*) FROM big") == ["2"])
        let restored = try SampleFile(copyOf: library.path + "-restored")
        #expect(try restored.rows("SELECT count(*) FROM big") == ["1"])
    }
    #endif
}
#endif
