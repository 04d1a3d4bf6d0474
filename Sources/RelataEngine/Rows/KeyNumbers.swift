import RelataCore

/// Numbers for keys of one column: they map the key in a row to one of many objects.
///
/// Keys that a database assigns count from 1. They index an array, which fits into the processor's caches, unlike a
/// dictionary of many keys.
@usableFromInline
package final class KeyNumbers {
    // The connection's holder uses them alone, so they need no exclusivity check for every row.
    @exclusivity(unchecked) private var small: [Int32] = []
    @exclusivity(unchecked) private var others: [Value: Int32] = [:]
    /// Whether SQL returns all keys, although some have a number.
    @exclusivity(unchecked) @usableFromInline package var isClosed = false

    /// No keys.
    @usableFromInline package init() {}

    /// A key's number.
    package subscript(key: Value) -> Int32? {
        get {
            guard let index = index(key) else { return others[key] }
            return index < small.count && small[index] >= 0 ? small[index] : nil
        }
        set {
            guard let index = index(key) else { return others[key] = newValue }
            if index >= small.count {
                small += repeatElement(-1, count: max(index + 1, 2 * small.count) - small.count)
            }
            small[index] = newValue ?? -1
        }
    }

    /// The number of the key in a column.
    @usableFromInline
    package subscript(column: ColumnValue) -> Int32? {
        get {
            guard column.isInteger else { return self[column.value(as: .uuid(.blob))] }
            let key = column.integer
            guard Self.smallKeys.contains(key) else { return others[.integer(key)] }
            return key < small.count && small[Int(key)] >= 0 ? small[Int(key)] : nil
        }
        set { self[column.value(as: .uuid(.blob))] = newValue }
    }

    /// The number of a small key. The array has at most four megabytes.
    private static var smallKeys: Range<Int64> { 0..<1 << 20 }

    private func index(_ key: Value) -> Int? {
        if case .integer(let key) = key, Self.smallKeys.contains(key) { Int(key) } else { nil }
    }
}
