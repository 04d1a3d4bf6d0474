import Foundation

extension Value {
    /// The value as a column of that type stores it, or `nil` if it can't hold it.
    ///
    /// Constants in expressions don't depend on the column's storage: a date is an integer of microseconds since 1970,
    /// a UUID is `.uuid`, a decimal is text or a number. A value that already has the column's form stays unchanged.
    package func stored(as type: AttributeType) -> Value? {
        switch (type, self) {
        case (_, .null): self
        case (.boolean, .integer), (.integer, .integer), (.integer, .real), (.real, .integer), (.real, .real): self
        case (.text, .text), (.json, .text), (.data, .blob): self
        case (.data, .uuid(let uuid)): .blob(uuid.data)
        case (.decimal, _): decimalText.map { .text($0) }
        case (.date(.microseconds), .integer), (.date(.seconds), .real), (.date(.iso8601), .text): self
        case (.date(let encoding), _): microseconds.flatMap { Value(microseconds: $0, encoding: encoding) }
        case (.uuid(.blob), .uuid): self
        case (.uuid(let encoding), _): uuid.map { encoding == .blob ? .uuid($0) : .text($0.uuidString.lowercased()) }
        default: nil
        }
    }

    /// A number rounded to a `Float`: 0.1 differs there.
    var singlePrecision: Value {
        switch self {
        case .real(let number): .real(Double(Float(number)))
        case .integer(let number): .real(Double(Float(number)))
        case .null, .text, .blob, .uuid: self
        }
    }

    /// A date as a column stores it; `nil` if ISO 8601 has no text for it.
    package init?(microseconds: Int64, encoding: DateEncoding) {
        switch encoding {
        case .microseconds: self = .integer(microseconds)
        case .seconds: self = .real(Double(microseconds) / 1_000_000)
        case .iso8601:
            guard DateText.textRange.contains(microseconds) else { return nil }
            self = .text(DateText.text(microseconds: microseconds))
        }
    }

    /// The microseconds since 1970 of a date in any encoding.
    var microseconds: Int64? {
        switch self {
        case .integer(let value): value
        case .real(let value): Int64(exactly: (value * 1_000_000).rounded())
        case .text(let value): DateText.microseconds(text: value)
        case .null, .blob, .uuid: nil
        }
    }

    /// The number as decimal text; `nil` for a value that isn't a decimal number.
    private var decimalText: String? {
        switch self {
        case .integer(let value): String(value)
        case .real(let value): value.isFinite ? String(value) : nil
        case .text(let value): DecimalText.parse(value) == nil ? nil : value
        case .null, .blob, .uuid: nil
        }
    }

    private var uuid: UUID? {
        switch self {
        case .uuid(let value): value
        case .text(let value): UUID(uuidString: value)
        case .blob(let value) where value.count == 16:
            value.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        default: nil
        }
    }
}

extension Value {
    /// The value as JSON text; values that JSON doesn't have as a string.
    var json: String {
        var json = JSONWriter(capacity: 40)
        switch self {
        case .null: json.append("null")
        case .integer(let number): json.write(number)
        case .real(let number): json.write(number)
        case .text(let text): json.write(text)
        case .blob, .uuid: json.write(description)
        }
        return String(decoding: json.bytes, as: UTF8.self)
    }
}

extension UUID {
    /// The sixteen bytes.
    var data: Data { withUnsafeBytes(of: uuid) { Data($0) } }
}

/// Decimal numbers kept as text.
package enum DecimalText {
    /// The number that the whole text represents, or `nil`: `12`, `-0.50`, `1e3`.
    package static func parse(_ text: String) -> Decimal? {
        // Decimal reads up to the first character that isn't part of a number, so `12abc` would be read as 12.
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) || [0x2B, 0x2D, 0x2E, 0x45, 0x65].contains($0) }) else {
            return nil
        }
        return Decimal(string: text, locale: Locale(identifier: "en_US_POSIX"))
    }

    /// The number in a canonical form, with all its digits: `15e-1` for `1.50`.
    package static func canonical(_ text: String) -> String {
        parse(text) == nil ? text : canonical(number: text) ?? text
    }

    /// The canonical form of a text that is known to be a number of any size; `nil` for one without digits, or with an
    /// extreme exponent.
    package static func canonical(number text: String) -> String? {
        let parts = text.lowercased().split(separator: "e", maxSplits: 1)
        guard let mantissa = parts.first, mantissa.utf8.contains(where: { (0x30...0x39).contains($0) }),
            let exponent = Int32(parts.count > 1 ? parts[1] : "0")
        else { return nil }
        let halves = mantissa.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        let fraction = halves.count > 1 ? halves[1] : ""
        let digits = (halves[0] + fraction).drop { "+-0".contains($0) }
        let zeros = digits.reversed().prefix { $0 == "0" }.count
        let significant = digits.dropLast(zeros)
        if significant.isEmpty { return "0" }
        return (text.hasPrefix("-") ? "-" : "") + "\(significant)e\(Int(exponent) - fraction.count + zeros)"
    }
}

extension AttributeType {
    /// The type as a word in a message: `text`, `a number`, `a date`.
    var spelled: String {
        switch self {
        case .boolean: "a boolean"
        case .integer: "an integer"
        case .real: "a number"
        case .decimal: "a decimal number"
        case .text: "text"
        case .date: "a date"
        case .data: "data"
        case .uuid: "a UUID"
        case .json: "a JSON value"
        }
    }

    /// Whether it is a date in any encoding.
    package var isDate: Bool { if case .date = self { true } else { false } }

    /// Whether arithmetic makes sense.
    var isNumber: Bool { self == .integer || self == .real || self == .decimal }
}

extension Value {
    /// The type of the value, as far as it is known without a column.
    var type: AttributeType? {
        switch self {
        case .null: nil
        case .integer: .integer
        case .real: .real
        case .text: .text
        case .blob: .data
        case .uuid: .uuid(.blob)
        }
    }
}

extension Value {
    /// Whether the value can be compared with those of a type, or stored among them.
    package func isStored(as type: AttributeType) -> Bool { stored(as: type) != nil }
}
