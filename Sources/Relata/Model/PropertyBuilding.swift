// The calls in `Model.entity`: one per property, whose overload is selected by the property's type. Key paths are only
// for the compiler to check; they are never evaluated.

import RelataCore
import RelataEngine

/// The properties that `@Model` describes one after the other.
@_documentation(visibility: internal)
public struct PropertyList {
    /// The properties so far.
    public private(set) var properties: [Property] = []

    /// No properties.
    public init() {}

    /// Adds a property.
    public mutating func append(_ property: Property) { properties.append(property) }

    /// Adds an attribute without options.
    public mutating func value<Value: AttributeValue>(_ name: String, _ type: Value.Type) {
        append(.attribute(name, coding(of: Value.self)))
    }

    /// Adds an optional attribute without options.
    public mutating func optional<Value: AttributeValue>(_ name: String, _ type: Value.Type) {
        append(.attribute(name, coding(of: Value?.self)))
    }
}

extension Property {
    /// A stored attribute.
    public static func attribute<Coding: StorableCoding>(
        _ name: String, _ coding: Coding, column: String? = nil, originalName: OriginalNames? = nil,
        options: [AttributeOption] = [], default initial: (() -> Coding.Value)? = nil
    ) -> Property {
        let isCase: (@Sendable (RelataCore.Value) -> Bool)? =
            coding.hasCases ? { @Sendable value in (try? coding.decode(value)) != nil } : nil
        return .attribute(
            Attribute(
                name, column: column, type: coding.type, isOptional: coding.isOptional,
                // A default that can't be stored is dropped: saving the value itself reports why.
                defaultValue: initial.flatMap { try? coding.encode($0()) }.flatMap { $0.isNull ? nil : $0 },
                originalName: originalName, limits: options.compactMap(\.limit), allowedValues: coding.allowedValues,
                valueType: ValueType(Coding.Value.self, isCase: isCase)))
    }

    /// A to-one, required or not by its type.
    public static func toOne<Link: ToOneProperty>(
        _ name: String, _ type: Link.Type, columns: [String] = [], deleteRule: DeleteRule? = nil,
        onTargetDelete: DeleteRule? = nil, originalName: OriginalNames? = nil
    ) -> Property {
        .relationship(
            Relationship(
                name, target: Link.Target.entityName, kind: .toOne(isOptional: Link.isOptional, columns: columns),
                deleteRule: deleteRule, onTargetDelete: onTargetDelete, originalName: originalName))
    }

    /// The other side of a one-to-one.
    public static func hasOne<Owner: Model, Link: HasOneProperty, Back: ToOneProperty<Owner>>(
        _ name: String, _ type: Link.Type, owner: Owner.Type, inverse: String,
        _ check: @autoclosure () -> KeyPath<Link.Target, Back>, deleteRule: DeleteRule? = nil,
        removeRule: RemoveRule? = nil
    ) -> Property {
        .relationship(
            Relationship(
                name, target: Link.Target.entityName, kind: .hasOne(inverse: inverse), deleteRule: deleteRule,
                removeRule: removeRule))
    }

    /// Refuses an inverse of another type.
    @_disfavoredOverload
    public static func hasOne<Owner: Model, Link: HasOneProperty, Root, Other>(
        _ name: String, _ type: Link.Type, owner: Owner.Type, inverse: String,
        _ check: @autoclosure () -> KeyPath<Root, Other>, deleteRule: DeleteRule? = nil,
        removeRule: RemoveRule? = nil
    ) -> RefusedProperty<RefusedInverse> { RefusedProperty() }

    /// The view of a key that may be unset: one-to-many.
    public static func toMany<Owner: Model, Target: Model>(
        _ name: String, _ type: ToMany<Target>.Type, owner: Owner.Type, inverse: String,
        _ check: @autoclosure () -> KeyPath<Target, ToOne<Owner>?>, order: ListOrder<Target>? = nil,
        deleteRule: DeleteRule? = nil, removeRule: RemoveRule? = nil, minimum: Int? = nil, maximum: Int? = nil,
        originalName: OriginalNames? = nil
    ) -> Property {
        .relationship(
            Relationship(
                name, target: Target.entityName, kind: .toMany(inverse: inverse), deleteRule: deleteRule,
                removeRule: removeRule, order: order?.order, minimumCount: minimum, maximumCount: maximum,
                originalName: originalName))
    }

    /// The view of a required key: one-to-many.
    public static func toMany<Owner: Model, Target: Model>(
        _ name: String, _ type: ToMany<Target>.Type, owner: Owner.Type, inverse: String,
        _ check: @autoclosure () -> KeyPath<Target, ToOne<Owner>>, order: ListOrder<Target>? = nil,
        deleteRule: DeleteRule? = nil, removeRule: RemoveRule? = nil, minimum: Int? = nil, maximum: Int? = nil,
        originalName: OriginalNames? = nil
    ) -> Property {
        .relationship(
            Relationship(
                name, target: Target.entityName, kind: .toMany(inverse: inverse), deleteRule: deleteRule,
                removeRule: removeRule, order: order?.order, minimumCount: minimum, maximumCount: maximum,
                originalName: originalName))
    }

