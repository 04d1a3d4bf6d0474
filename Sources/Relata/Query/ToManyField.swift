import RelataCore

/// A to-many in a query: conditions on the related objects, their number and other aggregates of them.
///
/// ```swift
/// Book.where { $0.authors.contains { $0.name == "Ursula K. Le Guin" } && $0.reviews.count > 3 }
/// ```
@dynamicMemberLookup
public struct ToManyField<Target: Model>: Sendable {
    let path: FieldPath
    let names: [String]
    private let isDistinct: Bool

    /// The to-many of that name. Written by `@Model`.
    public init(_ path: FieldPath, _ name: String) {
        self.init(path, names: [name])
    }

    init(_ path: FieldPath, names: [String], isDistinct: Bool = false) {
        self.path = path
        self.names = names
        self.isDistinct = isDistinct
    }

    /// Counts each object once in aggregates, even if it is reached in several ways. Without it, each path counts:
    /// `$0.slots.song.count` is the number of slots with a song, `$0.slots.song.distinct.count` the number of different
    /// songs.
    public var distinct: ToManyField { ToManyField(path, names: names, isDistinct: true) }

    private var related: RelatedSet {
        RelatedSet(scope: path.scope, path: path.names + names, innerScope: path.scope + 1, isDistinct: isDistinct)
    }

    private var inner: Target.Fields { Target.Fields(path: FieldPath(scope: path.scope + 1)) }

    /// The objects that the related objects link to in turn: `$0.albums.tracks`.
    public subscript<Next>(dynamicMember member: KeyPath<Target.Fields, ToManyField<Next>>) -> ToManyField<Next> {
        ToManyField<Next>(
            path, names: names + Target.Fields(path: FieldPath())[keyPath: member].fullPath, isDistinct: isDistinct)
    }

    /// The objects that the related objects link to in turn, by a to-one: `$0.items.song`.
    public subscript<Next>(dynamicMember member: KeyPath<Target.Fields, ToOneField<Next>>) -> ToManyField<Next> {
        let link = Target.Fields(path: FieldPath())[keyPath: member]
        return ToManyField<Next>(path, names: names + link.path.names + [link.name], isDistinct: isDistinct)
    }

    private var fullPath: [String] { path.names + names }

    // MARK: Conditions

    /// Whether any related object meets a condition.
    public func contains<Check: QueryExpression<Bool>>(where condition: (Target.Fields) -> Check) -> Condition {
        Condition(.quantified(.any, related, condition: condition(inner).node))
    }

    /// Whether any related object meets a condition. The same as ``contains(where:)``.
    public func any<Check: QueryExpression<Bool>>(_ condition: (Target.Fields) -> Check) -> Condition {
        contains(where: condition)
    }

    /// Whether all related objects meet a condition; true if there are none.
    public func all<Check: QueryExpression<Bool>>(_ condition: (Target.Fields) -> Check) -> Condition {
        Condition(.quantified(.all, related, condition: condition(inner).node))
    }

    /// Whether no related object meets a condition.
    public func none<Check: QueryExpression<Bool>>(_ condition: (Target.Fields) -> Check) -> Condition {
        Condition(.quantified(.none, related, condition: condition(inner).node))
    }

    /// Whether an object is related. One that has no key yet is an error when the query runs.
    public func contains(_ object: Target) -> Condition { contains(id: object.primaryKey) }

    /// Whether the object with that key is related. A key that the database has yet to assign is an error when the
    /// query runs.
    public func contains(id: Target.Key?) -> Condition { isAny(of: [id]) }

    /// Whether any object with one of these keys is related.
    // Not any sequence, which would capture the closure of `contains { … }` if it has a mistake.
    public func contains(ids: [Target.Key]) -> Condition { isAny(of: ids) }

    private func isAny(of keys: [Target.Key?]) -> Condition {
        Condition(.quantified(.any, related, condition: Target.isOne(of: keys, inner.fieldPath.object)))
    }

    /// Whether there is no related object.
    public var isEmpty: Condition { Condition(.quantified(.none, related, condition: .and([]))) }

    // MARK: Figures

    // Each path counts, so aggregates along a path and aggregates of a path are the same: `slots.song.sum { $0.bpm }`
    // and `slots.sum { $0.song.bpm }`.
    //
    // An aggregate of some of the objects has its condition last: `lines.sum { $0.price } where: { $0.isOpen }`.

    /// A condition on a related object.
    public typealias Filter = (Target.Fields) -> any QueryExpression<Bool>

    /// The number of related objects.
    public var count: TypedExpression<Int> { TypedExpression(.aggregate(.count, related, of: nil, filter: nil)) }

    /// The number of related objects that meet a condition.
    public func count<Check: QueryExpression<Bool>>(where condition: (Target.Fields) -> Check) -> TypedExpression<Int> {
        TypedExpression(.aggregate(.count, related, of: nil, filter: condition(inner).node))
    }

