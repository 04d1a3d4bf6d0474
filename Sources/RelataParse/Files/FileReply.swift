import RelataCore

/// A file, or a part of it, in a reply.
public struct FileReply: Hashable, Sendable {
    /// The media type of the content.
    public let contentType: String
    /// The number of bytes.
    public let size: Int
    /// The bytes.
    public let bytes: ByteStream

    /// Whether both are equal, without comparing bytes that would have to be read.
    public static func == (left: FileReply, right: FileReply) -> Bool {
        left.contentType == right.contentType && left.size == right.size
    }

    /// Hashes the properties that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(contentType)
        hasher.combine(size)
    }
}
