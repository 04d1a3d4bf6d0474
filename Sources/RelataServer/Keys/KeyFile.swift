#if Server
import Foundation
import RelataCore
import RelataParse

/// The keys of a server in a file that only its owner may read, so that the next start has the same keys.
///
/// The file is JSON. The keys that are secrets are there by their hashes; one that a person writes as text is taken as
/// well.
public struct KeyFile: Sendable {
    /// The content of the file.
    private struct Content: Codable {
        var applicationID: String
        var clientKey: String?
        var restAPIKey: String?
        var javaScriptKey: String?
        var dotNetKey: String?
        var masterKey: WrittenKey?
        var readOnlyMasterKey: WrittenKey?
        var maintenanceKey: WrittenKey?
    }

    /// A secret key in the file.
    private struct WrittenKey: Codable {
        let hash: HashedKey
        /// The key itself, if a person wrote it.
        private(set) var text: String?

        init(_ key: String) { hash = HashedKey(key) }

        init(from decoder: any Decoder) throws {
            hash = try HashedKey(from: decoder)
            text = try? decoder.singleValueContainer().decode(String.self)
        }

        func encode(to encoder: any Encoder) throws { try hash.encode(to: encoder) }
    }

    /// Chosen keys. Keys that are `nil` are read from the file, or generated.
    public struct Given: Sendable {
        /// The application's id.
        public var applicationID: String?
        /// The client key; empty for none.
        public var clientKey: String?
        /// The key of programs that call the REST API themselves; empty for none.
        public var restAPIKey: String?
        /// The key of web pages; empty for none.
        public var javaScriptKey: String?
        /// The key of programs on .NET; empty for none.
        public var dotNetKey: String?
        /// The master key; empty for none.
        public var masterKey: String?
        /// The master key that only reads; empty for none.
        public var readOnlyMasterKey: String?
        /// The maintenance key; empty for none.
        public var maintenanceKey: String?
        /// The addresses that may use the master key; `nil` for all.
        public var masterKeyAddresses: AddressRanges?
        /// The addresses that may use the read-only master key; `nil` for all.
        public var readOnlyMasterKeyAddresses: AddressRanges?
        /// The addresses that may use the maintenance key; `nil` for this machine.
        public var maintenanceKeyAddresses: AddressRanges?

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
    /// The bytes that were read or written; `nil` without a file.
    let bytes: Data?

    /// Reads the keys, or generates them at the first start.
    ///
    /// - Parameters:
    ///   - path: The file; `nil` to store none.
    ///   - given: Keys that replace those in the file. The file itself is only written if it doesn't exist.
    /// - Throws: `RelataError` for a file that can't be read or written, or that others may read; for two keys of
    ///   different rights that are equal.
    public init(_ path: String?, given: Given = Given()) throws {
        if let path, FileManager.default.fileExists(atPath: path) {
            try self.init(existing: path, given: given)
            return
        }
        let masterKey = given.masterKey ?? ServerKeys.newKey()
        let clientKey = given.clientKey ?? ServerKeys.newKey()
        var content = Content(applicationID: given.applicationID ?? ServerKeys.newKey())
        content.clientKey = clientKey.isEmpty ? nil : clientKey
        content.masterKey = masterKey.isEmpty ? nil : WrittenKey(masterKey)
        let keys = try Self.keys(content, given)
        self.init(
            keys: keys, newMasterKey: given.masterKey == nil ? masterKey : nil,
            bytes: try path.map { try Self.create($0, content) })
    }

    private init(keys: ServerKeys, newMasterKey: String?, bytes: Data?) {
        self.keys = keys
        self.newMasterKey = newMasterKey
        self.bytes = bytes
    }

    /// Reads the keys of a file that exists.
    ///
    /// - Throws: The errors of ``init(_:given:)``.
    init(existing path: String, given: Given) throws {
        let (content, bytes) = try Self.read(path)
        self.init(keys: try Self.keys(content, given), newMasterKey: nil, bytes: bytes)
    }

