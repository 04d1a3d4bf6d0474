import Foundation
import RelataCore

/// A JSON value whose objects keep the order of their members, which Foundation's don't.
indirect enum JSON {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    case array([JSON])
    case object([(String, JSON)])

    /// A value as it is stored: bytes in Base64, as JSON has none.
    init(_ value: Value, as type: AttributeType? = nil) {
        switch (value, type) {
        case (.null, _): self = .null
        case (.integer(let value), .boolean) where value == 0 || value == 1: self = .boolean(value == 1)
        case (.integer(let value), .date(.microseconds)): self = .text(DateText.text(microseconds: value))
        case (.integer(let value), _): self = .integer(value)
        case (.real(let value), _): self = .real(value)
        case (.text(let value), _): self = .text(value)
        case (.blob(let value), _): self = .text(value.base64EncodedString())
        case (.uuid(let value), _): self = .text(value.uuidString.lowercased())
        }
    }

    /// A number, or `null`.
    init(_ value: Int?) { self = value.map { .integer(Int64($0)) } ?? .null }

    /// Text, or `null`.
    init(_ value: String?) { self = value.map { .text($0) } ?? .null }

    /// Texts.
    init(_ values: [String]) { self = .array(values.map { .text($0) }) }

    /// The value over several lines, indented by two spaces. What holds nothing but plain values stays on its line.
    func text(indent: String = "") -> String {
        let inner = indent + "  "
        switch self {
        case .array(let values) where !values.allSatisfy(\.isPlain):
            return "[\n" + values.map { inner + $0.text(indent: inner) }.joined(separator: ",\n") + "\n\(indent)]"
        case .object(let members) where !members.isEmpty:
            let lines = members.map { "\(inner)\(Self.quoted($0)): \($1.text(indent: inner))" }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(indent)}"
        case .null: return "null"
        case .boolean(let value): return value ? "true" : "false"
        case .integer(let value): return String(value)
        // JSON has no infinity.
        case .real(let value): return value.isFinite ? "\(value)" : Self.quoted("\(value)")
        case .text(let value): return Self.quoted(value)
        case .array(let values): return "[" + values.map { $0.text() }.joined(separator: ", ") + "]"
        case .object: return "{}"
        }
    }

    private var isPlain: Bool {
        switch self {
        case .array, .object: false
        case .null, .boolean, .integer, .real, .text: true
        }
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\r": quoted += "\\r"
            case "\t": quoted += "\\t"
            case _ where scalar.value < 0x20 || scalar.value == 0x7F:
                let digits = String(scalar.value, radix: 16)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }
}
