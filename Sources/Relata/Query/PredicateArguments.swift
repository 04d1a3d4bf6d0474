import Foundation

/// What can stand for `%@` in a predicate given as text: a value, an object, a key, or an array of these.
public protocol PredicateArgumentConvertible: Sendable {
    /// The values it stands for.
    var predicateArgument: PredicateArgumentValue { get throws }
}

/// An argument of a predicate as plain data.
public enum PredicateArgumentValue: Hashable, Sendable {
    /// A single value.
    case value(Value)
    /// An object's key.
    case key(KeyValue)
    /// Several values.
    case values([Value])
    /// Several keys.
    case keys([KeyValue])
}
