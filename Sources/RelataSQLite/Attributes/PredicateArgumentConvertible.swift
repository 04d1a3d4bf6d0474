import RelataCore

/// What can stand for `%@` in a predicate given as text: a value, an object, a key, a link, or an array of these.
///
/// Types that columns store conform by themselves, as do models.
public protocol PredicateArgumentConvertible: Sendable {
    /// What it stands for.
    var predicateArgument: PredicateArgument { get throws }
}

extension AttributeValue {
    /// What it stands for in a predicate given as text.
    public var predicateArgument: PredicateArgument {
        get throws { .value(try databaseValue) }
    }
}

extension Array: PredicateArgumentConvertible where Element: PredicateArgumentConvertible {
    /// What it stands for in a predicate given as text.
    public var predicateArgument: PredicateArgument {
        get throws { try .list(map { try $0.predicateArgument }) }
    }
}

extension Set: PredicateArgumentConvertible where Element: PredicateArgumentConvertible {
    /// What it stands for in a predicate given as text.
    public var predicateArgument: PredicateArgument {
        get throws { try .list(map { try $0.predicateArgument }) }
    }
}

extension PredicateArgument {
    /// Several arguments as one: all values, or all keys.
    static func list(_ arguments: [PredicateArgument]) throws(RelataError) -> PredicateArgument {
        var values: [Value] = []
        var keys: [KeyValue] = []
        for argument in arguments {
            switch argument {
            case .value(let value): values.append(value)
            case .key(let key): keys.append(key)
            case .values, .keys: throw .invalidUse("an array of arrays can't stand for %@: give one flat array")
            }
        }
        if keys.isEmpty { return .values(values) }
        guard values.isEmpty else {
            throw .invalidUse("an array of objects and values can't stand for %@: give one kind")
        }
        return .keys(keys)
    }
}
