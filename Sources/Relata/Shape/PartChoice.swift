import Foundation
import RelataCore
import RelataEngine

/// The sources of a shape's properties. `@Shape` generates one call for each property, with its type and its source,
/// and the compiler selects the overload that fits both; if none does, it reports that at the property.
@_documentation(visibility: internal)
public enum ShapeParts<Root: Model> {
    // MARK: Values

    /// An attribute or another expression.
    public static func part<Value: AttributeValue>(
        _ type: Value.Type, _ source: @escaping @Sendable (Root.Fields) -> some QueryExpression<Value>
    ) -> ValuePart<Root, PlainCoding<Value>> {
        ValuePart(coding(of: Value.self)) { source($0).node }
    }

    /// A value that may be unset.
    public static func part<Value: AttributeValue>(
        _ type: Value?.Type, _ source: @escaping @Sendable (Root.Fields) -> some QueryExpression<Value?>
    ) -> ValuePart<Root, OptionalCoding<PlainCoding<Value>>> {
        ValuePart(coding(of: Value?.self)) { source($0).node }
    }

    /// An attribute that is unset if a to-one on the path to it is.
    public static func part<Value: AttributeValue>(
        _ type: Value?.Type, _ source: @escaping @Sendable (Root.Fields) -> some QueryExpression<Value>
    ) -> ValuePart<Root, OptionalCoding<PlainCoding<Value>>> {
        ValuePart(coding(of: Value?.self)) { source($0).node }
    }

    /// A date, which attributes store in several ways.
    public static func part(
        _ type: Date.Type, _ source: @escaping @Sendable (Root.Fields) -> some QueryExpression<Date>
    ) -> ExpressionPart<Root, Date> { dynamic(source, \.self) }

    /// A date that may be unset.
    public static func part(
        _ type: Date?.Type, _ source: @escaping @Sendable (Root.Fields) -> some QueryExpression<Date?>
    ) -> ExpressionPart<Root, Date?> { dynamic(source, \.self) }

    /// A date that is unset if a to-one on the path to it is.
    public static func part(
        _ type: Date?.Type, _ source: @escaping @Sendable (Root.Fields) -> some QueryExpression<Date>
    ) -> ExpressionPart<Root, Date?> { dynamic(source, \.optional) }

    /// Any other type that an attribute may have.
    @_disfavoredOverload
    public static func part<Value>(
        _ type: Value.Type, _ source: @escaping @Sendable (Root.Fields) -> some QueryExpression<Value>
    ) -> ExpressionPart<Root, Value> { dynamic(source, \.self) }

    /// Any other type, unset if a to-one on the path to it is.
    @_disfavoredOverload
    public static func part<Value>(
        _ type: Value?.Type, _ source: @escaping @Sendable (Root.Fields) -> some QueryExpression<Value>
    ) -> ExpressionPart<Root, Value?> { dynamic(source, \.optional) }

    private static func dynamic<Source: QueryExpression, Value>(
        _ source: @escaping @Sendable (Root.Fields) -> Source,
        _ coding: (ExpressionCoding<Source.QueryValue>) -> ExpressionCoding<Value>
    ) -> ExpressionPart<Root, Value> {
        ExpressionPart(source: { source($0).node }, coding: coding(source(Root.Fields(path: FieldPath())).coding))
    }

    // MARK: To-one

    /// The key that a to-one holds, if it is set.
    public static func part<Target>(
        _ type: Target.Key?.Type, _ source: @escaping @Sendable (Root.Fields) -> ToOneField<Target>
    ) -> KeyPart<Root, Target> { KeyPart(source: source) }

    /// The object at the end of a to-one.
    public static func part<Target>(
        _ type: Target.Type, _ source: @escaping @Sendable (Root.Fields) -> ToOneField<Target>
    ) -> ToOnePart<Root, WholeObject<Target>> { ToOnePart(source) }

    /// The object at the end of a to-one that may be unset.
    public static func part<Target>(
        _ type: Target?.Type, _ source: @escaping @Sendable (Root.Fields) -> ToOneField<Target>
    ) -> OptionalToOnePart<Root, WholeObject<Target>> { OptionalToOnePart(base: ToOnePart(source)) }

    /// A shape of the object at the end of a to-one.
    public static func part<Content: Shape>(
        _ type: Content.Type, _ source: @escaping @Sendable (Root.Fields) -> ToOneField<Content.RootModel>
    ) -> ToOnePart<Root, NestedShape<Content>> { ToOnePart(source) }

    /// A shape of the object at the end of a to-one that may be unset.
    public static func part<Content: Shape>(
        _ type: Content?.Type, _ source: @escaping @Sendable (Root.Fields) -> ToOneField<Content.RootModel>
    ) -> OptionalToOnePart<Root, NestedShape<Content>> { OptionalToOnePart(base: ToOnePart(source)) }

