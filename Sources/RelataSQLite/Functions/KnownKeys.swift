import RelataCSQLite
import RelataEngine

/// Keys that have a number already, for SQL that passes only the others on.
extension KeyNumbers {
    /// Passes the keys to a statement, whose function `relata_unknown` returns those without a number; without bound
    /// keys, all. They must live until the statement is reset.
    package func bind(to statement: RunningStatement, at index: Int) {
        // Only SQLite has a function for that.
        guard statement.handle != nil else { return }
        let keys = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_bind_pointer(statement.handle, Int32(index), keys, Self.pointerType, nil)
    }

    /// `relata_unknown(keys, key)`
    static let unknown: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
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
