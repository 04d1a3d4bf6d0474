#if Server
import Crypto
import Foundation
import RelataCore
import RelataParse

/// Stores contents of files in a folder, named by their SHA-256: `ab/ab34…`.
///
/// ```swift
/// var options = ParseService.Options()
/// options.files = FileOptions(storage: try FolderStorage("library.files"))
/// ```
///
/// A content is written to a temporary file, flushed to the disk, and then renamed, so every named content is complete.
/// Several servers may share a folder.
public struct FolderStorage: FileStorage {
    private let path: String

    /// Contents in a folder, which is created if it doesn't exist; its parent must exist.
    ///
    /// - Throws: `RelataError` if the folder can't be created, or if a content can't be restored whose deletion was
    ///   interrupted.
    public init(_ path: String) throws(RelataError) {
        self.path = URL(fileURLWithPath: path).path
        try Self.makeFolder(self.path)
        try tidy()
    }

    /// The prefixes of contents that are being written, and of those that are being deleted.
    private static let (new, old) = (".new-", ".old-")
    /// The number of bytes that are read at a time.
    private static let pieceSize = 256 * 1024

    // MARK: Storing

    /// Writes a content to the folder, and flushes it to the disk.
    ///
    /// - Throws: The stream's errors; `RelataError.fileAccess` if the folder can't be written.
    public func store(_ bytes: ByteStream) async throws -> StoredContent {
        let draft = "\(path)/\(Self.new)\(UUID().uuidString)"
        do {
            let (id, size) = try await write(bytes, to: draft)
            let folder = try self.folder(of: id)
            // An existing content is replaced by the same bytes, so that its time is the time of this upload.
            guard rename(draft, "\(folder)/\(id)") == 0 else { throw Self.failure(folder, "can't be written") }
            try Self.bringToDisk(folder)
            return StoredContent(id: id, size: size)
        } catch {
            unlink(draft)
            throw error
        }
    }

    /// Checks that the folder can be written, and that its disk has room. Nothing is written: everybody may ask.
    ///
    /// - Throws: `RelataError.fileAccess` if the folder can't be written.
    public func check() async throws {
        guard access(path, W_OK | X_OK) == 0 else { throw Self.failure(path, "can't be written") }
        var disk = statvfs()
        guard statvfs(path, &disk) == 0 else { throw Self.failure(path, "can't be looked at") }
        guard disk.f_bavail > 0 else { throw RelataError.noSpaceLeft(path) }
    }

