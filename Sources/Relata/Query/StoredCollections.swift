import Foundation
import RelataCore
import RelataEngine

// Conditions on the contents of an attribute: whether it is empty, the elements of arrays and sets, and the members of
// `Codable` values, all of which a column stores as JSON.

/// A type with `isEmpty` in a query: text, data, arrays, sets and dictionaries, and optionals of these.
public protocol EmptiableOperand {
    /// The condition that the value is empty.
    @_documentation(visibility: internal)
    static func isEmpty(_ node: ExpressionNode) -> ExpressionNode
}

extension EmptiableOperand {
    /// A JSON value without anything in it.
    @_documentation(visibility: internal)
    public static func isEmpty(_ node: ExpressionNode) -> ExpressionNode { .function(.isEmptyJSON, [node]) }
}

extension String: EmptiableOperand {
    /// The text without characters.
    @_documentation(visibility: internal)
    public static func isEmpty(_ node: ExpressionNode) -> ExpressionNode {
        .comparison(.equal, node, .value(.text("")), [])
    }
}

extension Data: EmptiableOperand {
    /// No bytes.
    @_documentation(visibility: internal)
    public static func isEmpty(_ node: ExpressionNode) -> ExpressionNode {
        .comparison(.equal, node, .value(.blob(Data())), [])
    }
}

extension Array: EmptiableOperand {}
extension Set: EmptiableOperand {}
extension Dictionary: EmptiableOperand {}
extension Optional: EmptiableOperand where Wrapped: EmptiableOperand {
    /// As for a value that is set.
    @_documentation(visibility: internal)
    public static func isEmpty(_ node: ExpressionNode) -> ExpressionNode { Wrapped.isEmpty(node) }
}

extension QueryExpression where QueryValue: EmptiableOperand {
    /// Whether the text, the data, the array, the set or the dictionary is empty. An unset value isn't empty.
    public var isEmpty: Condition { Condition(QueryValue.isEmpty(node)) }
}

// MARK: Elements

/// An array or a set that an attribute holds, or one that may be unset.
public protocol ListOperand {
    /// The type of the elements.
    associatedtype ListElement: Codable
}
extension Array: ListOperand where Element: Codable {
    /// The type of the elements.
    public typealias ListElement = Element
}
extension Set: ListOperand where Element: Codable {
    /// The type of the elements.
    public typealias ListElement = Element
}
extension Optional: ListOperand where Wrapped: ListOperand {
    /// The type of the elements.
    public typealias ListElement = Wrapped.ListElement
}

extension QueryExpression where QueryValue: ListOperand, QueryValue.ListElement: Sendable {
    /// Whether an element of the list equals a value: `$0.tags.contains("new")`. An unset list has no elements.
    public func contains(_ element: QueryValue.ListElement) -> Condition {
        let coding = ExpressionCoding<QueryValue.ListElement>(jsonOf: QueryValue.ListElement.self)
        do {
            return Condition(.hasElement(node, try coding.encode(element), kind: coding.kind))
        } catch {
            return Condition(.invalid("\(error)"))
        }
    }

    /// Whether an element of the list meets a condition.
    ///
    /// ```swift
    /// Order.where { $0.lines.contains { $0.quantity > 10 } }
    /// ```
    public func contains<Check: QueryExpression<Bool>>(
        where condition: (MemberExpression<QueryValue.ListElement>) -> Check
    ) -> Condition {
        let coding = ExpressionCoding<QueryValue.ListElement>(jsonOf: QueryValue.ListElement.self)
        let depth = ElementScope.depth
        // Inner conditions have separate scopes.
        let check = ElementScope.$depth.withValue(depth + 1) {
            condition(MemberExpression(.element(scope: depth, coding.kind), coding))
        }
        return Condition(.anyElement(JSONElements(of: node, scope: depth), condition: check.node))
    }

    /// The number of elements; unset if the list is.
    public var count: TypedExpression<Int> { TypedExpression(.function(.elementCount, [node])) }
}

/// The number of the next element's scope. Numbers of objects' scopes are far smaller.
private enum ElementScope {
    @TaskLocal static var depth = 1_000_000
}