    /// The other side of a many-to-many.
    public static func toMany<Owner: Model, Target: Model>(
        _ name: String, _ type: ToMany<Target>.Type, owner: Owner.Type, inverse: String,
        _ check: @autoclosure () -> KeyPath<Target, ToMany<Owner>>, order: ListOrder<Target>? = nil,
        deleteRule: DeleteRule? = nil, removeRule: RemoveRule? = nil, minimum: Int? = nil, maximum: Int? = nil,
        originalName: OriginalNames? = nil
    ) -> Property {
        .relationship(
            Relationship(
                name, target: Target.entityName, kind: .manyToManyInverse(inverse: inverse),
                deleteRule: deleteRule,
                removeRule: removeRule, order: order?.order, minimumCount: minimum, maximumCount: maximum,
                originalName: originalName))
    }

    /// Refuses an inverse of another type.
    @_disfavoredOverload
    public static func toMany<Owner: Model, Link: ToManyProperty, Root, Other>(
        _ name: String, _ type: Link.Type, owner: Owner.Type, inverse: String,
        _ check: @autoclosure () -> KeyPath<Root, Other>, order: ListOrder<Link.Target>? = nil,
        deleteRule: DeleteRule? = nil, removeRule: RemoveRule? = nil, minimum: Int? = nil, maximum: Int? = nil,
        originalName: OriginalNames? = nil
    ) -> RefusedProperty<RefusedInverse> { RefusedProperty() }

    /// Refuses an order by anything else than an integer.
    @_disfavoredOverload
    public static func toMany<Owner: Model, Link: ToManyProperty, Root, Other>(
        _ name: String, _ type: Link.Type, owner: Owner.Type, inverse: String,
        _ check: @autoclosure () -> KeyPath<Root, Other>, order: RefusedOrder,
        deleteRule: DeleteRule? = nil, removeRule: RemoveRule? = nil, minimum: Int? = nil, maximum: Int? = nil,
        originalName: OriginalNames? = nil
    ) -> RefusedProperty<RefusedOrder> { RefusedProperty() }

    /// A many-to-many with a join table that the store manages.
    public static func manyToMany<Link: ToManyProperty>(
        _ name: String, _ type: Link.Type, order: ListOrder<Link.Target>? = nil, joinTable: String? = nil,
        joinColumns: [String] = [], deleteRule: DeleteRule? = nil, minimum: Int? = nil, maximum: Int? = nil,
        originalName: OriginalNames? = nil
    ) -> Property {
        // The first half of the column names is this side's key, the second the target's.
        let half = joinColumns.count / 2
        return .relationship(
            Relationship(
                name, target: Link.Target.entityName,
                kind: .manyToMany(
                    JoinTableNames(
                        table: joinTable, sourceColumns: Array(joinColumns.prefix(half)),
                        targetColumns: Array(joinColumns.dropFirst(half)))),
                deleteRule: deleteRule, order: order?.order, minimumCount: minimum, maximumCount: maximum,
                originalName: originalName))
    }

    /// A read-only link through a join model; rows whose to-one is unset are left out.
    public static func through<Owner: Model, Middle: Model, Target: Model, Link: ToOneProperty<Target>>(
        _ name: String, _ type: Through<Target>.Type, owner: Owner.Type, toMany: String, toOne: String,
        _ toManyCheck: @autoclosure () -> KeyPath<Owner, ToMany<Middle>>,
        _ toOneCheck: @autoclosure () -> KeyPath<Middle, Link>
    ) -> Property {
        .relationship(
            Relationship(name, target: Target.entityName, kind: .through(toMany: toMany, toOne: toOne)))
    }

    /// Refuses a path that doesn't lead to the target.
    @_disfavoredOverload
    public static func through<Owner: Model, Target: Model, Root, First, Middle, Second>(
        _ name: String, _ type: Through<Target>.Type, owner: Owner.Type, toMany: String, toOne: String,
        _ toManyCheck: @autoclosure () -> KeyPath<Root, First>, _ toOneCheck: @autoclosure () -> KeyPath<Middle, Second>
    ) -> RefusedProperty<RefusedWay> { RefusedProperty() }
}

/// Whether two values of a property are equal whose type is known by its name. Unlike `==` and `isEqual`, it has no
/// overloads, among which the compiler would search.
@_documentation(visibility: internal)
@inlinable
public func isSame<Value: Equatable>(_ left: Value, _ right: Value) -> Bool { left == right }

/// Whether two values of a property are equal. Overload resolution selects `==` if there is one, otherwise the
/// comparison of their JSON; a transient property of another type is ignored.
@_documentation(visibility: internal)
@inlinable
public func isEqual<Value: Equatable>(_ left: Value, _ right: Value) -> Bool { left == right }

/// Whether two values are equal as JSON.
@_documentation(visibility: internal)
@_disfavoredOverload
public func isEqual<Value: Codable & Sendable>(_ left: Value, _ right: Value) -> Bool {
    let coding = coding(of: Value.self)
    guard let left = try? coding.encode(left), let right = try? coding.encode(right) else { return false }
    return left == right
}

/// Values that can't be compared don't count.
@_documentation(visibility: internal)
@_disfavoredOverload
public func isEqual<Value>(_ left: Value, _ right: Value, incomparable: Void = ()) -> Bool { true }
