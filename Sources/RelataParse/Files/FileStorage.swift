import Foundation
import RelataCore

/// A storage for the contents of files. The names of files, and the facts about them, are in the database.
///
/// A content is named by the storage, after its bytes: equal contents are stored once, for any number of files.
public protocol FileStorage: Sendable {
    /// Stores a content. Once this returns, the content survives a power cut.
    ///
    /// - Throws: Also the errors of the stream. Then nothing is stored.
    func store(_ bytes: ByteStream) async throws -> StoredContent

    /// The bytes of a part of a content; `nil` for a content that doesn't exist.
    ///
    /// - Throws: Any error. The request fails with it.
    func read(_ id: String, _ range: Range<Int>) async throws -> ByteStream?

    /// Deletes a content, unless it was stored again since a time: a new file may have it.
    ///
    /// - Returns: Whether the content no longer exists.
    /// - Throws: Any error. The content is deleted later then.
    func delete(_ id: String, unlessStoredSince time: Date) async throws -> Bool

    /// Checks whether contents could be stored, for the health of the server. By default, nothing is done.
    ///
    /// - Throws: The reason why they couldn't.
    func check() async throws
}

extension FileStorage {
    /// Does nothing. Throws nothing.
    public func check() async throws {}
}

/// A stored content.
public struct StoredContent: Hashable, Sendable {
    /// The name of the content in the storage.
    public let id: String
    /// The size of the content, in bytes.
    public let size: Int

    /// A content.
    public init(id: String, size: Int) {
        self.id = id
        self.size = size
    }
}

/// The reason why contents can't be stored or read at the moment.
public struct FileStorageError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault and its remedy, for the log. Clients are told to try again.
    public let description: String

    /// An error.
    public init(_ description: String) { self.description = description }

    /// The error for clients.
    var parseError: ParseError {
        ParseError(
            .internalServerError, "files can't be stored or read at the moment, and nothing was done: try again later",
            status: 503)
    }
}
