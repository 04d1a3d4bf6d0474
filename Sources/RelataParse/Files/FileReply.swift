import RelataCore

/// A file, or a part of one, as it is sent.
public struct FileReply: Hashable, Sendable {
    /// The media type of the content.
    public let contentType: String
    /// How many bytes are sent.
    public let size: Int
    /// The bytes.
    public let bytes: ByteStream

    /// Whether both are equal, as far as that can be decided without reading them.
    public static func == (left: FileReply, right: FileReply) -> Bool {
        left.contentType == right.contentType && left.size == right.size
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(contentType)
        hasher.combine(size)
    }
}
