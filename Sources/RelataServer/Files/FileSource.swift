#if Server
import Crypto
import Foundation
import RelataCore
import RelataParse

/// A source of files.
protocol FileSource: Sendable {
    /// The file at a path. No name is empty, begins with a dot or contains a slash.
    func find(_ names: [String]) -> FoundFile.Place
}

/// A file that may be read.
struct FoundFile {
    /// The target of a path.
    enum Place {
        case nothing
        case folder
        case file(FoundFile)
    }

    let size: Int
    /// The weak validator of this version. It is weak because the file may be sent compressed or not.
    let tag: String
    /// The bytes, at most `size`; `nil` if they can't be read.
    let read: () -> [UInt8]?
}

/// Files in memory.
struct MemorySource: FileSource {
    private struct Entry {
        let bytes: [UInt8]
        let tag: String
    }

    private let entries: [String: Entry]
    private let folders: Set<String>

    /// - Parameter files: The files by their paths.
    init(_ files: [String: [UInt8]]) {
        var (entries, folders): ([String: Entry], Set<String>) = ([:], [""])
        for (path, bytes) in files {
            let names = path.split(separator: "/")
            for count in names.indices { folders.insert(names[..<count].joined(separator: "/")) }
            let digest = SHA256.hash(data: bytes).prefix(16).hexText
            entries[names.joined(separator: "/")] = Entry(bytes: bytes, tag: "W/\"\(digest)\"")
        }
        (self.entries, self.folders) = (entries, folders)
    }

    func find(_ names: [String]) -> FoundFile.Place {
        let path = names.joined(separator: "/")
        if let entry = entries[path] {
            return .file(FoundFile(size: entry.bytes.count, tag: entry.tag) { entry.bytes })
        }
        return folders.contains(path) ? .folder : .nothing
    }
}

/// The files of a folder.
struct FolderSource: FileSource {
    private let path: String

    /// - Throws: `RelataError` if the folder doesn't exist.
    init(_ path: String) throws(RelataError) {
        self.path = URL(fileURLWithPath: path).path
        var isFolder = ObjCBool(false)
        guard FileManager.default.fileExists(atPath: self.path, isDirectory: &isFolder), isFolder.boolValue else {
            throw .fileAccess(path: path, "isn't a folder, so its files can't be served")
        }
    }

    /// Opens one folder after another, and follows no links, so concurrent changes can't lead out of the folder.
    func find(_ names: [String]) -> FoundFile.Place {
        guard var handle = Self.handle(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) else { return .nothing }
        for name in names {
            // Opening a pipe would wait for a writer.
            let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
            guard let next = Self.handle(openat(handle.fileDescriptor, name, flags)) else { return .nothing }
            handle = next
        }
        var status = stat()
        guard fstat(handle.fileDescriptor, &status) == 0 else { return .nothing }
        switch status.st_mode & S_IFMT {
        case S_IFDIR: return .folder
        case S_IFREG: return .file(Self.file(handle, status))
        default: return .nothing
        }
    }

    /// An open file, which is closed when the handle is released.
    private static func handle(_ descriptor: Int32) -> FileHandle? {
        descriptor < 0 ? nil : FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func file(_ handle: FileHandle, _ status: stat) -> FoundFile {
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        let size = Int(status.st_size)
        let numbers = [Int(truncatingIfNeeded: status.st_ino), time.tv_sec, Int(time.tv_nsec), size]
        let tag = numbers.map { String($0, radix: 16) }.joined(separator: "-")
        return FoundFile(size: size, tag: "W/\"\(tag)\"") {
            guard size > 0 else { return [] }
            return (try? handle.read(upToCount: size)).map { Array($0) }
        }
    }
}
#endif
