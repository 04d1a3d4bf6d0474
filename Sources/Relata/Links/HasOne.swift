/// The inverse of a one-to-one: its key is stored in the target's row.
///
/// It is empty until it is loaded. Setting it moves the target's key here with the next save, and takes it from its
/// former owner.
///
/// ```swift
/// @Model struct Episode {
///     let id: ID<Episode>
///     @Relationship(inverse: \History.episode) var history: HasOne<History>
/// }
/// episode.history.set(History(progress: 0.5))
/// ```
@frozen
public struct HasOne<Target: Model>: Sendable, Equatable {
    @usableFromInline var link: ToMany<Target>

    /// A link that isn't loaded.
    @inlinable
    public init() { link = ToMany() }

    /// A link to that object, new or stored.
    public init(_ object: Target) { link = ToMany([object]) }

    @inlinable
    init(loaded: Target?) { link = ToMany(loaded: loaded.map { [$0] } ?? []) }

    /// Whether the object, or its absence, is known.
    public var isLoaded: Bool { link.isLoaded }

    /// The object, or `nil` if there is none.
    ///
    /// - Throws: ``RelataError/notLoaded(entity:property:)`` if it isn't loaded.
    public var object: Target? {
        get throws {
            guard let content = link.content else {
                throw RelataError.notLoaded(entity: Target.entityName, property: "has-one")
            }
            return content.first
        }
    }

    /// The object if it is loaded and there is one: for key paths and user interfaces.
    public var loaded: Target? { link.content?.first }

    /// Whether there are unsaved edits.
    public var hasEdits: Bool { link.hasEdits }

    /// Makes a new or stored object the partner; `nil` for none. The former partner's reference becomes unset.
    public mutating func set(_ object: Target?) { link.set(object.map { [$0] } ?? []) }

    /// Makes the object with that key the partner.
    public mutating func set(id: Target.Key) { link.set(ids: [id]) }
}

extension HasOne: Encodable where Target: Encodable {
    /// Writes the object if it is loaded, else `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(loaded)
    }
}

extension HasOne: Decodable where Target: Decodable {
    /// Reads an object as a loaded one; `null` as a link that isn't loaded.
    public init(from decoder: any Decoder) throws {
        let object = try decoder.singleValueContainer().decode(Target?.self)
        self = object.map { HasOne(loaded: $0) } ?? HasOne()
    }
}