    private func write(_ bytes: ByteStream, to draft: String) async throws -> (id: String, size: Int) {
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(path, "can't be written") }
        defer { close(descriptor) }
        var digest = SHA256()
        var size = 0
        while let piece = try await bytes.next() {
            try Task.checkCancellation()
            digest.update(data: piece)
            size += piece.count
            try Self.write(piece, to: descriptor, path)
        }
        guard fsync(descriptor) == 0 else { throw Self.failure(path, "can't be written") }
        return (digest.finalize().hexText, size)
    }

    private static func write(_ piece: [UInt8], to descriptor: Int32, _ path: String) throws(RelataError) {
        let isWritten = piece.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
        guard isWritten else { throw failure(path, "can't be written") }
    }

    /// The folder of a content, which is created if it doesn't exist.
    private func folder(of id: String) throws(RelataError) -> String {
        let folder = "\(path)/\(id.prefix(2))"
        try Self.makeFolder(folder)
        return folder
    }

    private static func makeFolder(_ path: String) throws(RelataError) {
        if mkdir(path, 0o700) == 0 {
            return try bringToDisk(URL(fileURLWithPath: path).deletingLastPathComponent().path)
        }
        var status = stat()
        guard errno == EEXIST, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw failure(path, "can't be made a folder for files")
        }
    }

    /// Flushes the names in a folder to the disk.
    private static func bringToDisk(_ folder: String) throws(RelataError) {
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(folder, "can't be opened") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure(folder, "can't be written") }
    }

    private static func failure(_ path: String, _ fact: String) -> RelataError {
        let number = errno
        return number == ENOSPC
            ? .noSpaceLeft(path) : .fileAccess(path: path, "\(fact): \(String(cString: strerror(number)))")
    }

    // MARK: Signing

    /// Signs addresses with HMAC-SHA-256. The key is in the folder, so all servers that use the folder share it.
    ///
    /// - Parameter lifetime: The minimum number of seconds that an address is valid.
    /// - Throws: `RelataError` if the key can't be stored.
    public func signing(lifetime: Double) throws(RelataError) -> FileSigning {
        let key = SymmetricKey(data: try signingKey())
        return FileSigning(lifetime: lifetime) { text in
            Array(HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key))
        }
    }

    private func signingKey() throws(RelataError) -> Data {
        let place = "\(path)/\(Self.keyName)"
        if access(place, F_OK) != 0 {
            let draft = "\(path)/\(Self.new)\(UUID().uuidString)"
            let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw Self.failure(path, "can't be written") }
            defer {
                close(descriptor)
                unlink(draft)
            }
            try Self.write(Array(Data.random(Self.keySize)), to: descriptor, path)
            guard fsync(descriptor) == 0 else { throw Self.failure(path, "can't be written") }
            // If several servers create a key at the same time, all use the first one.
            guard link(draft, place) == 0 || errno == EEXIST else { throw Self.failure(path, "can't be written") }
            try Self.bringToDisk(path)
        }
        guard let key = FileManager.default.contents(atPath: place), key.count == Self.keySize else {
            throw .fileAccess(
                path: place, "isn't a key that signs addresses of files: remove it, and the server makes another")
        }
        return key
    }

    private static let keyName = ".key"
    private static let keySize = 32

    // MARK: Reading

    /// The bytes of a part of a content; `nil` if the folder doesn't have the content.
    ///
    /// - Throws: `RelataError.fileAccess` if the content can't be read.
    public func read(_ id: String, _ range: Range<Int>) async throws -> ByteStream? {
        guard let place = place(of: id) else { return nil }
        let descriptor = open(place, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw Self.failure(path, "can't be read")
        }
        let reader = Reader(FileHandle(fileDescriptor: descriptor, closeOnDealloc: true), range)
        return ByteStream { try await reader.next(Self.pieceSize, path) }
    }

    /// The path of a content; `nil` for an invalid name.
    private func place(of id: String) -> String? {
        let isName = id.utf8.count == 64 && id.utf8.allSatisfy { "0123456789abcdef".utf8.contains($0) }
        return isName ? "\(path)/\(id.prefix(2))/\(id)" : nil
    }

    /// Reads a part of a file, one piece after another.
    private actor Reader {
        private let handle: FileHandle
        private var rest: Range<Int>

        init(_ handle: FileHandle, _ range: Range<Int>) {
            self.handle = handle
            rest = range
        }

        func next(_ size: Int, _ path: String) throws -> [UInt8]? {
            guard !rest.isEmpty else { return nil }
            let wanted = min(size, rest.count)
            var count = 0
            let piece = [UInt8](unsafeUninitializedCapacity: wanted) { buffer, filled in
                repeat {
                    count = pread(handle.fileDescriptor, buffer.baseAddress, wanted, off_t(rest.lowerBound))
                } while count < 0 && errno == EINTR
                filled = max(0, count)
            }
            guard count >= 0 else { throw FolderStorage.failure(path, "holds a content that can't be read") }
            guard count > 0 else {
                throw RelataError.fileAccess(
                    path: path, "holds a content that is too short: restore the folder from a copy")
            }
            rest = (rest.lowerBound + count)..<rest.upperBound
            return piece
        }
    }

    // MARK: Deleting

    /// Deletes a content, unless it was stored again since a time.
    ///
    /// - Returns: Whether the content no longer exists.
    /// - Throws: `RelataError.fileAccess` if the content can't be deleted.
    public func delete(_ id: String, unlessStoredSince time: Date) async throws -> Bool {
        guard let place = place(of: id), let stored = Self.time(of: place) else { return true }
        guard stored < time else { return false }
        // If the content is uploaded at the same time, the upload stores it again, or it is restored below. The name is
        // new: renaming a file onto another link to itself, left by a server that was killed, would do nothing.
        let leaving = "\(path)/\(Self.old)\(id)-\(UUID().uuidString)"
        guard rename(place, leaving) == 0 else {
            if errno == ENOENT { return true }
            throw Self.failure(path, "contains a file that can't be deleted")
        }
        if let stored = Self.time(of: leaving), stored >= time {
            try restore(leaving, as: place)
            return false
        }
        if unlink(leaving) == 0 { return true }
        // A server that started in the meantime has restored it.
        if errno == ENOENT { return false }
        throw Self.failure(path, "holds a content that can't be deleted")
    }

    /// Gives a content its name back.
    ///
    /// - Throws: `RelataError.fileAccess` if that is impossible. Then the content keeps the other name, and the next
    ///   server that starts tries again.
    private func restore(_ leaving: String, as place: String) throws(RelataError) {
        // If there is a file of this name, it has the same content.
        if link(leaving, place) == 0 || errno == EEXIST {
            unlink(leaving)
            return
        }
        let problem = Self.failure(path, "holds a content that can't be restored")
        // Another server may have done this.
        if Self.time(of: leaving) != nil { throw problem }
    }

    /// The time at which a content was stored; `nil` if it doesn't exist.
    private static func time(of place: String) -> Date? {
        var status = stat()
        guard lstat(place, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        return Date(timeIntervalSince1970: Double(time.tv_sec) + Double(time.tv_nsec) / 1e9)
    }

    /// Removes files of interrupted uploads, and restores contents of interrupted deletions. Unused ones are deleted
    /// again later.
    private func tidy() throws(RelataError) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for name in names {
            let place = "\(path)/\(name)"
            if name.hasPrefix(Self.new), let time = Self.time(of: place), time < Date(timeIntervalSinceNow: -86_400) {
                unlink(place)
            } else if name.hasPrefix(Self.old),
                let home = self.place(of: String(name.dropFirst(Self.old.count).prefix(64)))
            {
                try restore(place, as: home)
            }
        }
    }
}
#endif