    /// Replaces a key in a key file with a new one, as `relata keys rotate` does. A running server takes the new key
    /// over.
    ///
    /// - Returns: The new key, which can't be read later.
    /// - Throws: `RelataError` for a file that can't be read or written, or that others may read.
    public static func rotate(_ path: String, _ privilege: ParseKeys.Privilege = .master) throws
        -> String
    {
        var content = try read(path).content
        let key = ServerKeys.newKey()
        switch privilege {
        case .master: content.masterKey = WrittenKey(key)
        case .readOnlyMaster: content.readOnlyMasterKey = WrittenKey(key)
        case .maintenance: content.maintenanceKey = WrittenKey(key)
        }
        // The target of a link is replaced, not the link.
        let target = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
        let new = "\(target).\(ServerKeys.newKey().prefix(8)).new"
        var status = stat()
        guard stat(target, &status) == 0 else { throw RelataError.fileAccess(path: path, "no longer exists") }
        _ = try create(new, content)
        // If root replaces the file, the server's user must still be able to read it.
        guard status.st_uid == geteuid() || chown(new, status.st_uid, status.st_gid) == 0,
            rename(new, target) == 0
        else {
            let reason = String(cString: strerror(errno))
            unlink(new)
            throw RelataError.fileAccess(path: path, "can't be replaced: \(reason)")
        }
        return key
    }

    private static func keys(_ content: Content, _ given: Given) throws(RelataError) -> ServerKeys {
        func chosen(_ given: String?, _ kept: String?) -> String? {
            given.map { $0.isEmpty ? nil : $0 } ?? kept
        }
        func hashed(_ given: String?, _ kept: WrittenKey?) -> HashedKey? {
            given.map { $0.isEmpty ? nil : HashedKey(inMemory: $0) } ?? kept?.hash
        }
        var keys = ServerKeys(applicationID: given.applicationID ?? content.applicationID)
        keys.clientKey = chosen(given.clientKey, content.clientKey)
        keys.restAPIKey = chosen(given.restAPIKey, content.restAPIKey)
        keys.javaScriptKey = chosen(given.javaScriptKey, content.javaScriptKey)
        keys.dotNetKey = chosen(given.dotNetKey, content.dotNetKey)
        keys.masterKey = hashed(given.masterKey, content.masterKey)
        keys.readOnlyMasterKey = hashed(given.readOnlyMasterKey, content.readOnlyMasterKey)
        keys.maintenanceKey = hashed(given.maintenanceKey, content.maintenanceKey)
        if let ranges = given.masterKeyAddresses { keys.masterKeyAddresses = ranges }
        if let ranges = given.readOnlyMasterKeyAddresses { keys.readOnlyMasterKeyAddresses = ranges }
        if let ranges = given.maintenanceKeyAddresses { keys.maintenanceKeyAddresses = ranges }
        try keys.checkDifferent(knowing: [
            .master: given.masterKey ?? content.masterKey?.text,
            .readOnlyMaster: given.readOnlyMasterKey ?? content.readOnlyMasterKey?.text,
            .maintenance: given.maintenanceKey ?? content.maintenanceKey?.text,
        ])
        return keys
    }

    private static func read(_ path: String) throws -> (content: Content, bytes: Data) {
        // Opening a pipe must not block.
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard file >= 0 else {
            throw RelataError.fileAccess(
                path: path, "can't be read: \(String(cString: strerror(errno))): change its permissions")
        }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        // Checks the opened file: the target of a link counts, and can't be exchanged in between.
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw RelataError.fileAccess(path: path, "isn't a regular file, so it can't contain keys")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw RelataError.fileAccess(path: path, "contains keys, and others can read it: run chmod 600 on it")
        }
        guard let data = try? handle.readToEnd() else {
            throw RelataError.fileAccess(path: path, "can't be read as a key file")
        }
        do {
            return (try JSONDecoder().decode(Content.self, from: data), data)
        } catch {
            throw RelataError.fileAccess(path: path, "contains no keys of a server: delete it to have new ones made")
        }
    }

    /// Creates the file.
    ///
    /// - Returns: Its bytes.
    private static func create(_ path: String, _ content: Content) throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        let data = try encoder.encode(content)
        // Created with its final mode: other users can't read it at any moment.
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
        guard file >= 0 else {
            throw RelataError.fileAccess(path: path, "can't be made: \(String(cString: strerror(errno)))")
        }
        let handle = FileHandle(fileDescriptor: file, closeOnDealloc: true)
        try handle.write(contentsOf: data)
        try handle.synchronize()
        try handle.close()
        return data
    }
}
#endif
