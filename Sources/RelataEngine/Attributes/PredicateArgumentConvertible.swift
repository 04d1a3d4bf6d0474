import RelataCore

/// A value for `%@` in a predicate given as text: a value, an object, a key, a link, or an array of these.
///
/// Types that columns store conform by themselves, as do models.
public protocol PredicateArgumentConvertible: Sendable {
    /// The value as an argument.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a value that no condition can have.
    var predicateArgument: PredicateArgument { get throws }
}

extension AttributeValue {
    /// The value in a predicate given as text.
    public var predicateArgument: PredicateArgument {
        get throws { .value(try databaseValue) }
    }
}

extension Array: PredicateArgumentConvertible where Element: PredicateArgumentConvertible {
    /// The value in a predicate given as text.
    public var predicateArgument: PredicateArgument {
        get throws { try .list(map { try $0.predicateArgument }) }
    }
}

extension Set: PredicateArgumentConvertible where Element: PredicateArgumentConvertible {
    /// The value in a predicate given as text.
    public var predicateArgument: PredicateArgument {
        get throws { try .list(map { try $0.predicateArgument }) }
    }
}

extension PredicateArgument {
    /// The predicate argument for a value: its own if it is a ``PredicateArgumentConvertible``, the raw value of an
    /// enum, the JSON of any other `Codable` value, or a list of these.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` for a value that can't be an argument.
    public init(of value: Any) throws {
        switch value {
        case let known as any PredicateArgumentConvertible: self = try known.predicateArgument
        case let raw as any RawRepresentable: self = try PredicateArgument(of: Self.rawValue(of: raw))
        case let values as [Any]: self = try .list(values.map { try PredicateArgument(of: $0) })
        case let values as Set<AnyHashable>: self = try .list(values.map { try PredicateArgument(of: $0.base) })
        default:
            let mirror = Mirror(reflecting: value)
            if mirror.displayStyle == .optional {
                self = try mirror.children.first.map { try PredicateArgument(of: $0.value) } ?? .value(.null)
            } else if let value = value as? any Encodable {
                self = .value(.text(try JSONText.encode(value)))
            } else {
                throw RelataError.invalidUse(
                    "\("\(type(of: value))".withArticle) can't be an argument for %@: give a value, an enum with a raw value, an object, a link, a key, or an array of these"
                )
            }
        }
    }

    private static func rawValue<Raw: RawRepresentable>(of value: Raw) -> Any { value.rawValue }

    /// Several arguments as one: all values, or all keys.
    static func list(_ arguments: [PredicateArgument]) throws(RelataError) -> PredicateArgument {
        var values: [Value] = []
        var keys: [KeyValue] = []
        var entity: String?
        for argument in arguments {
            if let other = argument.entity {
                if let entity, entity != other {
                    throw .invalidUse(
                        "an array with objects of \(entity) and of \(other) can't be an argument for %@: give one kind")
                }
                entity = other
            }
            switch argument.bare {
            case .value(let value): values.append(value)
            case .key(let key): keys.append(key)
            case .values, .keys, .ofEntity:
                throw .invalidUse("an array of arrays can't be an argument for %@: give one flat array")
            }
        }
        guard keys.isEmpty || values.isEmpty else {
            throw .invalidUse("an array of objects and values can't be an argument for %@: give one kind")
        }
        let list: PredicateArgument = keys.isEmpty ? .values(values) : .keys(keys)
        return entity.map { .ofEntity($0, list) } ?? list
    }
}
