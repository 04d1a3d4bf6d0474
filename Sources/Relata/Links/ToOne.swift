import RelataCore
import RelataEngine
import Synchronization

/// A link to one object: a foreign key of the model that declares it.
///
/// It always has the key, so that ``id`` needs no load, and the object if it was loaded or given. Optional or not by
/// its type: `var genre: ToOne<Genre>?`, `var series: ToOne<Series>`.
///
/// ```swift
/// book.genre = ToOne(fantasy)          // an object; inserted with the book if it is new
/// book.genre = ToOne(id: fantasy.id)   // or only its key
/// book.genre = nil
/// ```
@frozen
public struct ToOne<Target: Model>: Sendable {
    @usableFromInline let key: Target.Key?
    @usableFromInline let box: LinkedObject<Target>?
    /// The reason why there is no object, if the link was loaded and found none.
    @usableFromInline let absence: Absence?

    /// The key in its stored form.
    @usableFromInline var ownKey: StoredKey<Target>? { key.map { StoredKey($0) } }

    @inlinable
    init(key: Target.Key?, box: LinkedObject<Target>?, absence: Absence? = nil) {
        self.key = key
        self.box = box
        self.absence = absence
    }

    /// A link to an object, stored or new.
    public init(_ object: Target) {
        self.init(key: object.primaryKey, box: LinkedObject(object))
    }

    /// A link to an object as a save gives it back.
    @usableFromInline
    init(saved object: Target) {
        self.init(key: object.primaryKey, box: LinkedObject(object, isConfirmed: true))
    }

    /// A link to the object with that key.
    @inlinable
    public init(id: Target.Key) { self.init(key: id, box: nil) }

    /// A link to the object with that key, which may not be assigned yet: without a key it is ``unset``.
    @inlinable
    @_disfavoredOverload
    public init(id: Target.Key?) { self.init(key: id, box: nil) }

    /// No link yet, for a required reference that the inverse list sets: `setlist.items.add(SetlistItem(…))`. Saving it
    /// alone is an error.
    public static var unset: ToOne { ToOne(key: nil, box: nil) }

    /// The target's key, whether the object is loaded or not. `nil` only while the target is new and waits for the
    /// database to assign its key, or the link is ``unset``.
    public var id: Target.Key? { key }

    /// Whether the link was loaded, or made from an object. A loaded link may have no object if the reference may
    /// dangle, or the include has a condition.
    public var isLoaded: Bool { box != nil || absence != nil }

    /// The object.
    ///
    /// - Throws: ``RelataError/notLoaded(entity:property:)`` if it isn't loaded, ``RelataError/notFound(_:)`` if it was
    ///   loaded and the reference dangles, ``RelataError/excluded(_:)`` if it was loaded with a condition that the
    ///   object doesn't meet.
    public var object: Target {
        get throws {
            if let box { return box.value }
            guard let absence, let key else {
                throw RelataError.notLoaded(entity: Target.entityName, property: "to-one")
            }
            let object = ObjectReference(entity: Target.entityName, key: try Target.keyValue(key))
            switch absence {
            case .missing: throw RelataError.notFound(object)
            case .excluded: throw RelataError.excluded(object)
            }
        }
    }

    /// The object if it is loaded, else `nil`: for key paths and user interfaces.
    public var loaded: Target? { box?.value }
}

/// The reason why a loaded to-one has no object.
@frozen @usableFromInline
enum Absence: Sendable {
    /// The reference dangles.
    case missing
    /// The include had a condition.
    case excluded
}

/// Keeps a linked object out of line: a model may link to its own type.
@usableFromInline
final class LinkedObject<Target: Model>: Sendable {
    @usableFromInline let value: Target
    /// Whether it was read from the store: a save needn't check that it exists.
    @usableFromInline let isStored: Bool
    /// Whether a save has stored the value, or found it stored. It may have been changed or deleted since; but the link
    /// itself carries no change.
    private let confirmation: Atomic<Bool>

    init(_ value: Target, isStored: Bool = false, isConfirmed: Bool = false) {
        self.value = value
        self.isStored = isStored
        confirmation = Atomic(isConfirmed)
    }

    @usableFromInline var isConfirmed: Bool { confirmation.load(ordering: .relaxed) }

    /// Records that a save has stored the value, or found it stored.
    func confirm() { confirmation.store(true, ordering: .relaxed) }
}

extension ToOne: Hashable {
    /// Links with equal contents are equal: the key, and the loaded object.
    public static func == (lhs: ToOne, rhs: ToOne) -> Bool {
        guard lhs.ownKey == rhs.ownKey, lhs.absence == rhs.absence else { return false }
        return lhs.box === rhs.box || lhs.box?.value == rhs.box?.value
    }

    /// Hashes the key.
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension ToOne: CustomStringConvertible {
    /// The object if it is loaded, else the key.
    public var description: String {
        box.map { "\($0.value)" } ?? "\(Target.entityName) \(key.map { "\($0)" } ?? "(no key yet)")"
    }
}

extension ToOne: Encodable where Target.Key: Encodable {
    /// Writes the object if it is loaded and `Encodable`, else the key.
    public func encode(to encoder: any Encoder) throws {
        if let object = box?.value as? any Encodable { return try object.encode(to: encoder) }
        var container = encoder.singleValueContainer()
        try container.encode(key)
    }
}

extension ToOne: Decodable where Target.Key: Decodable {
    /// Reads a key, or an object if the target is `Decodable`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let type = Target.self as? any Decodable.Type {
            do {
                if let object = try container.decode(type) as? Target {
                    self.init(object)
                    return
                }
            } catch {
                guard Self.mayBeKey(error, decoder, container) else { throw error }
            }
        }
        self.init(id: try container.decode(Target.Key.self))
    }

    /// Whether a value that can't be decoded as an object is read as a key: it has nothing of an object, or only the
    /// parts of a compound key.
    private static func mayBeKey(
        _ error: any Error, _ decoder: any Decoder, _ container: any SingleValueDecodingContainer
    ) -> Bool {
        switch error {
        case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context):
            context.codingPath.count == decoder.codingPath.count
        case DecodingError.keyNotFound: (try? container.decode(Target.Key.self)) != nil
        default: false
        }
    }
}

extension ToOne: PredicateArgumentConvertible {
    /// The target's key.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a new object without a key.
    public var predicateArgument: PredicateArgument {
        get throws {
            guard key != nil || box != nil else { return .value(.null) }
            return .ofEntity(Target.entityName, .key(try Target.keyValue(Target.given(key))))
        }
    }
}
