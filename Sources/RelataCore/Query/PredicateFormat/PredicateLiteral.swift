/// A constant in a predicate, whose form depends on the other operand.
enum PredicateLiteral: Equatable {
    case text(String)
    /// As written, so that a decimal keeps its precision.
    case number(String)
    case boolean(Bool)
    case null
    case argument(PredicateArgument)

    /// The constant if its type isn't known.
    var plainValue: Value? {
        switch self {
        case .text(let text): .text(text)
        case .number(let number): Int64(number).map { .integer($0) } ?? Double(number).map { .real($0) }
        case .boolean(let isTrue): .integer(isTrue ? 1 : 0)
        case .null: .null
        case .argument(.value(let value)): value
        case .argument: nil
        }
    }

    /// The constant as a value of an attribute's type.
    func value(as type: AttributeType?, _ name: String) throws(PredicateMismatch) -> Value {
        guard let type else {
            guard let value = plainValue else { throw PredicateMismatch("one value, not a list or an object") }
            return value
        }
        switch (self, type) {
        case (.null, _): return .null
        case (.argument(.value(let value)), _):
            guard let stored = value.stored(as: type) else {
                throw PredicateMismatch("\(type.spelled) for \(name), not \(value)")
            }
            return stored
        case (.argument(.key(let key)), _) where key.values.count == 1:
            guard let stored = key.values[0].stored(as: type) else {
                throw PredicateMismatch("\(type.spelled) for \(name), not \(key)")
            }
            return stored
        case (.argument, _): throw PredicateMismatch("one value for \(name), not a list or an object")
        case (.boolean(let isTrue), .boolean), (.boolean(let isTrue), .integer): return .integer(isTrue ? 1 : 0)
        case (.number("1"), .boolean): return .integer(1)
        case (.number("0"), .boolean): return .integer(0)
        case (.number(let number), .decimal): return .text(number)
        case (.number, .integer), (.number, .real):
            guard let value = plainValue else { throw PredicateMismatch("a number for \(name)") }
            return value
        case (.number(let number), .text):
            throw PredicateMismatch("text for \(name), which is text: write '\(number)'")
        case (.text(let text), .text), (.text(let text), .json): return .text(text)
        case (.text(let text), .date):
            guard let microseconds = DateText.microseconds(text: text) else {
                throw PredicateMismatch("a date such as '2026-11-21' or '2026-11-21T06:19:00Z' for \(name)")
            }
            return .integer(microseconds)
        case (.text(let text), .uuid):
            guard let value = Value.text(text).stored(as: type) else {
                throw PredicateMismatch("a UUID such as '01890A5D-AC96-774B-BCCE-B302099A8057' for \(name)")
            }
            return value
        case (.text(let text), .integer), (.text(let text), .real), (.text(let text), .decimal):
            let isNumber = DecimalText.parse(text) != nil
            throw PredicateMismatch("a number for \(name)" + (isNumber ? ": write \(text) without quotes" : ""))
        case (.number, .date): throw PredicateMismatch("a date for \(name): write it as text such as '2026-11-21'")
        default: throw PredicateMismatch("\(type.spelled) for \(name)")
        }
    }
}

/// A literal that doesn't fit: the expected type. The caller knows the position.
struct PredicateMismatch: Error {
    let expected: String

    init(_ expected: String) { self.expected = expected }
}
