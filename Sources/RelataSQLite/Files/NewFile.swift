import Foundation
import RelataCore

/// A file that is made under another name, and gets its own one once it is whole and on the disk. What an interruption leaves
/// can't be taken for the whole.
package final class NewFile {
    /// The file, behind symbolic links.
    package let path: String
    /// What it is called until then, in a folder that only its maker looks into.
    package let part: String
    /// The part, open for writing.
    package let descriptor: Int32
    private let folder: PartFolder
    /// What messages call it.
    private let name: String
    private let replaces: Bool
    /// The file that is as open as this one is to be; `nil` for any new file.
    private let model: FileAccess?
    private var isOpen = true

    /// Makes an empty file.
    ///
    /// - Parameters:
    ///   - replaces: Whether one that is there is replaced; else it is refused.
    ///   - source: The file whose content it gets: whoever may not read that may not read this one. It is as open as the one
    ///     that it replaces, if there is one.
    ///   - folder: Where it is until it has its name, if that is beside it.
    package init(
        _ name: String, replaces: Bool, like source: String? = nil, in folder: PartFolder? = nil
    ) throws(RelataError) {
        self.name = name
        self.replaces = replaces
        path = try Self.check(name, replaces: replaces)
        let parent = URL(fileURLWithPath: path).deletingLastPathComponent().path
        if let folder, folder.parent == parent {
            self.folder = folder
        } else {
            self.folder = try PartFolder(in: parent, for: name)
        }
        part = self.folder.nextName()
        model = FileAccess(of: path) ?? source.flatMap { FileAccess(of: $0) }
        descriptor = open(part, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, model == nil ? 0o666 : 0o600)
        guard descriptor >= 0 else { throw FileFailure.error(name, "made") }
    }

    // The part goes with its folder.
    deinit { if isOpen { close(descriptor) } }

    /// Refuses a place where no file can be made.
    ///
    /// - Returns: The place behind symbolic links.
    @discardableResult
    package static func check(_ name: String, replaces: Bool) throws(RelataError) -> String {
        let path = URL(fileURLWithPath: name).resolvingSymlinksInPath().path
        var status = stat()
        guard stat(path, &status) == 0 else {
            try PartFolder.check(URL(fileURLWithPath: path).deletingLastPathComponent().path, for: name)
            return path
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .fileAccess(path: name, "is no regular file: choose another name")
        }
        guard replaces else { throw taken(name) }
        return path
    }

    private static func taken(_ name: String) -> RelataError {
        .fileAccess(path: name, "exists already, and is left as it is: choose another name, or have it replaced")
    }

    // MARK: Finishing

    /// Has what was written be on the disk. Nothing can be written any more.
    package func complete() throws(RelataError) {
        guard isOpen else { return }
        isOpen = false
        model?.give(to: descriptor)
        let isWritten = fsync(descriptor) == 0
        guard close(descriptor) == 0, isWritten else { throw FileFailure.error(name, "written") }
    }

    /// Gives the file its name.
    ///
    /// - Parameter prepare: Is done directly before, with all else done.
    package func finish(_ prepare: () -> Void = {}) throws(RelataError) {
        try complete()
        prepare()
        if replaces {
            guard rename(part, path) == 0 else { throw FileFailure.error(name, "made") }
        } else {
            try takeName()
        }
        // The name is on the disk, too. There are file systems that can't say so.
        let parent = open(folder.parent, O_RDONLY | O_CLOEXEC)
        if parent >= 0 {
            fsync(parent)
            close(parent)
        }
    }

    /// Gives the file its name unless another one has it, which may have been made meanwhile.
    private func takeName() throws(RelataError) {
        if link(part, path) == 0 { return }
        if errno == EEXIST { throw Self.taken(name) }
        // Some file systems know one name for a file only. The name is taken by an empty file first.
        let claim = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard claim >= 0 else { throw errno == EEXIST ? Self.taken(name) : FileFailure.error(name, "made") }
        close(claim)
        guard rename(part, path) == 0 else {
            let error = FileFailure.error(name, "made")
            unlink(path)
            throw error
        }
    }
}

/// Who may read and write a file.
private struct FileAccess {
    private let mode: mode_t
    private let owner: uid_t
    private let group: gid_t

    /// That of a file; `nil` where there is none.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        (mode, owner, group) = (status.st_mode & 0o777, status.st_uid, status.st_gid)
    }

    /// Gives it to a file that its maker alone may open so far. Where the file can't have the group, that of its maker may do
    /// what all may.
    func give(to descriptor: Int32) {
        let hasGroup = fchown(descriptor, owner, group) == 0 || fchown(descriptor, uid_t.max, group) == 0
        let mode = hasGroup ? self.mode : self.mode & 0o707 | self.mode << 3 & 0o070
        // Who makes it can read and write it, also where the model is a copy that is kept from writing.
        fchmod(descriptor, mode | 0o600)
    }
}
