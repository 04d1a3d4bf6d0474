import Foundation
import RelataCore

/// Converts the contents of files to values.
extension MovedField {
    /// The value of a field of a row.
    ///
    /// - Throws: A ``RowProblem`` for an invalid value of the field's type.
    func value(of field: RawField, in bytes: UnsafeBufferPointer<UInt8>) throws(RowProblem) -> Value {
        let slice = UnsafeBufferPointer(rebasing: bytes[field.start..<field.end])
        switch field.form {
        case .absent, .null: return .null
        case .bare where slice.isEmpty: return .null
        case .quoted where slice.isEmpty: return emptyText
        case .bare, .quoted: return try value(ofText: try text(slice), isQuoted: field.form == .quoted)
        case .doubled:
            let text = try text(slice).replacingOccurrences(of: "\"\"", with: "\"", options: .literal)
            return try value(ofText: text, isQuoted: true)
        case .isTrue, .isFalse:
            if type == .json { return .text(try text(slice)) }
            guard type == .boolean else { throw wrong(try text(slice)) }
            return .integer(field.form == .isTrue ? 1 : 0)
        case .number: return try value(ofNumber: try text(slice))
        case .json:
            guard type == .json else { throw wrong(try text(slice)) }
            return .text(try text(slice))
        case .string:
            if type == .json {
                return .text(try text(UnsafeBufferPointer(rebasing: bytes[field.start - 1..<field.end + 1])))
            }
            guard let text = JSONScanner.text(slice) else { throw Self.noUTF8(name) }
            return try value(ofString: text)
        }
    }

    /// An empty text between quotes: of CSV, which quotes some values and not others.
    private var emptyText: Value {
        switch type {
        case .text: .text("")
        case .data: .blob(Data())
        default: .null
        }
    }

    private func text(_ bytes: UnsafeBufferPointer<UInt8>) throws(RowProblem) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.noUTF8(name) }
        return text
    }

    private static func noUTF8(_ name: String) -> RowProblem {
        RowProblem("isn't UTF-8: save the file as UTF-8", field: name)
    }

    private func wrong(_ text: String) -> RowProblem {
        let shown = text.count > 40 ? text.prefix(40) + "…" : text[...]
        return RowProblem("\"\(shown)\" isn't \(type.noun)", field: name)
    }

    // MARK: By form

    /// A value of CSV, in which everything is text.
    private func value(ofText text: String, isQuoted: Bool) throws(RowProblem) -> Value {
        switch type {
        case .text: return .text(text)
        case .json:
            var text = text
            guard text.withUTF8({ JSONScanner.isJSON($0, depth: Self.maximumDepth) }) else { throw wrong(text) }
            return .text(text)
        default:
            let trimmed = text.trimmingCharacters(in: .whitespaces)
            return trimmed.isEmpty ? .null : try parsed(trimmed)
        }
    }

    /// A string of JSON.
    private func value(ofString text: String) throws(RowProblem) -> Value {
        switch type {
        case .text: return .text(text)
        case .data where text.isEmpty: return .blob(Data())
        case .integer, .boolean: throw wrong(text)
        // JSON has no numbers for these.
        case .real:
            guard let number = Double(text), !number.isFinite else { throw wrong(text) }
            return .real(number)
        default: return try parsed(text)
        }
    }

    /// A number of JSON.
    private func value(ofNumber text: String) throws(RowProblem) -> Value {
        switch type {
        case .json: return .text(text)
        case .text, .data, .uuid: throw wrong(text)
        case .integer, .boolean:
            // 1.0 and 1e3 are whole.
            guard Int64(text) == nil, let number = Double(text).flatMap({ Int64(exactly: $0) }),
                number.magnitude < 1 << 53
            else { return try parsed(text) }
            return try parsed(String(number))
        case .date where Int64(text) == nil:
            guard type == .date(.seconds), let number = Double(text) else { throw wrong(text) }
            return .real(number)
        default: return try parsed(text)
        }
    }

    /// A text that spells a value.
    private func parsed(_ text: String) throws(RowProblem) -> Value {
        switch type {
        case .text, .json: return .text(text)
        case .boolean:
            switch text.lowercased() {
            case "true", "t", "yes", "y", "1": return .integer(1)
            case "false", "f", "no", "n", "0": return .integer(0)
            default: throw wrong(text)
            }
        case .integer:
            guard let number = Int64(text) else { throw wrong(text) }
            return .integer(number)
        case .real:
            if keepsIntegers, let number = Int64(text) { return .integer(number) }
            guard let number = Double(text) else { throw wrong(text) }
            return .real(number)
        case .decimal:
            guard let value = Value.text(text).stored(as: .decimal) else { throw wrong(text) }
            return value
        case .data:
            guard let data = Data(base64Encoded: text) else { throw wrong(text) }
            return .blob(data)
        case .uuid(let encoding):
            guard let id = UUID(uuidString: text) else { throw wrong(text) }
            return encoding == .blob ? .uuid(id) : .text(keepsSpelling ? text : id.uuidString.lowercased())
        case .date(let encoding): return try date(text, encoding)
        }
    }

    private func date(_ text: String, _ encoding: DateEncoding) throws(RowProblem) -> Value {
        // A date outside of ISO 8601 is written as it is stored.
        if encoding != .iso8601 {
            if let number = Int64(text) { return .integer(number) }
            if encoding == .seconds, let number = Double(text) { return .real(number) }
        }
        guard let microseconds = DateText.microseconds(text: text) else { throw wrong(text) }
        if encoding == .iso8601, keepsSpelling { return .text(text) }
        return Value(microseconds: microseconds, encoding: encoding) ?? .null
    }
}

extension AttributeType {
    /// A value of the type, in a message.
    fileprivate var noun: String {
        switch self {
        case .boolean: "a boolean: write true or false"
        case .integer: "an integer"
        case .real: "a number"
        case .decimal: "a decimal number"
        case .text: "text: write it as a JSON string"
        case .date: "a date: write it in ISO 8601, as 2026-11-21T06:19:00Z"
        case .data: "data in Base64"
        case .uuid: "a UUID"
        case .json: "JSON"
        }
    }
}
