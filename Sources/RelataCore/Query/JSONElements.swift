/// A step into a JSON value.
public enum JSONStep: Hashable, Sendable {
    /// To the member of an object.
    case member(String)
    /// To the element of an array, counted from 0.
    case index(Int)
}

/// What a JSON value is read as. JSON's `null` is unset in each.
public enum JSONKind: Hashable, Sendable {
    /// A number.
    case number
    /// A string.
    case text
    /// `true` or `false`.
    case boolean
    /// An object or array, as the JSON text that stands there.
    case compound
    /// Whatever it is: text of what is compound, 1 and 0 for `true` and `false`.
    case any
    /// Whatever it is, as JSON text.
    case json
}

/// The elements of an array in a JSON value, one after the other known to a condition.
public struct JSONElements: Hashable, Sendable {
    /// The JSON value.
    package var json: ExpressionNode
    /// Where in it the array stands; empty for the value itself.
    package var path: [JSONStep]
    /// The number of the scope in which an element is known to conditions on it.
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
        // The scope is known to this condition alone, which asks for nothing outside.
        let element = ExpressionNode.element(scope: .max, kind)
        return .anyElement(
            JSONElements(of: array, scope: .max),
            condition: value.isNull ? .isNull(element) : .comparison(.equal, element, .value(value), []))
    }
}
