import Foundation
import Relata
import RobustnessWriter
import TestSupport
import Testing

/// Files and folders that may not be written, and disks that are full.
@Suite struct PermissionTests {
    private func garden(_ folder: Folder) throws -> [String: Data] {
        let store = try open(folder.file(), Garden.models)
        try store.insert(Receipt(number: 1, note: ""))
        try store.close()
        return try folder.contents()
    }

    @Test func readOnlyFilesAreReadAndUnchanged() throws {
        let folder = try Folder(permissions: 0o777)
        let before = try garden(folder)
        try folder.setPermissions(0o444, of: "garden.sqlite")
        let path = folder.file()
        let written = try Writer("open", path, "for writing").finish()
        #expect(
            written == [
                "readOnly: \(path) can't be written: open it read-only, or change its permissions"
            ])
        #expect(try folder.contents() == before)
        #expect(try Writer("open", path, "read-only").finish() == ["opened with 1", "closed"])
        // A reader leaves the log that SQLite creates, empty.
        let after = try folder.contents()
        #expect(after["garden.sqlite"] == before["garden.sqlite"])
        #expect(after["garden.sqlite-wal"] ?? Data() == Data())
    }

    @Test func readOnlyFoldersAreReported() throws {
        let folder = try Folder(permissions: 0o777)
        let before = try garden(folder)
        try folder.setPermissions(0o666, of: "garden.sqlite")
        try folder.setPermissions(0o555)
        defer { try? folder.setPermissions(0o755) }
        for way in ["for writing", "read-only"] {
            let lines = try Writer("open", folder.file(), way).finish()
            #expect(lines.count == 1)
            #expect(
                lines.first?.hasPrefix("readOnly: \(folder.file()) can't be opened: its folder") == true, "\(lines)")
        }
        let new = try Writer("open", folder.file("new.sqlite"), "for writing").finish()
        #expect(new.first?.hasPrefix("fileAccess: \(folder.file("new.sqlite")): can't be opened") == true, "\(new)")
        #expect(try folder.contents() == before)
    }

    #if os(Linux)
    @Test(.enabled(if: SmallDisk.isAvailable, "only root can make a small disk"))
    func aFullDiskFailsOnlyOneTransaction() throws {
        let folder = try Folder()
        // A disk of 600 KB in a place that only the processes of this line see.
        let lines = try Writer(
            shell: SmallDisk.shell(
                folder.path,
                """
                "$WRITER" fill garden.sqlite; echo again; "$WRITER" fill garden.sqlite
                dd if=/dev/zero of=filler bs=1024 count=900 2>/dev/null; echo new; "$WRITER" fill new.sqlite
                """)
        ).finish()
        let parts = lines.split { ["again", "new"].contains($0) }.map(Array.init)
        try #require(parts.count == 3, "\(lines)")
        // Acknowledged writes are stored, the error names the reason, and reading continues.
        let written = parts[0].compactMap { Int($0) }.count
        #expect(written > 2, "\(lines)")
        #expect(parts[0].suffix(2).first?.contains("no space left") == true, "\(parts[0].suffix(2))")
        #expect(parts[0].last == "reads \(written)")
        // Closing moved the log into the file, if there was space; at any rate nothing is lost.
        #expect(parts[1].contains { $0.contains("already exists") || $0.contains("no space left") }, "\(parts[1])")
        #expect(
            parts[1].last.map { $0 == "reads \(written)" || $0.hasPrefix("fileAccess") } == true, "\(parts[1])")
        #expect(parts[2].count == 1 && parts[2][0].hasPrefix("fileAccess: new.sqlite: no space left"), "\(parts[2])")
    }
    #endif
}
