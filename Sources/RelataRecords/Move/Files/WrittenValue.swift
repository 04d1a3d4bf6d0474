import Foundation
import RelataCore
import RelataEngine

/// A value in files, independent of their format.
enum WrittenValue {
    case none
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)
    /// A text that is JSON.
    case json(String)
}

extension MovedField {
    /// The written form of a stored value: dates in ISO 8601 if possible, bytes in Base64, decimals and UUIDs as texts.
    /// Reading it returns the same value.
    func written(_ value: Value) -> WrittenValue {
        switch (type, value) {
        case (_, .null): .none
        case (.boolean, .integer(0)): .boolean(false)
        case (.boolean, .integer(1)): .boolean(true)
        case (.date(.microseconds), .integer(let microseconds)):
            DateText.textRange.contains(microseconds)
                ? .text(DateText.text(microseconds: microseconds)) : .integer(microseconds)
        case (.date(.seconds), .real(let seconds)): Self.written(seconds: seconds)
        case (.json, .text(let text)): .json(text)
        case (_, .integer(let number)): .integer(number)
        case (_, .real(let number)): .real(number)
        case (_, .text(let text)): .text(text)
        case (_, .blob(let data)): .text(data.base64EncodedString())
        case (_, .uuid(let id)): .text(id.uuidString.lowercased())
        }
    }

    private static func written(seconds: Double) -> WrittenValue {
        guard let microseconds = Int64(exactly: (seconds * 1_000_000).rounded()),
            DateText.textRange.contains(microseconds), Double(microseconds) / 1_000_000 == seconds
        else { return .real(seconds) }
        return .text(DateText.text(microseconds: microseconds))
    }

    /// Whether a value is of the field's type, so that its written form can be read again.
    func fits(_ value: Value) -> Bool {
        switch (type, value) {
        case (_, .null): true
        case (.date(.iso8601), .text(let text)): DateText.microseconds(text: text) != nil
        case (.uuid(.text), .text(let text)): UUID(uuidString: text) != nil
        case (.json, .text(var text)): text.withUTF8 { JSONScanner.isJSON($0, depth: Self.maximumDepth) }
        default: CopiedTable.fitting(value, type, keepsIntegers: keepsIntegers, .sqlite) != nil
        }
    }

    /// The maximum depth of nested arrays and objects in a field.
    static let maximumDepth = 512
}