// MARK: Members

extension QueryExpression where QueryValue: Codable {
    /// A member of a `Codable` value, by the path of names in its JSON; unset if it is missing, or of another kind.
    ///
    /// ```swift
    /// Customer.where { $0.address.member("city", as: String.self) == "Oslo" }
    /// Customer.where { $0.address.member("location", "latitude", as: Double.self) > 60 }
    /// ```
    ///
    /// The names are those of the coding keys. They are text, for which the compiler knows no mistake: an unknown name is
    /// unset in every object. So prefer properties, as in `$0.address.city` (``MemberedExpression``), where their names
    /// are those in the JSON. No index serves a member: if you search large tables by a value, store it as an attribute.
    public func member<Member: Codable & Sendable>(
        _ names: String..., as type: Member.Type
    ) -> TypedExpression<Member?> {
        let coding = ExpressionCoding<Member>(jsonOf: type)
        return TypedExpression(self.member(names, coding), coding.optional)
    }
}

extension QueryExpression {
    /// A member of the value, by the path of its names.
    func member<Member: Codable & Sendable>(
        _ names: [String], _ coding: ExpressionCoding<Member>
    ) -> ExpressionNode {
        guard self.coding.type == .json || self.coding.type == nil, !names.isEmpty else {
            return .invalid("only a value that is stored as JSON has members, and a member has a name")
        }
        let path = names.map { JSONStep.member($0) }
        // A member of a member is one path: each function within another would repeat it.
        if case .function(.json(.json, let outer), let arguments) = node {
            return .function(.json(coding.kind, outer + path), arguments)
        }
        return .function(.json(coding.kind, path), [node])
    }
}

extension ExpressionCoding where Value: Codable & Sendable {
    /// The form of a value within JSON.
    init(jsonOf type: Value.Type) {
        let kind = JSONKind(of: type)
        self.init(
            type: nil, encode: { try JSONPart.value(of: $0, kind) }, decode: { try JSONPart.decode(type, $0, kind) })
    }

    /// The kind of JSON value that the type is written as.
    fileprivate var kind: JSONKind { JSONKind(of: Value.self) }
}

extension JSONKind {
    /// The output of `JSONEncoder` for a type, as far as the type determines it; ``json`` for all others.
    fileprivate init(of type: Any.Type) {
        switch type {
        case is Bool.Type: self = .boolean
        case is any BinaryInteger.Type, is any BinaryFloatingPoint.Type, is Decimal.Type, is Date.Type: self = .number
        case is String.Type, is URL.Type, is UUID.Type, is Data.Type: self = .text
        case let raw as any RawRepresentable.Type: self.init(of: Self.rawValue(of: raw))
        default: self = .json
        }
    }

    private static func rawValue<Raw: RawRepresentable>(of type: Raw.Type) -> Any.Type { Raw.RawValue.self }
}

/// A value in the form in which it is stored within a JSON value.
private enum JSONPart {
    /// The value as the engine reads that kind from JSON.
    static func value(of part: some Encodable, _ kind: JSONKind) throws -> RelataCore.Value {
        let text = try JSONText.encode(part)
        switch kind {
        case .boolean: return .integer(text == "true" ? 1 : 0)
        case .text: return .text(try JSONDecoder().decode(String.self, from: Data(text.utf8)))
        case .number: return Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) } ?? .text(text)
        case .json, .compound, .any: return .text(text)
        }
    }

    static func decode<Part: Decodable>(_ type: Part.Type, _ value: RelataCore.Value, _ kind: JSONKind) throws -> Part {
        let text: String =
            switch (value, kind) {
            case (.text(let text), .text): try JSONText.encode(text)
            case (.text(let text), _): text
            case (.integer(let number), .boolean): number == 0 ? "false" : "true"
            case (.integer(let number), _): String(number)
            case (.real(let number), _): String(number)
            default: "null"
            }
        do {
            return try JSONDecoder().decode(type, from: Data(text.utf8))
        } catch {
            throw RelataError.corruptStore("\"\(text.prefix(60))\" isn't JSON of \(type): \(error)")
        }
    }
}
