import Foundation
import RelataCore

/// Checks of a path before it is opened.
package enum RegularFile {
    /// Refuses a path without a file.
    package static func require(_ path: String) throws(RelataError) {
        guard FileManager.default.fileExists(atPath: path) else {
            throw .fileAccess(path: path, "there is no such file")
        }
    }

    /// Whether the last part of a path is a symbolic link.
    package static func isLink(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFLNK
    }

    /// Refuses a path with something other than a regular file. Opening a pipe would wait for a writer, and opening a
    /// device may do anything.
    ///
    /// - Parameter purpose: The expected kind of file, such as `a database`.
    package static func check(_ path: String, for purpose: String) throws(RelataError) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw .fileAccess(path: path, "is a directory, not \(purpose) file")
        default: throw .fileAccess(path: path, "is no regular file, so it can't be \(purpose)")
        }
    }
}
