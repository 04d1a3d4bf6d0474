import Foundation
import RelataCore

/// Where the contents of files are kept. What files are called, and what is known of them, is in the database.
///
/// A content is named by its storage, after its bytes: the same bytes are kept once, whatever files have them.
public protocol FileStorage: Sendable {
    /// Keeps a content. Once this returns, a power cut doesn't take it away.
    ///
    /// - Throws: What the stream throws, too. Then nothing is kept.
    func store(_ bytes: ByteStream) async throws -> StoredContent

    /// The bytes of a part of a content; `nil` where there is no such content.
    func read(_ id: String, _ range: Range<Int>) async throws -> ByteStream?

    /// Deletes a content, unless it was stored again since a time: a new file may have it.
    ///
    /// - Returns: Whether it is there no more.
    func delete(_ id: String, unlessStoredSince time: Date) async throws -> Bool
}

/// A content that is kept.
public struct StoredContent: Hashable, Sendable {
    /// The name by which the storage knows it.
    public let id: String
    /// How many bytes it has.
    public let size: Int

    /// A content.
    public init(id: String, size: Int) {
        self.id = id
        self.size = size
    }
}
