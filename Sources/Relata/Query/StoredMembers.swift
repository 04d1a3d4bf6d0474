import RelataCore
import RelataEngine

// Members of `Codable` values by their properties: `$0.address.city`.
//
// Attributes whose type the macro knows by name have none, so their field is a `Field`: a misspelt member of a text
// causes the same error as for any other type.

/// A value in a query whose `Codable` type has properties: those that are stored are the value's members.
///
/// ```swift
/// Customer.where { $0.address.city == "Oslo" && $0.address.country.code == "NO" }
/// ```
///
/// The property's name must be certain to be that in the JSON. For a computed property, and for a type whose coding keys
/// have raw values or aren't an enum, the query throws ``RelataError/invalidUse(_:)`` when it runs: write
/// ``QueryExpression/member(_:as:)`` there.
@dynamicMemberLookup
public protocol MemberedExpression: QueryExpression {}

/// An attribute in a query, of a type that isn't one of Swift's or Foundation's: an enum, or a `Codable` value, whose
/// properties are its members.
public struct ValueField<Value>: MemberedExpression, AttributeField {
    /// The Swift type of the value.
    public typealias QueryValue = Value
    private let field: Field<Value>

    /// The attribute of that name of the object at the end of a path. Written by `@Model`.
    public init<Coding: AttributeCoding>(_ path: FieldPath, _ name: String, _ coding: Coding)
    where Coding.Value == Value {
        field = Field(path, name, coding)
    }

    /// The expression as plain data.
    public var node: ExpressionNode { field.node }
    /// The coding of its results, and of constants that are compared with it.
    public var coding: ExpressionCoding<Value> { field.coding }

    /// The path from the model to the property.
    public static func path(of field: ValueField) -> String { Field.path(of: field.field) }
}

/// An element of a list, or a member of a value, that may have members.
public struct MemberExpression<Value>: MemberedExpression {
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
}

extension MemberedExpression where QueryValue: Codable {
    /// A stored property of the value.
    public subscript<Member: AttributeValue & Codable & Sendable>(
        dynamicMember member: KeyPath<QueryValue, Member>
    ) -> TypedExpression<Member> {
        stored(member) { TypedExpression($0, $1) }
    }

    /// A stored property of the value that may be unset.
    public subscript<Member: AttributeValue & Codable & Sendable>(
        dynamicMember member: KeyPath<QueryValue, Member?>
    ) -> TypedExpression<Member?> {
        stored(member) { TypedExpression($0, $1.optional) }
    }

    /// A stored property of the value, with members of its own.
    @_disfavoredOverload
    public subscript<Member: Codable & Sendable>(
        dynamicMember member: KeyPath<QueryValue, Member>
    ) -> MemberExpression<Member> {
        stored(member) { MemberExpression($0, $1) }
    }

    /// A stored property of the value that may be unset, with members of its own.
    @_disfavoredOverload
    public subscript<Member: Codable & Sendable>(
        dynamicMember member: KeyPath<QueryValue, Member?>
    ) -> MemberExpression<Member?> {
        stored(member) { MemberExpression($0, $1.optional) }
    }
}

extension MemberedExpression {
    /// A stored property of a value that may be unset.
    public subscript<Wrapped: Codable, Member: AttributeValue & Codable & Sendable>(
        dynamicMember member: KeyPath<Wrapped, Member>
    ) -> TypedExpression<Member?> where QueryValue == Wrapped? {
        stored(member) { TypedExpression($0, $1.optional) }
    }

    /// A stored property, which may be unset, of a value that may be unset.
    public subscript<Wrapped: Codable, Member: AttributeValue & Codable & Sendable>(
        dynamicMember member: KeyPath<Wrapped, Member?>
    ) -> TypedExpression<Member?> where QueryValue == Wrapped? {
        stored(member) { TypedExpression($0, $1.optional) }
    }

    /// A stored property of a value that may be unset, with members of its own.
    @_disfavoredOverload
    public subscript<Wrapped: Codable, Member: Codable & Sendable>(
        dynamicMember member: KeyPath<Wrapped, Member>
    ) -> MemberExpression<Member?> where QueryValue == Wrapped? {
        stored(member) { MemberExpression($0, $1.optional) }
    }

    /// A stored property, which may be unset, of a value that may be unset, with members of its own.
    @_disfavoredOverload
    public subscript<Wrapped: Codable, Member: Codable & Sendable>(
        dynamicMember member: KeyPath<Wrapped, Member?>
    ) -> MemberExpression<Member?> where QueryValue == Wrapped? {
        stored(member) { MemberExpression($0, $1.optional) }
    }

    private func stored<Root: Codable, Value, Member: Codable & Sendable, Expression>(
        _ path: KeyPath<Root, Value>, _ make: (ExpressionNode, ExpressionCoding<Member>) -> Expression
    ) -> Expression {
        let coding = ExpressionCoding(jsonOf: Member.self)
        do {
            return make(try self.member([MemberName.stored(path, as: Member.self)], coding), coding)
        } catch {
            return make(.invalid("\(error)"), coding)
        }
    }
}
