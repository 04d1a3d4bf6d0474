import RelataCore
import RelataEngine

/// Tells which of many owners a row belongs to: by a number from 1 that the row begins with, or by the owner's key.
struct OwnerNumbers {
    /// The owners' keys, where rows tell them.
    private let keys: [Value]?
    private let type: AttributeType?
    /// Made where rows don't come in the order of the owners.
    private var numbers: KeyNumbers?
    private var last = 0

    /// Rows begin with numbers.
    init() { (keys, type) = (nil, nil) }

    /// Rows begin with keys of one column.
    init(keys: KeyList, type: AttributeType?) { (self.keys, self.type) = (keys.values, type) }

    /// The number, from 0, of the owner of the current row; `nil` where the row belongs to none of them.
    mutating func next(_ statement: RunningStatement) -> Int32? {
        guard let keys else { return Int32(truncatingIfNeeded: ColumnValue(statement, 0).integer) - 1 }
        let column = ColumnValue(statement, 0)
        // The rows of an owner mostly come together, and after those of the owner before.
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
