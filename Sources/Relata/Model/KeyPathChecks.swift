// The checks of the key paths of `@Relationship` that the compiler makes in `@Model`'s generated code.

import RelataCore

/// The type of the values at the end of a key path.
@_documentation(visibility: internal)
@inlinable
public func valueType<Root, Value>(at path: KeyPath<Root, Value>) -> Value.Type { Value.self }

/// The key paths to a model's properties, by name.
///
/// A key path to a missing property is an error at the marker. Here it is an ``UnknownProperty``, so that the compiler
/// reports it once.
@_documentation(visibility: internal)
@dynamicMemberLookup
public struct KeyPaths<Root> {
    /// The key paths of the type.
    public init() {}

    /// The key paths of the model at the other end of a link.
    public init<Owner, Link: LinkProperty>(of link: KeyPath<Owner, Link>) where Link.Target == Root {}

    /// The key path to a property.
    public subscript<Value>(dynamicMember keyPath: KeyPath<Root, Value>) -> KeyPath<Root, Value> { keyPath }

    /// A placeholder for a missing property.
    @_disfavoredOverload
    public subscript(dynamicMember name: String) -> UnknownProperty { UnknownProperty() }
}

/// A property that a model doesn't have.
@_documentation(visibility: internal)
public struct UnknownProperty: Sendable {}

// The marker has an error already: no other is reported.
extension Property {
    /// A placeholder for the inverse of a one-to-one that the target doesn't have.
    public static func hasOne<Owner: Model, Link: HasOneProperty>(
        _ name: String, _ type: Link.Type, owner: Owner.Type, inverse: String,
        _ check: @autoclosure () -> UnknownProperty, deleteRule: DeleteRule? = nil, removeRule: RemoveRule? = nil
    ) -> Property {
        .attribute(Attribute(name, type: .integer))
    }

    /// A placeholder for a to-many whose inverse the target doesn't have.
    public static func toMany<Owner: Model, Link: ToManyProperty>(
        _ name: String, _ type: Link.Type, owner: Owner.Type, inverse: String,
        _ check: @autoclosure () -> UnknownProperty, order: ListOrder<Link.Target>? = nil,
        deleteRule: DeleteRule? = nil,
        removeRule: RemoveRule? = nil, minimum: Int? = nil, maximum: Int? = nil, originalName: OriginalNames? = nil
    ) -> Property {
        .attribute(Attribute(name, type: .integer))
    }

    /// A placeholder for a link through a to-many that the model doesn't have.
    public static func through<Owner: Model, Target: Model>(
        _ name: String, _ type: Through<Target>.Type, owner: Owner.Type, toMany: String, toOne: String,
        _ toManyCheck: @autoclosure () -> UnknownProperty, _ toOneCheck: @autoclosure () -> Any
    ) -> Property {
        .attribute(Attribute(name, type: .integer))
    }

    /// A placeholder for a link through a to-one that the join model doesn't have.
    public static func through<Owner: Model, Target: Model, Root, First>(
        _ name: String, _ type: Through<Target>.Type, owner: Owner.Type, toMany: String, toOne: String,
        _ toManyCheck: @autoclosure () -> KeyPath<Root, First>, _ toOneCheck: @autoclosure () -> UnknownProperty
    ) -> Property {
        .attribute(Attribute(name, type: .integer))
    }
}

/// The type of a view as a property declares it: `HasOne<Cover>` or `ToMany<Track>`.
@_documentation(visibility: internal)
public protocol LinkProperty<Target> {
    /// The model it links to.
    associatedtype Target: Model
}

/// The type of a has-one.
@_documentation(visibility: internal)
public protocol HasOneProperty<Target>: LinkProperty {}

/// The type of a to-many.
@_documentation(visibility: internal)
public protocol ToManyProperty<Target>: LinkProperty {}

extension HasOne: HasOneProperty {}
extension ToMany: ToManyProperty {}

/// The declared type of a to-one: `ToOne<Genre>`, or `ToOne<Genre>?` for an optional one.
@_documentation(visibility: internal)
public protocol ToOneProperty<Target> {
    /// The model it links to.
    associatedtype Target: Model
    /// Whether it may be unset.
    static var isOptional: Bool { get }
}

extension ToOne: ToOneProperty {
    /// It may not be unset.
    public static var isOptional: Bool { false }
}

extension Optional: ToOneProperty where Wrapped: ToOneProperty {
    /// The model it links to.
    public typealias Target = Wrapped.Target
    /// It may be unset.
    public static var isOptional: Bool { true }
}

/// The types of attributes that can order a list: integers wide enough for positions with gaps, optional or not.
@_documentation(visibility: internal)
public protocol ListPosition {}
extension Int: ListPosition {}
extension Int64: ListPosition {}
extension Optional: ListPosition where Wrapped: ListPosition {}

/// The order of a list, by `@Relationship(order:)` or `ordered:`.
@_documentation(visibility: internal)
public struct ListOrder<Target: Model>: Sendable {
    let order: Relationship.Order

    /// By a position that the store keeps.
    public static var stored: ListOrder { ListOrder(order: .stored) }
}

/// A list's order by an integer attribute of its objects.
@_documentation(visibility: internal)
public func listOrder<Target: Model, Number: ListPosition>(
    by name: String, _ check: @autoclosure () -> KeyPath<Target, Number>
) -> ListOrder<Target> { ListOrder(order: .attribute(name)) }

/// Refuses another order.
@_documentation(visibility: internal)
@_disfavoredOverload
public func listOrder<Root, Other>(by name: String, _ check: @autoclosure () -> KeyPath<Root, Other>) -> RefusedOrder {
    RefusedOrder()
}

/// A placeholder for an order by an attribute that the target doesn't have.
@_documentation(visibility: internal)
public func listOrder<Target: Model>(
    by name: String, _ check: @autoclosure () -> UnknownProperty
) -> ListOrder<Target> { .stored }
