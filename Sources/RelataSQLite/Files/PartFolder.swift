import Foundation
import RelataCore

/// A private folder for temporary files. It is deleted with the object.
///
/// It is beside the final files, so that they are renamed within one file system, and each has a unique name, so that
/// concurrent writers of one file don't conflict. It is locked while it is used. An unlocked one is a leftover of an
/// interruption, and the next writer beside it removes it.
package final class PartFolder {
    /// Its parent folder.
    let parent: String
    let path: String
    private let descriptor: Int32
    private var count = 0

    private static let prefix = ".relata-part-"

    /// - Parameter name: The final file, for messages.
    /// - Throws: ``RelataError/fileAccess(path:_:)`` if none can be created.
    package init(in parent: String, for name: String) throws(RelataError) {
        self.parent = parent
        try Self.check(parent, for: name)
        Self.removeLeftovers(in: parent)
        (path, descriptor) = try Self.make(in: parent, for: name)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
        close(descriptor)
    }

    /// A name in it for another file.
    func nextName() -> String {
        count += 1
        return "\(path)/\(count)"
    }

    /// Refuses a folder that doesn't exist or can't be written.
    static func check(_ folder: String, for name: String) throws(RelataError) {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw .fileAccess(path: name, "can't be made: there is no folder \(folder)")
        }
        guard FileManager.default.isWritableFile(atPath: folder) else {
            throw .fileAccess(path: name, "can't be made: the folder \(folder) can't be written")
        }
    }

    // MARK: Making it

    private static func make(in parent: String, for name: String) throws(RelataError) -> (String, Int32) {
        // Another process may take a new one for a leftover before it is locked.
        for _ in 0..<100 {
            var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
            // Only its creator may open it, regardless of the files' permissions.
            guard mkdtemp(&template) != nil else {
                throw FileFailure.error(name, "made")
            }
            let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            if descriptor < 0 { continue }
            // If folders can't be locked, leftovers can't be detected, and stay.
            let isTaken = flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK
            if !isTaken, isAt(path, descriptor) { return (path, descriptor) }
            close(descriptor)
        }
        throw .fileAccess(path: name, "can't be made: the folder \(parent) keeps changing")
    }

    /// Whether a folder still has its name.
    private static func isAt(_ path: String, _ descriptor: Int32) -> Bool {
        var (named, opened) = (stat(), stat())
        return lstat(path, &named) == 0 && fstat(descriptor, &opened) == 0 && named.st_dev == opened.st_dev
            && named.st_ino == opened.st_ino
    }

    /// Removes what interruptions left.
    private static func removeLeftovers(in parent: String) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
        for name in names where name.hasPrefix(prefix) {
            let path = "\(parent)/\(name)"
            let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0, isAt(path, descriptor) {
                try? FileManager.default.removeItem(atPath: path)
            }
            close(descriptor)
        }
    }
}

/// The system's information about a file.
enum FileFailure {
    /// The last error, as one of a file.
    static func error(_ name: String, _ what: String) -> RelataError {
        errno == ENOSPC
            ? .noSpaceLeft(name) : .fileAccess(path: name, "can't be \(what): \(String(cString: strerror(errno)))")
    }
}
