import RelataCore

/// A file that is about to be stored, read or deleted, or that has been.
public struct CloudFile: Sendable {
    /// The name. Before the file is stored, it is the client's, with the extension of the type, and can be changed.
    /// Later it is the server's, by which objects refer to the file.
    public var name: String
    /// The metadata, which can be changed before the file is stored.
    public var metadata: JSONObject
    /// The tags, which can be changed before the file is stored.
    public var tags: JSONObject
    /// The address for clients; `nil` before the file is stored.
    public let url: String?
    /// The number of bytes.
    public var size: Int { content.size }
    /// The type that clients get with the file, by the extension of its name.
    public var contentType: String { ContentType.of(name) }

    var content: StoredContent
    let storage: any FileStorage
    /// The bytes that a hook wants instead.
    var replacement: ByteStream?

    init(_ file: StoredFile, named name: String? = nil, at url: String? = nil, in storage: any FileStorage) {
        self.name = name ?? file.name
        (metadata, tags, content) = (file.metadata, file.tags, file.content)
        self.url = url
        self.storage = storage
    }

    /// Reads the bytes, or a range of them. They arrive in pieces, so a large file takes little memory.
    ///
    /// - Throws: ``ParseError`` 101 if the bytes don't exist any more, and the errors of the ``FileStorage``.
    public func bytes(_ range: Range<Int>? = nil) async throws -> ByteStream {
        let part = (range ?? 0..<size).clamped(to: 0..<size)
        if part.isEmpty { return ByteStream([]) }
        guard let bytes = try await storage.read(content.id, part) else { throw ParseError.noSuchFile }
        return bytes
    }

    /// Stores other bytes instead, before the file is stored. They are read when the hook has returned, up to the size
    /// that a file may have. The next hook sees them.
    public mutating func replaceBytes(with bytes: ByteStream) { replacement = bytes }
}

/// A file that a request reads, before its content is sent.
public struct CloudDownload: Sendable {
    /// The file.
    public let file: CloudFile
    /// Whether browsers save the file instead of displaying it. At first, that depends on ``FileOptions/inlineTypes``.
    public var isAttachment: Bool
}

/// The hooks of files.
struct FileHooks: Sendable {
    var beforeSave: [@Sendable (inout CloudFile, CloudCall) async throws -> Void] = []
    var afterSave: [@Sendable (CloudFile, CloudCall) async -> Void] = []
    var beforeDelete: [@Sendable (CloudFile, CloudCall) async throws -> Void] = []
    var afterDelete: [@Sendable (CloudFile, CloudCall) async -> Void] = []
    var beforeFind: [@Sendable (CloudFile, CloudCall) async throws -> Void] = []
    var afterFind: [@Sendable (inout CloudDownload, CloudCall) async throws -> Void] = []

    /// Whether a closure answers a trigger.
    func answers(_ trigger: Trigger) -> Bool {
        switch trigger {
        case .beforeSave: !beforeSave.isEmpty
        case .afterSave: !afterSave.isEmpty
        case .beforeDelete: !beforeDelete.isEmpty
        case .afterDelete: !afterDelete.isEmpty
        case .beforeFind: !beforeFind.isEmpty
        case .afterFind: !afterFind.isEmpty
        default: false
        }
    }
}

extension CloudCode {
    /// Calls `body` with each file that a client uploads, once its bytes have arrived. `body` may change the name, the
    /// metadata, the tags and the bytes. Its error refuses the upload, as in a function.
    public mutating func beforeSaveFile(
        _ body: @escaping @Sendable (inout CloudFile, CloudCall) async throws -> Void
    ) {
        files.beforeSave.append(body)
    }

    /// Calls `body` with each file that a client has uploaded. The reply is sent afterwards.
    public mutating func afterSaveFile(_ body: @escaping @Sendable (CloudFile, CloudCall) async -> Void) {
        files.afterSave.append(body)
    }

    /// Calls `body` with each file that a request is about to delete. Its error refuses the deletion, as in a function.
    /// Files that the server deletes because no object refers to them any more don't call it.
    public mutating func beforeDeleteFile(_ body: @escaping @Sendable (CloudFile, CloudCall) async throws -> Void) {
        files.beforeDelete.append(body)
    }

    /// Calls `body` with each file that a request has deleted. Its bytes can't be read any more. The reply is sent
    /// afterwards.
    public mutating func afterDeleteFile(_ body: @escaping @Sendable (CloudFile, CloudCall) async -> Void) {
        files.afterDelete.append(body)
    }

    /// Calls `body` with each file that a request is about to read, also a part of it, or its metadata. Its error
    /// refuses the request, as in a function. A file that doesn't exist doesn't call it.
    ///
    /// Most requests for files have no session and no keys, because browsers don't send them. The call then has no user.
    public mutating func beforeFindFile(_ body: @escaping @Sendable (CloudFile, CloudCall) async throws -> Void) {
        files.beforeFind.append(body)
    }

    /// Calls `body` with each file that a request reads, also a part of it, before the first byte of the reply is sent.
    /// `body` may decide whether browsers save the file. Its error refuses the request, as in a function.
    ///
    /// It isn't called for metadata. It is called if the client has the file already, and only asks whether it changed.
    public mutating func afterFindFile(
        _ body: @escaping @Sendable (inout CloudDownload, CloudCall) async throws -> Void
    ) {
        files.afterFind.append(body)
    }
}
