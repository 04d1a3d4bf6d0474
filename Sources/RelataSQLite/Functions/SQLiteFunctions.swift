import Foundation
import GRDBSQLite
import RelataCore

/// The SQL functions that generated SQL calls. They are the same as what Swift does with constants, so that a query
/// never depends on which side is a constant.
enum SQLiteFunctions {
    /// Makes the functions known to a connection.
    static func register(on handle: OpaquePointer) throws(RelataError) {
        let text: [(String, Int32, SQLiteFunction)] = [
            ("relata_fold", 2, fold), ("relata_like", 3, like), ("relata_matches", 3, matches),
            ("relata_ends", 2, ends),
            ("relata_lowercased", 1, lowercased), ("relata_uppercased", 1, uppercased), ("relata_trimmed", 1, trimmed),
            ("relata_length", 1, length), ("relata_decimal", 3, DecimalFunctions.calculate),
        ]
        for (name, count, function) in text {
            try check(sqlite3_create_function_v2(handle, name, count, flags, nil, function, nil, nil, nil), name)
        }
        for (name, finish) in [
            ("relata_decimal_sum", DecimalFunctions.sum), ("relata_decimal_avg", DecimalFunctions.average),
        ] {
            try check(
                sqlite3_create_function_v2(handle, name, 1, flags, nil, nil, DecimalFunctions.add, finish, nil), name)
        }
        try check(
            sqlite3_create_collation_v2(
                handle, "relata_decimal", SQLITE_UTF8, nil, DecimalFunctions.compare, nil),
            "relata_decimal")
    }

    typealias SQLiteFunction =
        @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    /// Deterministic, so that SQLite may call them once for equal arguments; harmless, so that views may call them.
    private static let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS

    private static func check(_ code: Int32, _ name: String) throws(RelataError) {
        guard code == SQLITE_OK else {
            throw .database(code: Int(code), message: "the function \(name) can't be registered", sql: nil)
        }
    }

    // MARK: Text

    private static let fold: SQLiteFunction = { context, _, arguments in
        guard let text = SQLiteValue.text(arguments, 0) else { return sqlite3_result_null(context) }
        SQLiteValue.result(context, TextFolding.fold(text, SQLiteValue.options(arguments, 1)))
    }

    private static let like: SQLiteFunction = { context, _, arguments in
        guard let text = SQLiteValue.text(arguments, 0), let pattern = SQLiteValue.text(arguments, 1) else {
            return sqlite3_result_null(context)
        }
        let isLike = TextPattern.isLike(text, pattern, options: SQLiteValue.options(arguments, 2))
        sqlite3_result_int(context, isLike ? 1 : 0)
    }

    private static let matches: SQLiteFunction = { context, _, arguments in
        guard let text = SQLiteValue.text(arguments, 0), let pattern = SQLiteValue.text(arguments, 1) else {
            return sqlite3_result_null(context)
        }
        do {
            let isMatch = try TextPattern.matches(text, pattern, options: SQLiteValue.options(arguments, 2))
            sqlite3_result_int(context, isMatch ? 1 : 0)
        } catch {
            sqlite3_result_error(context, "\(error)", -1)
        }
    }

    /// Compares bytes: SQLite's `substr` counts characters, and only up to the first U+0000.
    private static let ends: SQLiteFunction = { context, _, arguments in
        guard let text = SQLiteValue.text(arguments, 0), let end = SQLiteValue.text(arguments, 1) else {
            return sqlite3_result_null(context)
        }
        sqlite3_result_int(context, text.utf8.suffix(end.utf8.count).elementsEqual(end.utf8) ? 1 : 0)
    }

    private static let lowercased: SQLiteFunction = { context, _, arguments in
        guard let text = SQLiteValue.text(arguments, 0) else { return sqlite3_result_null(context) }
        SQLiteValue.result(context, text.lowercased())
    }

    private static let uppercased: SQLiteFunction = { context, _, arguments in
        guard let text = SQLiteValue.text(arguments, 0) else { return sqlite3_result_null(context) }
        SQLiteValue.result(context, text.uppercased())
    }

    private static let trimmed: SQLiteFunction = { context, _, arguments in
        guard let text = SQLiteValue.text(arguments, 0) else { return sqlite3_result_null(context) }
        SQLiteValue.result(context, text.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    private static let length: SQLiteFunction = { context, _, arguments in
        guard let text = SQLiteValue.text(arguments, 0) else { return sqlite3_result_null(context) }
        sqlite3_result_int64(context, Int64(text.count))
    }
}

/// Arguments and results of SQL functions.
enum SQLiteValue {
    /// An argument as text, numbers spelled out; `nil` for `NULL`.
    static func text(_ arguments: UnsafeMutablePointer<OpaquePointer?>?, _ index: Int) -> String? {
        guard let value = arguments?[index], let bytes = sqlite3_value_text(value) else { return nil }
        return String(
            decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value))), as: UTF8.self)
    }

    static func options(_ arguments: UnsafeMutablePointer<OpaquePointer?>?, _ index: Int) -> TextOptions {
        TextOptions(rawValue: Int(sqlite3_value_int64(arguments?[index])))
    }

    static func result(_ context: OpaquePointer?, _ text: String) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                // An empty string has no address of its own, and a null address would be NULL.
                guard let start = $0.baseAddress else { return sqlite3_result_text(context, "", 0, sqliteTransient) }
                sqlite3_result_text64(context, start, UInt64($0.count), sqliteTransient, UInt8(SQLITE_UTF8))
            }
        }
    }
}
