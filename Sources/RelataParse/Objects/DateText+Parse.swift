import Foundation
import RelataCore

extension DateText {
    /// A date as Parse writes it, with milliseconds: `2026-11-20T22:57:12.011Z`.
    package static func parseText(_ date: Date) -> String { parseText(microseconds: microseconds(of: date) ?? 0) }

    /// A date as Parse writes it. Fractions below a millisecond are dropped.
    static func parseText(microseconds: Int64) -> String {
        let text = text(microseconds: microseconds)
        return String(text.dropLast(4)) + "Z"
    }

    /// The microseconds since 1970 of a date in a column, in any encoding; `nil` for a value that isn't a date.
    static func microseconds(of value: Value, _ encoding: DateEncoding) -> Int64? {
        switch value {
        case .integer(let number): encoding == .seconds ? Int64(exactly: Double(number) * 1_000_000) : number
        case .real(let seconds): Int64(exactly: (seconds * 1_000_000).rounded())
        case .text(let text): microseconds(text: text)
        case .null, .blob, .uuid: nil
        }
    }
}
