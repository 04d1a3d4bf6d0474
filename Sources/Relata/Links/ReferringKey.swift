import Foundation
import RelataCore
import RelataEngine

extension Model {
    /// The key that a column of another type refers to, as files of other programs have them: SQLite compares a reference by
    /// the type of the column that it refers to, so the text `7` refers to the integer 7. `nil` where it can refer to none.
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
    /// The integer that a text is to SQLite where it is compared with one.
    fileprivate init?(referring text: String) {
        let plain = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if let integer = Int64(plain) {
            self = integer
            return
        }
        // Of what Swift reads as a number besides, SQLite reads no hexadecimal digits.
        guard plain.allSatisfy({ $0.isNumber || "+-.eE".contains($0) }), let real = Double(plain) else { return nil }
        self.init(exactly: real)
    }
}
