#if Server
import Foundation
import RelataCore

/// The keys of a server in a file that only its owner may read, so that the next start has the same keys.
public struct KeyFile: Sendable {
    /// The content of the file.
    private struct Content: Codable {
        var applicationID: String
        var clientKey: String?
        var masterKey: HashedKey?
    }

    /// Chosen keys. Keys that are `nil` are read from the file, or generated.
    public struct Given: Sendable {
        /// The application's id.
        public var applicationID: String?
        /// The client key; empty for none.
        public var clientKey: String?
        /// The master key; empty for none.
        public var masterKey: String?

        /// Creates a set of chosen keys.
        public init(applicationID: String? = nil, clientKey: String? = nil, masterKey: String? = nil) {
            self.applicationID = applicationID
            self.clientKey = clientKey
            self.masterKey = masterKey
        }
    }

    /// The keys.
    public let keys: ServerKeys
    /// The master key, if it was generated just now. It can't be read later.
    public let newMasterKey: String?

    /// Reads the keys, or generates them at the first start.
    ///
    /// - Parameters:
    ///   - path: The file; `nil` to store no keys.
    ///   - given: Keys that replace those in the file. The file is only written if it doesn't exist.
    /// - Throws: `RelataError` for a file that can't be read or written, or that other users can read.
    public init(_ path: String?, given: Given = Given()) throws {
        if let path, FileManager.default.fileExists(atPath: path) {
            let content = try Self.read(path)
            keys = ServerKeys(
                applicationID: given.applicationID ?? content.applicationID,
                clientKey: given.clientKey.map { $0.isEmpty ? nil : $0 } ?? content.clientKey,
                hashedMasterKey: given.masterKey.map { $0.isEmpty ? nil : HashedKey($0) } ?? content.masterKey)
            newMasterKey = nil
            return
        }
        let masterKey = given.masterKey ?? ServerKeys.newKey()
        newMasterKey = given.masterKey == nil ? masterKey : nil
        let clientKey = given.clientKey ?? ServerKeys.newKey()
        keys = ServerKeys(
            applicationID: given.applicationID ?? ServerKeys.newKey(), clientKey: clientKey.isEmpty ? nil : clientKey,
            masterKey: masterKey.isEmpty ? nil : masterKey)
        if let path { try write(path) }
    }

    private static func read(_ path: String) throws -> Content {
        // If the file is a pipe, opening it doesn't wait for a writer.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            throw RelataError.fileAccess(
                path: path, "can't be read: \(String(cString: strerror(errno))): change its permissions")
        }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        // Checks the opened file: the target of a link counts, and can't be exchanged in between.
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw RelataError.fileAccess(path: path, "is no regular file, hence no file of keys")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw RelataError.fileAccess(path: path, "holds keys, and others may read it: chmod 600 it")
        }
        guard let data = try? handle.readToEnd() else {
            throw RelataError.fileAccess(path: path, "can't be read as a file of keys")
        }
        do {
            return try JSONDecoder().decode(Content.self, from: data)
        } catch {
            throw RelataError.fileAccess(path: path, "holds no keys of a server: delete it to have new ones made")
        }
    }

    private func write(_ path: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let content = Content(
            applicationID: keys.applicationID, clientKey: keys.clientKey, masterKey: keys.masterKey)
        let data = try encoder.encode(content)
        // Created with its final mode: other users can't read it at any moment.
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard file >= 0 else {
            throw RelataError.fileAccess(path: path, "can't be made: \(String(cString: strerror(errno)))")
        }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        try handle.write(contentsOf: data)
        try handle.close()
    }
}
#endif
