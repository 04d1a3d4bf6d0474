/// A step into a JSON value.
public enum JSONStep: Hashable, Sendable {
    /// To the member of an object.
    case member(String)
    /// To the element of an array, counted from 0.
    case index(Int)
}

/// The kind as which a JSON value is read. JSON's `null` is unset in each.
public enum JSONKind: Hashable, Sendable {
    /// A number.
    case number
    /// A string.
    case text
    /// `true` or `false`.
    case boolean
    /// An object or array, as its JSON text.
    case compound
    /// Any kind: text for compound values, 1 and 0 for `true` and `false`.
    case any
    /// Any kind, as JSON text.
    case json
}

/// The elements of an array in a JSON value, to which a condition refers one after the other.
public struct JSONElements: Hashable, Sendable {
    /// The JSON value.
    package var json: ExpressionNode
    /// The path of the array in it; empty for the value itself.
    package var path: [JSONStep]
    /// The number of the scope that refers to an element in conditions on it.
    package var scope: Int

    /// The elements of the array at a place.
    package init(of json: ExpressionNode, at path: [JSONStep] = [], scope: Int) {
        self.json = json
        self.path = path
        self.scope = scope
    }
}

extension ExpressionNode {
    /// Whether a JSON array has an element that equals a value: text, a number, or `null`.
    public static func hasElement(_ array: ExpressionNode, _ value: Value, kind: JSONKind = .any) -> ExpressionNode {
        // The scope belongs to this condition alone, which uses no others.
        let element = ExpressionNode.element(scope: .max, kind)
        return .anyElement(
            JSONElements(of: array, scope: .max),
            condition: value.isNull ? .isNull(element) : .comparison(.equal, element, .value(value), []))
    }
}
