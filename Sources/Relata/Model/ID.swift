import Foundation
import RelataCore
import RelataEngine
import Synchronization

/// The key of a model, generated on the device: a UUID of version 7, so that keys sort by the time of their creation.
///
/// The type includes the model: an `ID<Book>` can't be used as an `ID<Author>`.
///
/// ```swift
/// let id = ID<Book>()
/// ```
@frozen
public struct ID<Target>: Hashable, Sendable {
    /// The UUID.
    public let uuid: UUID

    /// A new key.
    public init() { uuid = UUIDVersion7.make() }

    /// The key with that UUID.
    @inlinable public init(_ uuid: UUID) { self.uuid = uuid }

    /// The key of that text; `nil` when it isn't a UUID.
    public init?(_ text: String) {
        guard let uuid = UUID(uuidString: text) else { return nil }
        self.uuid = uuid
    }
}

extension ID: Codable {
    /// Reads the UUID's text.
    public init(from decoder: any Decoder) throws { uuid = try decoder.singleValueContainer().decode(UUID.self) }

    /// Writes the UUID's text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(uuid)
    }
}

extension ID: Comparable, CustomStringConvertible {
    /// Earlier keys are smaller.
    public static func < (lhs: ID, rhs: ID) -> Bool {
        withUnsafeBytes(of: lhs.uuid.uuid) { left in
            withUnsafeBytes(of: rhs.uuid.uuid) { right in left.lexicographicallyPrecedes(right) }
        }
    }

    /// The UUID's text.
    public var description: String { uuid.uuidString.lowercased() }
}

/// A key whose type determines its model: the argument of `fetch(book.id)`. Only `ID` conforms.
public protocol ModelKey<Target>: Hashable, Sendable {
    /// The model of the key.
    associatedtype Target: Model where Target.Key == Self
}

/// The `ID` of any model.
///
/// Of two functions the compiler takes the one with fewer errors. A query lacks all requirements of this protocol: so a
/// mistake in a closure beside it, as in `update(Book.all) { $0.titel.set(to: "") }`, is reported as such, and not as a
/// query that isn't an `ID`.
public typealias AnyModelID = ModelKey & Comparable & CustomStringConvertible & Codable & AttributeValue

extension ID: ModelKey where Target: Model, Target.Key == ID<Target> {}

extension ID: EntityKey {
    package static var keyedEntity: String? { (Target.self as? any Model.Type)?.entityName }
}

extension ID: AttributeValue {
    /// Its value in a predicate given as text: the object with this key.
    public var predicateArgument: PredicateArgument {
        let value = PredicateArgument.value(databaseValue)
        return Self.keyedEntity.map { .ofEntity($0, value) } ?? value
    }
    /// The type that a column stores it as.
    public static var attributeType: AttributeType { .uuid(.blob) }
    /// The value as its column stores it.
    public var databaseValue: Value { .uuid(uuid) }
    /// Reads a stored value; `nil` for an invalid one.
    public init?(databaseValue: Value) {
        guard let uuid = UUID(databaseValue: databaseValue) else { return nil }
        self.uuid = uuid
    }

    /// Reads the current row's column.
    ///
    /// - Throws: ``RelataError/corruptStore(_:)`` for a value that isn't a UUID.
    @inlinable
    public static func read(_ column: ColumnValue) throws(RelataError) -> ID {
        ID(try UUID.read(column))
    }

    /// Binds the value to a parameter.
    ///
    /// - Throws: ``RelataError`` if the statement refuses it.
    @inlinable
    public func bind(to parameter: StatementParameter) throws(RelataError) { try uuid.bind(to: parameter) }
}

/// The coding of a key that `@Attribute(.text)` stores as text.
@_documentation(visibility: internal)
@inlinable
public func coding<Target>(of type: ID<Target>.Type, as encoding: UUIDTextEncoding) -> IDTextCoding<Target> {
    IDTextCoding()
}

/// The coding of an optional key.
@_documentation(visibility: internal)
@inlinable
public func coding<Target>(
    of type: ID<Target>?.Type, as encoding: UUIDTextEncoding
) -> OptionalCoding<IDTextCoding<Target>> { OptionalCoding(IDTextCoding()) }

/// A key as text.
@_documentation(visibility: internal)
@frozen
public struct IDTextCoding<Target>: StorableCoding {
    @inlinable init() {}
    /// The attribute's type, and how the column stores it.
    public var type: AttributeType { .uuid(.text) }
    /// The value as the column stores it.
    public func encode(_ value: ID<Target>) throws(RelataError) -> RelataCore.Value { .text(value.description) }
    /// A stored value as the property's type.
    public func decode(_ value: RelataCore.Value) throws(RelataError) -> ID<Target> {
        ID(try UUIDTextCoding().decode(value))
    }
}

/// Makes UUIDs of version 7 (RFC 9562): milliseconds, a counter that keeps those of one millisecond in order, and
/// randomness.
enum UUIDVersion7 {
    private struct State {
        var milliseconds: UInt64 = 0
        var counter: UInt64 = 0
        /// Random numbers fetched ahead: a call of the system for each key would cost more than the rest.
        var random: [UInt64] = []
    }

    private static let state = Mutex(State())

    static func make() -> UUID {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let milliseconds = UInt64(now.tv_sec) * 1000 + UInt64(now.tv_nsec) / 1_000_000
        let (high, low) = state.withLock { state -> (UInt64, UInt64) in
            if state.random.isEmpty {
                var generator = SystemRandomNumberGenerator()
                state.random = (0..<256).map { _ in generator.next() }
            }
            let random = state.random.removeLast()
            if milliseconds > state.milliseconds {
                state.milliseconds = milliseconds
                state.counter = random & 0x3ff  // starts low, to leave room within the millisecond
            } else {
                state.counter += 1
                if state.counter > 0xfff {
                    state.milliseconds += 1
                    state.counter = 0
                }
            }
            return (
                state.milliseconds << 16 | 0x7000 | state.counter,
                random & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
            )
        }
        return UUID(uuid: unsafeBitCast((high.bigEndian, low.bigEndian), to: uuid_t.self))
    }
}
