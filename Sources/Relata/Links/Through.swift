/// A read-only link through a join model: the targets of its objects, one for each of them, in their order.
///
/// ```swift
/// @Relationship(through: \Setlist.items, \SetlistItem.song) var songs: Through<Song>
/// ```
@frozen
public struct Through<Target: Model>: Sendable, Equatable {
    @usableFromInline let content: [Target]?

    /// A link that isn't loaded.
    @inlinable
    public init() { content = nil }

    @inlinable
    init(loaded: [Target]) { content = loaded }

    /// Whether the objects are here.
    public var isLoaded: Bool { content != nil }

    /// The objects; an object that is linked twice is included twice.
    ///
    /// - Throws: ``RelataError/notLoaded(entity:property:)`` if they aren't loaded.
    public var objects: [Target] {
        get throws {
            guard let content else { throw RelataError.notLoaded(entity: Target.entityName, property: "through") }
            return content
        }
    }

    /// The objects if they are loaded, else `nil`: for key paths and user interfaces.
    public var loaded: [Target]? { content }
}

extension Through: Encodable where Target: Encodable {
    /// Writes the objects if they are loaded, else `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(content)
    }
}

extension Through: Decodable where Target: Decodable {
    /// Reads objects as loaded ones; `null` as a link that isn't loaded.
    public init(from decoder: any Decoder) throws {
        let objects = try decoder.singleValueContainer().decode([Target]?.self)
        self = objects.map { Through(loaded: $0) } ?? Through()
    }
}
