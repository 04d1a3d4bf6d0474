import Foundation
import RelataCore

// The coding of a property's type. Overload resolution picks, at compile time and in this order: a type that is an
// `AttributeValue`, one with a raw value, any `Codable` one; anything else is refused with a message. A defaulted
// parameter ranks an overload lower, `@_disfavoredOverload` lower still.

/// The coding of a type that a column stores directly.
@_documentation(visibility: internal)
@inlinable
public func coding<Value: AttributeValue>(of type: Value.Type) -> PlainCoding<Value> { PlainCoding() }

/// The coding of an optional value of such a type.
@_documentation(visibility: internal)
@inlinable
public func coding<Value: AttributeValue>(of type: Value?.Type) -> OptionalCoding<PlainCoding<Value>> {
    OptionalCoding(PlainCoding())
}

/// The coding of an enum, stored as its raw value.
@_documentation(visibility: internal)
@inlinable
public func coding<Value: RawRepresentable & Sendable>(
    of type: Value.Type, byRawValue: Void = ()
) -> RawValueCoding<Value> where Value.RawValue: AttributeValue { RawValueCoding() }

/// The coding of an enum that may be unset.
@_documentation(visibility: internal)
@inlinable
public func coding<Value: RawRepresentable & Sendable>(
    of type: Value?.Type, byRawValue: Void = ()
) -> OptionalCoding<RawValueCoding<Value>> where Value.RawValue: AttributeValue { OptionalCoding(RawValueCoding()) }

/// The coding of any `Codable` type: JSON.
@_documentation(visibility: internal)
@inlinable @_disfavoredOverload
public func coding<Value: Codable & Sendable>(of type: Value.Type) -> JSONCoding<Value> { JSONCoding() }

/// The coding of any `Codable` type that may be unset.
@_documentation(visibility: internal)
@inlinable @_disfavoredOverload
public func coding<Value: Codable & Sendable>(of type: Value?.Type) -> OptionalCoding<JSONCoding<Value>> {
    OptionalCoding(JSONCoding())
}

/// The coding of a set: JSON with sorted elements.
@_documentation(visibility: internal)
@inlinable
public func coding<Element: Codable & Hashable & Sendable>(of type: Set<Element>.Type) -> JSONSetCoding<Element> {
    JSONSetCoding()
}

/// The coding of a set that may be unset.
@_documentation(visibility: internal)
@inlinable
public func coding<Element: Codable & Hashable & Sendable>(
    of type: Set<Element>?.Type
) -> OptionalCoding<JSONSetCoding<Element>> { OptionalCoding(JSONSetCoding()) }

/// The coding of a dictionary: JSON with sorted members.
@_documentation(visibility: internal)
@inlinable
public func coding<Key: Codable & Hashable & Sendable, Element: Codable & Sendable>(
    of type: [Key: Element].Type
) -> JSONDictionaryCoding<Key, Element> { JSONDictionaryCoding() }

/// The coding of a dictionary that may be unset.
@_documentation(visibility: internal)
@inlinable
public func coding<Key: Codable & Hashable & Sendable, Element: Codable & Sendable>(
    of type: [Key: Element]?.Type
) -> OptionalCoding<JSONDictionaryCoding<Key, Element>> { OptionalCoding(JSONDictionaryCoding()) }

/// The coding of every other type, which no column can store. It makes the property's description the only compile-time
/// error.
@_documentation(visibility: internal)
@_disfavoredOverload
public func coding<Value>(of type: Value.Type, refused: Void = ()) -> RefusedCoding<Value> { RefusedCoding() }

/// The coding of a type that no column can store. It has the type's own values, so that the compiler reports the
/// refusal and not a mismatch of types. A model with such a property doesn't compile.
@_documentation(visibility: internal)
public struct RefusedCoding<Value>: AttributeCoding {
    /// Not of any use.
    public init() {}
    /// The attribute's type, and how the column stores it.
    public var type: AttributeType { .json }
    /// The value as the column stores it.
    public func encode(_ value: Value) throws(RelataError) -> RelataCore.Value { throw refusal }
    /// A stored value as the property's type.
    public func decode(_ value: RelataCore.Value) throws(RelataError) -> Value { throw refusal }
    private var refusal: RelataError { .invalidUse("no column stores \(Value.self)") }
}

/// The coding of a date in the encoding that `@Attribute(.iso8601)` or `@Attribute(.seconds)` names.
@_documentation(visibility: internal)
@inlinable
public func coding(of type: Date.Type, as encoding: DateEncoding) -> DateCoding { DateCoding(encoding) }

/// The coding of an optional date of this encoding.
@_documentation(visibility: internal)
@inlinable
public func coding(of type: Date?.Type, as encoding: DateEncoding) -> OptionalCoding<DateCoding> {
    OptionalCoding(DateCoding(encoding))
}

/// The coding of a UUID that `@Attribute(.text)` stores as text.
@_documentation(visibility: internal)
@inlinable
public func coding(of type: UUID.Type, as encoding: UUIDTextEncoding) -> UUIDTextCoding { UUIDTextCoding() }

/// The coding of an optional UUID of this encoding.
@_documentation(visibility: internal)
@inlinable
public func coding(of type: UUID?.Type, as encoding: UUIDTextEncoding) -> OptionalCoding<UUIDTextCoding> {
    OptionalCoding(UUIDTextCoding())
}

/// The alternative encoding of a UUID, a separate type so that overload resolution can select it.
@_documentation(visibility: internal)
@frozen
public enum UUIDTextEncoding: Sendable {
    /// Thirty-six lowercase characters.
    case text
}
