import Foundation
import RelataCore

/// What is asked of a path before it is opened.
package enum RegularFile {
    /// Refuses a path at which there is no file.
    package static func require(_ path: String) throws(RelataError) {
        guard FileManager.default.fileExists(atPath: path) else {
            throw .fileAccess(path: path, "there is no such file")
        }
    }

    /// Refuses what is there and no regular file. To open a pipe would wait for whoever writes to it, and a device may do
    /// anything.
    ///
    /// - Parameter purpose: What the file would have to be, such as `a database`.
    package static func check(_ path: String, for purpose: String) throws(RelataError) {
        var status = stat()
        guard stat(path, &status) == 0 else { return }
        switch status.st_mode & S_IFMT {
        case S_IFREG: return
        case S_IFDIR: throw .fileAccess(path: path, "is a directory, not \(purpose) file")
        default: throw .fileAccess(path: path, "is no regular file, hence not \(purpose)")
        }
    }
}
