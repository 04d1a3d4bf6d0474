import Foundation
import RelataCore

/// A number that is equal for equal rows, in any order and on any engine.
struct RowChecksum: Hashable {
    /// The number of rows.
    private(set) var rows = 0
    private var sum: UInt64 = 0

    /// The number as text.
    var digits: String { sum.hexadecimal }

    /// Adds a row of a table.
    mutating func add(_ row: [Value], of table: CopiedTable) {
        var hasher = StableHasher()
        for (value, column) in zip(row, table.columns) { hasher.combine(value, as: column.type) }
        rows += 1
        sum &+= hasher.value
    }
}

extension StableHasher {
    /// The value in words that engines don't differ in.
    fileprivate mutating func combine(_ value: Value, as type: AttributeType) {
        switch (type, value) {
        case (_, .null): combine(word: 0)
        case (_, .integer(let number)):
            combine(word: 1)
            combine(word: UInt64(bitPattern: number))
        case (_, .real(let number)):
            combine(word: 2)
            // SQLite keeps no sign of zero.
            combine(word: number.isNaN ? 1 : (number + 0).bitPattern)
        case (.decimal, .text(let text)):
            combine(word: 3)
            combine(DecimalText.canonical(text))
        case (.json, .text(let text)):
            combine(word: 4)
            if let json = CanonicalJSON(text) { combine(bytes: json.bytes) } else { combine(text) }
        case (_, .text(let text)):
            combine(word: 5)
            combine(text)
        case (_, .blob(let data)):
            combine(word: 6)
            combine(bytes: data)
        case (_, .uuid(let uuid)):
            combine(word: 7)
            withUnsafeBytes(of: uuid.uuid) { combine(bytes: $0) }
        }
    }

    private mutating func combine(bytes: some Collection<UInt8>) {
        combine(word: UInt64(bytes.count))
        var (word, count) = (UInt64(0), 0)
        for byte in bytes {
            word = word << 8 | UInt64(byte)
            count += 1
            if count % 8 == 0 { combine(word: word) }
        }
        combine(word: word)
    }
}
