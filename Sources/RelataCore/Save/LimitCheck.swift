import Foundation

extension Limit {
    /// What is wrong with an attribute's value, or `nil` when it meets the limit. An unset value meets every limit.
    public func failure(of value: Value, type: AttributeType) -> String? {
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
            let number: Double? =
                switch value {
                case .integer(let value): Double(value)
                case .real(let value): value
                case .text(let text): Double(text)  // a decimal
                default: nil
                }
            guard let number else { return nil }
            if let minimum, number < minimum { return "must be at least \(Self.plain(minimum)), and is \(value)" }
            if let maximum, number > maximum { return "must be at most \(Self.plain(maximum)), and is \(value)" }
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
            do {
                return try TextPattern.matches(text, pattern) ? nil : "must match /\(pattern)/"
            } catch {
                return "has the limit /\(pattern)/, which is no regular expression"
            }
        }
    }

    private static func plain(_ number: Double) -> String {
        Int64(exactly: number).map { String($0) } ?? String(number)
    }
}
