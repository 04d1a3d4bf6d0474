import RelataCore
import RelataEngine

/// A typed expression of a query: an attribute, a constant, or a computed value.
///
/// ```swift
/// Book.where { $0.price * 2 > 30 && $0.title.hasPrefix("The") }
/// ```
public protocol QueryExpression<QueryValue>: GroupColumn, EqualityOperand
where EqualConstant == QueryValue, EqualKey == Never {
    /// The Swift type of the value.
    associatedtype QueryValue
    /// The expression as plain data.
    var node: ExpressionNode { get }
    /// The coding of its results, and of constants that are compared with it.
    var coding: ExpressionCoding<QueryValue> { get }
}

/// The conversion of an expression's values to constants of a query, and of results to values.
public struct ExpressionCoding<Value>: Sendable {
    let type: AttributeType?
    let encode: @Sendable (Value) throws -> RelataCore.Value
    let decode: @Sendable (RelataCore.Value) throws -> Value

    init<Coding: AttributeCoding>(_ coding: Coding) where Coding.Value == Value {
        type = coding.type
        // Constants take one canonical form per type; the SQL compiler turns it into the column's own encoding.
        encode = { try coding.encode($0) }
        decode = { try coding.decode($0) }
    }

    /// The constant, or its error: thrown when the query runs.
    func constant(_ value: Value) -> ExpressionNode {
        do {
            return .value(try encode(value))
        } catch {
            return .invalid("\(error)")
        }
    }

    /// The stored form, or `nil` for a value that no column can hold, which nothing equals.
    func stored(_ value: Value) -> RelataCore.Value? { try? encode(value) }
}

/// An attribute or a to-one of a model: a part of a unique set.
public protocol PropertyField: Sendable {
    /// The path from the model to the property: its name, or `owner.name` for a property of another object. Static,
    /// because names of an instance are those of the target's properties.
    static func path(of field: Self) -> String
}

/// An attribute in a query: a ``Field`` or a ``ValueField``.
public protocol AttributeField<QueryValue>: QueryExpression, PropertyField {}

/// An attribute in a query.
public struct Field<Value>: AttributeField {
    /// The Swift type of the value.
    public typealias QueryValue = Value
    /// The expression as plain data.
    public let node: ExpressionNode
    /// The coding of its results, and of constants that are compared with it.
    public let coding: ExpressionCoding<Value>
    private let path: FieldPath
    private let name: String

    /// The attribute of that name of the object at the end of a path. Written by `@Model`.
    public init<Coding: AttributeCoding>(_ path: FieldPath, _ name: String, _ coding: Coding)
    where Coding.Value == Value {
        node = path.property(name)
        (self.path, self.name) = (path, name)
        self.coding = ExpressionCoding(coding)
    }

    /// The path from the model to the property.
    public static func path(of field: Field) -> String { field.path.dotted(field.name) }
}

extension FieldPath {
    /// An attribute whose type alone determines how a column stores it.
    @_documentation(visibility: internal)
    public func value<Value: AttributeValue>(_ name: String) -> Field<Value> {
        Field(self, name, RelataEngine.coding(of: Value.self))
    }

    /// An optional attribute of this kind.
    @_documentation(visibility: internal)
    public func optional<Value: AttributeValue>(_ name: String) -> Field<Value?> {
        Field(self, name, RelataEngine.coding(of: Value?.self))
    }
}

/// A computed value in a query.
public struct TypedExpression<Value>: QueryExpression {
    /// The Swift type of the value.
    public typealias QueryValue = Value
    /// The expression as plain data.
    public let node: ExpressionNode
    /// The coding of its results, and of constants that are compared with it.
    public let coding: ExpressionCoding<Value>

    init(_ node: ExpressionNode, _ coding: ExpressionCoding<Value>) {
        self.node = node
        self.coding = coding
    }

    init(_ node: ExpressionNode) where Value: AttributeValue {
        self.init(node, ExpressionCoding(RelataEngine.coding(of: Value.self)))
    }

    init<Wrapped: AttributeValue>(_ node: ExpressionNode) where Value == Wrapped? {
        self.init(node, ExpressionCoding(RelataEngine.coding(of: Wrapped?.self)))
    }
}

/// A condition: the result of a closure of `where`. Two-valued, as in Swift.
public typealias Condition = TypedExpression<Bool>

/// A to-one in a query, with its target's properties.
///
/// ```swift
/// Book.where { $0.genre.name == "Fantasy" && $0.publisher == nil }
/// ```
@dynamicMemberLookup
public struct ToOneField<Target: Model>: PropertyField {
    let path: FieldPath
    let name: String

    /// The to-one of that name. Written by `@Model`.
    public init(_ path: FieldPath, _ name: String) {
        self.path = path
        self.name = name
    }

    /// A property of the target.
    public subscript<Member>(dynamicMember member: KeyPath<Target.Fields, Member>) -> Member {
        fields[keyPath: member]
    }

    /// The path from the model to the property.
    public static func path(of field: ToOneField) -> String { field.path.dotted(field.name) }

    var fields: Target.Fields { Target.Fields(path: path.appending(name)) }
    var node: ExpressionNode { path.property(name) }

    /// Whether it links to one of these objects.
    public func `in`(_ objects: some Sequence<Target>) -> Condition {
        Condition(Target.isOne(of: objects.map(\.primaryKey), node))
    }

    /// Whether it links to one of the objects with these keys.
    public func `in`(ids: some Sequence<Target.Key>) -> Condition { Condition(Target.isOne(of: Array(ids), node)) }
}

extension Model {
    /// Whether a key or a to-one is one of these keys; an invalid one is an error when the query runs.
    static func isOne(of keys: [Key?], _ node: ExpressionNode) -> ExpressionNode {
        do {
            return .keyIn(node, try keys.map { try keyValue(given($0)) })
        } catch {
            return .invalid("\(error)")
        }
    }
}

/// The other side of a one-to-one in a query.
public typealias HasOneField = ToOneField

extension ToOneField: EqualityOperand {
    /// Whether it links to an object, or to none. An object without a key is an error when the query runs.
    @_documentation(visibility: internal)
    public func isEqual(to object: Target?) -> Condition {
        Condition(object.map { Target.isOne(of: [$0.primaryKey], node) } ?? .isNull(node))
    }

    /// Whether it links to another object than that, or to none.
    @_documentation(visibility: internal)
    public func isUnequal(to object: Target?) -> Condition { !isEqual(to: object) }

    /// Whether it links to the object with that key. A key that isn't assigned yet is an error when the query runs; a
    /// literal `nil` means no link.
    @_documentation(visibility: internal)
    public func isEqual(toKey key: Target.Key?) -> Condition { Condition(Target.isOne(of: [key], node)) }
}

/// Whether two to-ones link to the same object, or both to none.
@_disfavoredOverload
public func == <Target>(left: ToOneField<Target>, right: ToOneField<Target>) -> Condition {
    Condition(.comparison(.equal, left.node, right.node, []))
}

/// Whether two to-ones link to different objects.
@_disfavoredOverload
public func != <Target>(left: ToOneField<Target>, right: ToOneField<Target>) -> Condition { !(left == right) }
