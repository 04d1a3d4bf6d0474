import Foundation
import RelataCore
import RelataEngine

/// The destination of a backup, and its existing file.
struct BackupPlace {
    private let plan: BackupPlan
    /// The file, behind symbolic links.
    private let path: String
    /// The source file; empty for a database in memory.
    private let source: String
    private let key: EncryptionKey?

    /// Looks at the place before anything is written.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for the source itself; ``RelataError/fileAccess(path:_:)`` for an
    ///   existing file, or a path that can't be a file; ``RelataError/busy(_:)`` for a database that is in use.
    init(_ plan: BackupPlan, of source: String, key: EncryptionKey?) throws(RelataError) {
        (self.plan, self.source, self.key) = (plan, source, key)
        try RegularFile.check(plan.path, for: "a database")
        // For the source itself, the error doesn't suggest replacing it.
        path = try NewFile.check(plan.path, replaces: true)
        guard FileManager.default.fileExists(atPath: path) else { return }
        if !source.isEmpty, let own = Self.identity(path), own == Self.identity(source) {
            throw .invalidUse("\(plan.path) is the file that is copied: choose another one")
        }
        try NewFile.check(plan.path, replaces: replaces)
        // Found out before the work of a copy.
        try ReplacedFile.check(path, key, plan.replacement)
    }

    private var replaces: Bool { plan.replacement != .never }

    /// The identity of a file, regardless of its name.
    private static func identity(_ path: String) -> [UInt64]? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return [UInt64(status.st_dev), UInt64(status.st_ino)]
    }

    // MARK: Making the file

    /// Has `body` make a file under another name, and gives it its own one once it is on the disk.
    func fill(_ body: (_ path: String) throws -> Void) throws {
        let file = try NewFile(plan.path, replaces: replaces, like: source.isEmpty ? nil : source)
        do {
            try body(file.part)
        } catch RelataError.fileAccess(file.part, let message) {
            // The path that the caller used.
            throw RelataError.fileAccess(path: plan.path, message)
        }
        try file.complete()
        // Another process may have created it in the meantime.
        let old =
            replaces && FileManager.default.fileExists(atPath: path)
            ? try ReplacedFile(path, key, plan.replacement) : nil
        do {
            try file.finish {
                // Leftovers of a deleted file would be applied to this one. An existing file keeps its own.
                if old != nil || !FileManager.default.fileExists(atPath: path) { ReplacedFile.removeLogs(of: path) }
            }
        } catch {
            old?.release()
            throw error
        }
        old?.close()
    }
}
