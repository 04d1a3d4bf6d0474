import Foundation
import RelataCore

/// A file that is written from its beginning to its end and has its name once it is whole, or standard output.
final class DataOutput {
    private let path: String?
    private let descriptor: Int32
    /// Whether the file is there under another name.
    private var isUnnamed = true
    private var isOpen = true

    /// Standard output.
    init() {
        (path, descriptor) = (nil, 1)
    }

    /// A file.
    ///
    /// - Parameter replaces: Whether one that is there is replaced; else it is refused.
    init(_ path: String, replaces: Bool) throws(RelataError) {
        try Self.check(path, replaces: replaces)
        self.path = path
        descriptor = open(path + Self.suffix, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0o666)
        guard descriptor >= 0 else { throw Self.failure(path, "made") }
    }

    deinit { discard() }

    private static let suffix = ".relata-part"

    /// Refuses a place where no file can be made.
    static func check(_ path: String, replaces: Bool) throws(RelataError) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .fileAccess(path: path, "is no regular file: choose another name")
        }
        guard replaces else {
            throw .fileAccess(
                path: path, "exists already, and is left as it is: choose another name, or have it replaced")
        }
    }

    /// Writes bytes behind those that were written.
    func write(_ bytes: [UInt8]) throws {
        try Task.checkCancellation()
        try bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw Self.failure(path ?? "standard output", "written") }
                rest = rest.dropFirst(count)
            }
        }
    }

    /// Has what was written be on the disk. Nothing can be written any more.
    func complete() throws(RelataError) {
        guard let path, isOpen else { return }
        isOpen = false
        let isWritten = fsync(descriptor) == 0
        guard close(descriptor) == 0, isWritten else { throw Self.failure(path, "written") }
    }

    /// Gives the file its name.
    func finish() throws(RelataError) {
        try complete()
        guard let path else { return }
        guard rename(path + Self.suffix, path) == 0 else { throw Self.failure(path, "written") }
        isUnnamed = false
    }

    /// Leaves no file that isn't finished.
    private func discard() {
        guard let path else { return }
        if isOpen { close(descriptor) }
        if isUnnamed { unlink(path + Self.suffix) }
    }

    private static func failure(_ path: String, _ what: String) -> RelataError {
        errno == ENOSPC
            ? .noSpaceLeft(path) : .fileAccess(path: path, "can't be \(what): \(String(cString: strerror(errno)))")
    }
}