    /// The sum over the related objects; 0 if there are none. The sum of integers of any width is an `Int`.
    public func sum<Number: QueryExpression>(_ value: (Target.Fields) -> Number, where condition: Filter? = nil)
        -> TypedExpression<Int>
    where Number.QueryValue: FixedWidthInteger {
        TypedExpression(total(value(inner), condition))
    }

    /// The sum over the related objects; 0 if there are none.
    @_disfavoredOverload
    public func sum<Number: QueryExpression>(_ value: (Target.Fields) -> Number, where condition: Filter? = nil)
        -> TypedExpression<Number.QueryValue>
    where Number.QueryValue: Numeric {
        let value = value(inner)
        return TypedExpression(total(value, condition), value.coding)
    }

    /// The sum over the related objects; 0 if there are none, or nothing is set. The sum of integers of any width is an
    /// `Int`.
    public func sum<Item: QueryExpression, Number: FixedWidthInteger>(
        _ value: (Target.Fields) -> Item, where condition: Filter? = nil
    ) -> TypedExpression<Int> where Item.QueryValue == Number? {
        TypedExpression(total(value(inner), condition))
    }

    /// The sum over the related objects; 0 if there are none, or nothing is set.
    @_disfavoredOverload
    public func sum<Item: QueryExpression, Number: Numeric>(
        _ value: (Target.Fields) -> Item, where condition: Filter? = nil
    ) -> TypedExpression<Number> where Item.QueryValue == Number? {
        let value = value(inner)
        return TypedExpression(total(value, condition), value.coding.required())
    }

    private func total(_ value: some QueryExpression, _ condition: Filter?) -> ExpressionNode {
        .function(.coalesce, [figure(.sum, value, condition), .value(0)])
    }

    /// The smallest value among the related objects; unset if there are none, or nothing is set.
    public func minimum<Item: QueryExpression, Wrapped>(
        _ value: (Target.Fields) -> Item, where condition: Filter? = nil
    ) -> TypedExpression<Wrapped?> where Item.QueryValue == Wrapped? {
        let value = value(inner)
        return TypedExpression(figure(.minimum, value, condition), value.coding)
    }

    /// The smallest value among the related objects; unset if there are none.
    @_disfavoredOverload
    public func minimum<Item: QueryExpression>(_ value: (Target.Fields) -> Item, where condition: Filter? = nil)
        -> TypedExpression<Item.QueryValue?>
    {
        let value = value(inner)
        return TypedExpression(figure(.minimum, value, condition), value.coding.optional)
    }

    /// The largest value among the related objects; unset if there are none, or nothing is set.
    public func maximum<Item: QueryExpression, Wrapped>(
        _ value: (Target.Fields) -> Item, where condition: Filter? = nil
    ) -> TypedExpression<Wrapped?> where Item.QueryValue == Wrapped? {
        let value = value(inner)
        return TypedExpression(figure(.maximum, value, condition), value.coding)
    }

    /// The largest value among the related objects; unset if there are none.
    @_disfavoredOverload
    public func maximum<Item: QueryExpression>(_ value: (Target.Fields) -> Item, where condition: Filter? = nil)
        -> TypedExpression<Item.QueryValue?>
    {
        let value = value(inner)
        return TypedExpression(figure(.maximum, value, condition), value.coding.optional)
    }

    /// The average over the related objects; unset if there are none.
    public func average<Number: QueryExpression>(_ value: (Target.Fields) -> Number, where condition: Filter? = nil)
        -> TypedExpression<Double?>
    {
        .average(figure(.average, value(inner), condition))
    }

    private func figure(
        _ function: AggregateFunction, _ value: some QueryExpression, _ condition: Filter?
    ) -> ExpressionNode {
        .aggregate(function, related, of: value.node, filter: condition.map { $0(inner).node })
    }
}

extension ExpressionCoding {
    /// The function for a value that is never unset.
    func required<Wrapped>() -> ExpressionCoding<Wrapped> where Value == Wrapped? {
        ExpressionCoding<Wrapped>(
            type: type, encode: { try encode($0) },
            decode: { value in
                guard let result = try decode(value) else {
                    throw RelataError.corruptStore("\(value) isn't a valid \(Wrapped.self)")
                }
                return result
            })
    }

    /// The function for an optional value.
    var optional: ExpressionCoding<Value?> {
        ExpressionCoding<Value?>(
            type: type, encode: { try $0.map(encode) ?? .null }, decode: { $0.isNull ? nil : try decode($0) })
    }

    init(
        type: AttributeType?, encode: @escaping @Sendable (Value) throws -> RelataCore.Value,
        decode: @escaping @Sendable (RelataCore.Value) throws -> Value
    ) {
        self.type = type
        self.encode = encode
        self.decode = decode
    }
}
