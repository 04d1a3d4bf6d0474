import RelataCSQLite
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

    // MARK: In SQL

    /// Passes the keys to a statement, whose function `relata_unknown` returns those without a number; without bound
    /// keys, all. They must live until the statement is reset.
    package func bind(to statement: RunningStatement, at index: Int) {
        // Only SQLite has a function for that.
        guard statement.handle != nil else { return }
        let keys = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_bind_pointer(statement.handle, Int32(index), keys, Self.pointerType, nil)
    }

    /// `relata_unknown(keys, key)`
    package static let unknown: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void =
        {
            context, _, arguments in
            guard let arguments else { return sqlite3_result_null(context) }
            if let keys = sqlite3_value_pointer(arguments[0], KeyNumbers.pointerType) {
                let isKnown = Unmanaged<KeyNumbers>.fromOpaque(keys)._withUnsafeGuaranteedRef { keys in
                    !keys.isClosed && keys[ColumnValue(arguments[1])] != nil
                }
                if isKnown { return sqlite3_result_null(context) }
            }
            sqlite3_result_value(context, arguments[1])
        }

    private static let pointerTypeName: StaticString = "relata_keys"
    /// SQLite keeps the address.
    private static var pointerType: UnsafePointer<CChar> {
        UnsafeRawPointer(pointerTypeName.utf8Start).assumingMemoryBound(to: CChar.self)
    }
}