    // MARK: To-many

    /// The objects of a to-many.
    public static func part<Target>(
        _ type: [Target].Type, _ source: @escaping @Sendable (Root.Fields) -> some RelatedObjects<Target>
    ) -> ToManyPart<Root, WholeObject<Target>> { ToManyPart { source($0).include } }

    /// Shapes of the objects of a to-many.
    public static func part<Content: Shape>(
        _ type: [Content].Type, _ source: @escaping @Sendable (Root.Fields) -> some RelatedObjects<Content.RootModel>
    ) -> ToManyPart<Root, NestedShape<Content>> { ToManyPart { source($0).include } }

    /// The first object of a to-many, if it has one.
    public static func part<Target>(
        _ type: Target?.Type, _ source: @escaping @Sendable (Root.Fields) -> FirstRelated<Target>
    ) -> FirstPart<Root, WholeObject<Target>> { FirstPart(base: ToManyPart { source($0).include }) }

    /// A shape of the first object of a to-many, if it has one.
    public static func part<Content: Shape>(
        _ type: Content?.Type, _ source: @escaping @Sendable (Root.Fields) -> FirstRelated<Content.RootModel>
    ) -> FirstPart<Root, NestedShape<Content>> { FirstPart(base: ToManyPart { source($0).include }) }

    // MARK: The object itself

    /// The whole object.
    public static func root(_ type: Root.Type) -> RootPart<Root> { RootPart() }

    // MARK: Refusals

    /// Refuses a type that isn't the root's.
    @available(*, unavailable, message: "@Root is the whole object: its type is the shape's model")
    @_disfavoredOverload
    public static func root<Value>(_ type: Value.Type) -> RefusedPart<Value> { RefusedPart() }

    /// Refuses a type that isn't the expression's.
    @available(
        *, unavailable,
        message: "the property's type isn't that of the attribute or expression, or an optional of it"
    )
    @_disfavoredOverload
    public static func part<Value>(
        _ type: Value.Type, _ source: @escaping (Root.Fields) -> some QueryExpression, refused: Void = ()
    ) -> RefusedPart<Value> { RefusedPart() }

    /// Refuses a type that isn't the to-one's.
    @available(
        *, unavailable,
        message: "a to-one is its model, a shape of that model, or an optional of these; or its key, as an optional"
    )
    @_disfavoredOverload
    public static func part<Value, Target>(
        _ type: Value.Type, _ source: @escaping (Root.Fields) -> ToOneField<Target>, refused: Void = ()
    ) -> RefusedPart<Value> { RefusedPart() }

    /// Refuses a type that isn't the to-many's.
    @available(*, unavailable, message: "a to-many is an array of its model, or of shapes of that model")
    @_disfavoredOverload
    public static func part<Value>(
        _ type: Value.Type, _ source: @escaping (Root.Fields) -> some RelatedObjects, refused: Void = ()
    ) -> RefusedPart<Value> { RefusedPart() }

    /// Refuses a type that isn't an optional.
    @available(
        *, unavailable, message: "the first of a to-many is an optional of its model, or of a shape of that model"
    )
    @_disfavoredOverload
    public static func part<Value, Target>(
        _ type: Value.Type, _ source: @escaping (Root.Fields) -> FirstRelated<Target>, refused: Void = ()
    ) -> RefusedPart<Value> { RefusedPart() }
}

/// Not the source of any property; it only occurs in unavailable overloads.
@_documentation(visibility: internal)
public struct RefusedPart<Value>: ShapePart {
    /// Nothing.
    public func describe(_ level: inout ShapeLevel, at path: FieldPath) {}
    /// Reads nothing.
    public func read(_ reader: inout ShapeReader) throws -> Value { throw ShapeReader.missing }
}

/// The objects of a to-many, some or all of them.
public protocol RelatedObjects<Target>: Sendable {
    /// The model at the other end.
    associatedtype Target: Model
    /// The condition, the order and the number of the objects.
    var include: Include<Target> { get }
}

extension ToManyField: RelatedObjects {
    /// The first object, in the relationship's order: for an optional property of a shape.
    public var first: FirstRelated<Target> { FirstRelated(include: include.limit(1)) }
}

extension Include: RelatedObjects {
    /// Itself.
    public var include: Include { self }
    /// The first object, in this order: for an optional property of a shape.
    public var first: FirstRelated<Target> { FirstRelated(include: limit(1)) }
}

/// The first object of a to-many: for an optional property of a shape.
public struct FirstRelated<Target: Model>: Sendable {
    let include: Include<Target>
}
