import Foundation
import RelataCore
import RelataEngine

extension Model {
    /// The target's key for a column of another type, in files of other programs: SQLite compares a reference by the
    /// type of the target column, so the text `7` refers to the integer 7. `nil` if it can't match any key.
    @usableFromInline
    static func referredKey(_ reader: RowReader) -> Key? {
        guard keyTypes.count == 1, let type = Key.self as? any AttributeValue.Type else { return nil }
        let value: Value
        switch (type.attributeType, reader.value(as: nil)) {
        case (.integer, .text(let text)):
            guard let integer = Int64(referring: text) else { return nil }
            value = .integer(integer)
        case (.integer, .real(let real)):
            guard let integer = Int64(exactly: real) else { return nil }
            value = .integer(integer)
        case (.text, .integer(let integer)): value = .text("\(integer)")
        default: return nil
        }
        return type.init(databaseValue: value) as? Key
    }
}

extension Int64 {
    /// The integer that a text equals in SQLite's comparison.
    fileprivate init?(referring text: String) {
        let plain = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if let integer = Int64(plain) {
            self = integer
            return
        }
        // Of the other notations that Swift reads, SQLite doesn't read hexadecimal digits.
        guard plain.allSatisfy({ $0.isNumber || "+-.eE".contains($0) }), let real = Double(plain) else { return nil }
        self.init(exactly: real)
    }
}
