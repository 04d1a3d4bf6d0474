import Foundation
import RelataCore
import RelataEngine

/// Where a backup is to be, and what is there before.
struct BackupPlace {
    /// The file, behind symbolic links.
    private let path: String
    /// What has no name of its own yet.
    private let part: String
    private let replacement: BackupPlan.Replacement
    private let key: EncryptionKey?

    /// Looks at the place before anything is written.
    ///
    /// - Parameter source: The file that is copied; empty for what is in memory.
    /// - Throws: ``RelataError/invalidUse(_:)`` for the place of the source itself; ``RelataError/fileAccess(path:_:)`` for one
    ///   that is taken, or where no file can be; ``RelataError/busy(_:)`` for a database that is in use.
    init(_ plan: BackupPlan, of source: String, key: EncryptionKey?) throws(RelataError) {
        path = URL(fileURLWithPath: plan.path).resolvingSymlinksInPath().path
        part = path + ".relata-part"
        replacement = plan.replacement
        self.key = key
        try RegularFile.check(path, for: "a database")
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw .fileAccess(path: plan.path, "can't be made: there is no folder \(folder)")
        }
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw .fileAccess(path: plan.path, "can't be made: the folder \(folder) can't be written")
        }
        guard FileManager.default.fileExists(atPath: path) else { return }
        if !source.isEmpty, let own = Self.identity(path), own == Self.identity(source) {
            throw .invalidUse("\(plan.path) is the file that is copied: choose another one")
        }
        guard replacement != .never else { throw Self.taken(plan.path) }
        // Found out before the work of a copy.
        try ReplacedFile(path, key, replacement)?.release()
    }

    private static func taken(_ path: String) -> RelataError {
        .fileAccess(path: path, "exists already, and is left as it is: choose another name, or have it replaced")
    }

    /// What tells a file from others, whatever its name.
    private static func identity(_ path: String) -> [UInt64]? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return [UInt64(status.st_dev), UInt64(status.st_ino)]
    }

    // MARK: Making the file

    /// Has `body` make a file under another name, and gives it its own one once it is on the disk. What an interruption
    /// leaves can't be taken for the whole.
    func fill(_ body: (_ path: String) throws -> Void) throws {
        removePart()
        do {
            try body(part)
            try Self.flush(part)
            try giveName()
            try? Self.flush(URL(fileURLWithPath: path).deletingLastPathComponent().path)
        } catch {
            removePart()
            throw named(error)
        }
    }

    private func giveName() throws(RelataError) {
        // Another process may have made it meanwhile.
        let isThere = FileManager.default.fileExists(atPath: path)
        guard !isThere || replacement != .never else { throw Self.taken(path) }
        let old = isThere ? try ReplacedFile(path, key, replacement) : nil
        // What a file that is gone has left would be applied to this one.
        if !isThere { for suffix in ["-journal", "-wal", "-shm"] { unlink(path + suffix) } }
        guard rename(part, path) == 0 else {
            let reason = String(cString: strerror(errno))
            old?.release()
            throw .fileAccess(path: path, "can't be made: \(reason)")
        }
        old?.close()
    }

    private func removePart() {
        for suffix in ["", "-journal", "-wal", "-shm"] { unlink(part + suffix) }
    }

    /// An error that names the file by the name that the caller knows.
    private func named(_ error: any Error) -> any Error {
        if case RelataError.fileAccess(part, let message) = error {
            RelataError.fileAccess(path: path, message)
        } else {
            error
        }
    }

    /// Has a file, or a folder, written to the disk.
    private static func flush(_ path: String) throws(RelataError) {
        let descriptor = open(path, O_RDONLY)
        defer { if descriptor >= 0 { close(descriptor) } }
        guard descriptor >= 0, fsync(descriptor) == 0 else {
            throw .fileAccess(path: path, "can't be written to the disk: \(String(cString: strerror(errno)))")
        }
    }
}
