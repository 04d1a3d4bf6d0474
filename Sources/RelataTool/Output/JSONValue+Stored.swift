import Foundation
import RelataCore

extension JSONValue {
    /// A stored value: bytes in Base64, and infinite numbers as text, because JSON has none.
    init(_ value: RelataCore.Value, as type: AttributeType) {
        switch (value, type) {
        case (.null, _): self = .null
        case (.integer(let value), .boolean) where value == 0 || value == 1: self = .bool(value == 1)
        case (.integer(let value), .date(.microseconds)): self = .string(DateText.text(microseconds: value))
        case (.integer(let value), _): self = .integer(value)
        case (.real(let value), _): self = value.isFinite ? .double(value) : .string("\(value)")
        case (.text(let value), _): self = .string(value)
        case (.blob(let value), _): self = .string(value.base64EncodedString())
        case (.uuid(let value), _): self = .string(value.uuidString.lowercased())
        }
    }

    /// A number, or `null`.
    init(_ value: Int?) { self = value.map { .integer(Int64($0)) } ?? .null }

    /// Text, or `null`.
    init(_ value: String?) { self = value.map { .string($0) } ?? .null }

    /// Texts.
    init(_ values: [String]) { self = .array(values.map { .string($0) }) }
}
