import RelataCore
import RelataEngine

/// Finds a row's owner among many: by a number from 1 at the row's beginning, or by the owner's key.
struct OwnerNumbers {
    /// The owners' keys, if rows have them.
    private let keys: [Value]?
    private let type: AttributeType?
    /// Made if rows aren't in the order of the owners.
    private var numbers: KeyNumbers?
    private var last = 0

    /// Rows begin with numbers.
    init() { (keys, type) = (nil, nil) }

    /// Rows begin with keys of one column.
    init(keys: KeyList, type: AttributeType?) { (self.keys, self.type) = (keys.values, type) }

    /// The number, from 0, of the owner of the current row; `nil` for none of them.
    mutating func next(_ statement: RunningStatement) -> Int32? {
        guard let keys else { return Int32(truncatingIfNeeded: ColumnValue(statement, 0).integer) - 1 }
        let column = ColumnValue(statement, 0)
        // The rows of an owner are mostly consecutive, and follow those of the owner before.
        if column.isInteger {
            let key = column.integer
            for number in last..<min(last + 2, keys.count) {
                guard case .integer(key) = keys[number] else { continue }
                last = number
                return Int32(truncatingIfNeeded: number)
            }
        }
        let key = column.isInteger ? .integer(column.integer) : column.value(as: type)
        for number in last..<min(last + 2, keys.count) where keys[number] == key {
            last = number
            return Int32(truncatingIfNeeded: number)
        }
        guard let number = numbers(of: keys)[key] else { return nil }
        last = Int(number)
        return number
    }

    private mutating func numbers(of keys: [Value]) -> KeyNumbers {
        if let numbers { return numbers }
        let made = KeyNumbers()
        for (number, key) in keys.enumerated() { made[key] = Int32(truncatingIfNeeded: number) }
        numbers = made
        return made
    }
}
