import Foundation

/// A directory for the measured files, which is removed with them at the end.
public final class WorkDirectory: Sendable {
    /// The path of the folder.
    public let path: String

    /// Makes one that only this user may enter.
    public init() throws {
        path = FileManager.default.temporaryDirectory.appending(path: "relata-bench-\(getpid())").path
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { remove() }

    /// Removes it explicitly, for ends of the process that run no `deinit`.
    public func remove() { try? FileManager.default.removeItem(atPath: path) }

    /// The path of a file of that name, which doesn't exist yet.
    public func file(_ name: String) throws -> String {
        let file = path + "/" + name
        try remove(file)
        return file
    }

    /// A copy of a closed database file.
    public func copy(_ source: String, _ name: String) throws -> String {
        let file = try file(name)
        try FileManager.default.copyItem(atPath: source, toPath: file)
        return file
    }

    /// Removes a database with its log files.
    public func remove(_ file: String) throws {
        for suffix in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: file + suffix) {
            try FileManager.default.removeItem(atPath: file + suffix)
        }
    }
}
