import Foundation
import RelataCore

/// A file that is written under a temporary name, and renamed once it is complete and on the disk. Leftovers of an
/// interruption can't be mistaken for it.
package final class NewFile {
    /// The file, behind symbolic links.
    package let path: String
    /// Its temporary path, in a private folder.
    package let part: String
    /// The part, open for writing.
    package let descriptor: Int32
    private let folder: PartFolder
    /// The name of the file in messages.
    private let name: String
    private let replaces: Bool
    /// The file whose permissions this one gets; `nil` for the defaults.
    private let model: FileAccess?
    private var isOpen = true

    /// Makes an empty file.
    ///
    /// - Parameters:
    ///   - replaces: Whether an existing file is replaced; otherwise it is refused.
    ///   - source: The source of its content: a user who can't read that can't read this one. It gets the permissions
    ///     of the file that it replaces, if there is one.
    ///   - folder: The folder for the temporary file, if that is beside the final path.
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

    // The temporary file is deleted with its folder.
    deinit { if isOpen { close(descriptor) } }

    /// Refuses a path that can't be created.
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
            throw .fileAccess(path: name, "isn't a regular file: choose another name")
        }
        guard replaces else { throw taken(name) }
        return path
    }

    private static func taken(_ name: String) -> RelataError {
        .fileAccess(path: name, "already exists, and is left unchanged: choose another name, or have it replaced")
    }

    // MARK: Finishing

    /// Flushes the contents to the disk. Nothing can be written any more.
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
        // The name is on the disk, too. Some file systems can't confirm that.
        let parent = open(folder.parent, O_RDONLY | O_CLOEXEC)
        if parent >= 0 {
            fsync(parent)
            close(parent)
        }
    }

    /// Renames the file, unless another one with that name exists, which may have been created in the meantime.
    private func takeName() throws(RelataError) {
        if link(part, path) == 0 { return }
        if errno == EEXIST { throw Self.taken(name) }
        // Some file systems don't support hard links. Then an empty file reserves the name first.
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

/// The permissions of a file.
private struct FileAccess {
    private let mode: mode_t
    private let owner: uid_t
    private let group: gid_t

    /// Those of a file; `nil` for a missing one.
    init?(of path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        (mode, owner, group) = (status.st_mode & 0o777, status.st_uid, status.st_gid)
    }

    /// Applies them to a file that only its creator can open yet. If the file can't have the group, the creator's group
    /// gets the rights of others.
    func give(to descriptor: Int32) {
        let hasGroup = fchown(descriptor, owner, group) == 0 || fchown(descriptor, uid_t.max, group) == 0
        let mode = hasGroup ? self.mode : self.mode & 0o707 | self.mode << 3 & 0o070
        // The creator can read and write it, even if the model is write-protected.
        fchmod(descriptor, mode | 0o600)
    }
}
