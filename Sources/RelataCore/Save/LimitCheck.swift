import Foundation

extension Limit {
    /// The failure of an attribute's value, or `nil` if it meets the limit. An unset value meets every limit.
    package func failure(of value: Value, type: AttributeType) -> String? {
        if value.isNull { return nil }
        switch self {
        case .notEmpty:
            let isEmpty =
                switch value {
                case .text(let text) where type == .json: ["[]", "{}", "\"\""].contains(text)  // a collection
                case .text(let text): text.allSatisfy(\.isWhitespace)
                case .blob(let data): data.isEmpty
                default: false
                }
            return isEmpty ? "must not be empty" : nil
        case .range(let minimum, let maximum):
            if let minimum, value.order(minimum).isLess {
                return "must be at least \(Self.plain(minimum)), and is \(value)"
            }
            if let maximum, value.order(maximum).isGreater {
                return "must be at most \(Self.plain(maximum)), and is \(value)"
            }
            return nil
        case .integerRange(let minimum, let maximum):
            if let minimum, value.order(minimum).isLess { return "must be at least \(minimum), and is \(value)" }
            if let maximum, value.order(maximum).isGreater { return "must be at most \(maximum), and is \(value)" }
            return nil
        case .length(let minimum, let maximum):
            let (length, unit) =
                switch value {
                case .text(let text): (text.count, "characters")
                case .blob(let data): (data.count, "bytes")
                default: (0, "")
                }
            if unit.isEmpty { return nil }
            if let minimum, length < minimum { return "must have at least \(minimum) \(unit), and has \(length)" }
            if let maximum, length > maximum { return "must have at most \(maximum) \(unit), and has \(length)" }
            return nil
        case .pattern(let pattern):
            guard case .text(let text) = value else { return nil }
            guard let search = try? TextSearch(pattern, isWhole: true) else {
                return "has the limit /\(pattern)/, which isn't a regular expression for a whole text"
            }
            var timeLeft = TextSearch.limit
            do {
                return try search.isFound(in: text, timeLeft: &timeLeft) ? nil : "must match /\(pattern)/"
            } catch {
                return "takes too long to compare with /\(pattern)/: make the pattern simpler"
            }
        }
    }

    private static func plain(_ number: Double) -> String {
        Int64(exactly: number).map { String($0) } ?? String(number)
    }
}

extension Table {
    /// Checks a value against the limits of its attribute.
    package func checkLimits(
        of value: Value, _ column: Column, key: @autoclosure () -> KeyValue?, into failures: inout [ValidationFailure]
    ) {
        for limit in entity.attribute(column.property)?.limits ?? [] {
            guard let message = limit.failure(of: value, type: column.type) else { continue }
            failures.append(ValidationFailure(entity: name, property: column.property, key: key(), message: message))
        }
    }
}

extension Value {
    /// The order of a number and a bound. Integers are compared as such: not each of them is a `Double`.
    fileprivate func order(_ bound: Double) -> (isLess: Bool, isGreater: Bool) {
        switch self {
        case .integer(let value):
            // The integers next to the bound have the same order to an integer as the bound; there is none beyond all
            // integers.
            let (floor, ceiling) = (Int64(exactly: bound.rounded(.down)), Int64(exactly: bound.rounded(.up)))
            return (ceiling.map { value < $0 } ?? (bound > 0), floor.map { value > $0 } ?? (bound < 0))
        case .real(let value): return (value < bound, value > bound)
        case .text(let text):  // a decimal, to a bound that is the `Double` next to what was written
            guard let value = Double(text) else { return (false, false) }
            return (value < bound, value > bound)
        case .null, .blob, .uuid: return (false, false)
        }
    }

    fileprivate func order(_ bound: Int64) -> (isLess: Bool, isGreater: Bool) {
        switch self {
        case .integer(let value): return (value < bound, value > bound)
        case .real(let value):
            let order = Value.integer(bound).order(value)
            return (order.isGreater, order.isLess)
        case .text(let text):
            guard let value = DecimalText.parse(text) else { return (false, false) }
            return (value < Decimal(bound), value > Decimal(bound))
        case .null, .blob, .uuid: return (false, false)
        }
    }
}
