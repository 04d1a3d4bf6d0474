import RelataCSQLite
import Foundation
import RelataCore
import RelataEngine

/// The SQL functions that generated SQL calls. They are equivalent to Swift's handling of constants, so that a query
/// doesn't depend on which side is a constant.
enum SQLiteFunctions {
    private static let functions = [
        SQLiteFunction("relata_fold", 2) { .text(TextFolding.fold($0.text(0), $0.options(1))) },
        SQLiteFunction("relata_like", 3) { isTrue(TextPattern.isLike($0.text(0), $0.text(1), options: $0.options(2))) },
        // By bytes: SQLite's `substr` counts characters, and only up to the first U+0000.
        SQLiteFunction("relata_ends", 2) {
            let end = $0.text(1).utf8
            return isTrue($0.text(0).utf8.suffix(end.count).elementsEqual(end))
        },
        SQLiteFunction("relata_lowercased", 1) { .text($0.text(0).lowercased()) },
        SQLiteFunction("relata_uppercased", 1) { .text($0.text(0).uppercased()) },
        SQLiteFunction("relata_trimmed", 1) { .text($0.text(0).trimmingCharacters(in: .whitespacesAndNewlines)) },
        SQLiteFunction("relata_length", 1) { .integer(Int64($0.text(0).count)) },
        SQLiteFunction("relata_words", 3) {
            isTrue(TextWords($0.text(1), options: $0.options(2)).areFound(in: $0.text(0)))
        },
        SQLiteFunction("relata_word_count", 3) {
            .integer(Int64(TextWords($0.text(1), options: $0.options(2)).count(in: $0.text(0))))
        },
        SQLiteFunction("relata_search_words", 1) { .text(SearchWords.indexed($0.text(0))) },
        SQLiteFunction("relata_search_relevance", 2) { .real(SearchText($0.text(0)).relevance(in: $0.text(1))) },
        SQLiteFunction("relata_distance", 4) {
            .real(
                Geometry.distance(
                    latitude: $0.real(0), longitude: $0.real(1), toLatitude: $0.real(2), longitude: $0.real(3)))
        },
        SQLiteFunction("relata_in_polygon", 3) {
            isTrue(Geometry.isInPolygon(latitude: $0.real(0), longitude: $0.real(1), corners: $0.text(2)))
        },
        SQLiteFunction("relata_add_months", 2) {
            DateOffset.adding(months: $0.integer(1), to: $0.integer(0)).map { .integer($0) } ?? .null
        },
        // The functions that GRDB gives its connections: indexes, generated columns and triggers of its files may call
        // them.
        SQLiteFunction("swiftCapitalizedString", 1) { .text($0.text(0).capitalized) },
        SQLiteFunction("swiftLowercaseString", 1) { .text($0.text(0).lowercased()) },
        SQLiteFunction("swiftUppercaseString", 1) { .text($0.text(0).uppercased()) },
        SQLiteFunction("swiftLocalizedCapitalizedString", 1) { .text($0.text(0).localizedCapitalized) },
        SQLiteFunction("swiftLocalizedLowercaseString", 1) { .text($0.text(0).localizedLowercase) },
        SQLiteFunction("swiftLocalizedUppercaseString", 1) { .text($0.text(0).localizedUppercase) },
        SQLiteFunction("relata_decimal", 3) { try DecimalFunctions.calculate($0.text(0), $0.text(1), $0.text(2)) },
    ]

    /// Registers the functions with a connection.
    static func register(on handle: OpaquePointer) throws(RelataError) {
        for function in functions {
            let context = Unmanaged.passUnretained(function).toOpaque()
            try check(
                sqlite3_create_function_v2(
                    handle, function.name, function.argumentCount, flags, context, SQLiteFunction.call, nil, nil, nil),
                function.name)
        }
        for (name, call) in [("relata_search", StatementSearch.find), ("relata_matches", StatementSearch.match)] {
            try check(sqlite3_create_function_v2(handle, name, 3, flags, nil, call, nil, nil, nil), name)
        }
        // Not deterministic: the known keys change from row to row.
        try check(
            sqlite3_create_function_v2(
                handle, "relata_unknown", 2, SQLITE_UTF8 | SQLITE_INNOCUOUS, nil, KeyNumbers.unknown, nil, nil, nil),
            "relata_unknown")
        for (name, finish) in [
            ("relata_decimal_sum", DecimalFunctions.sum), ("relata_decimal_avg", DecimalFunctions.average),
        ] {
            try check(
                sqlite3_create_function_v2(handle, name, 1, flags, nil, nil, DecimalFunctions.add, finish, nil), name)
        }
        try check(
            sqlite3_create_function_v2(
                handle, "relata_sum", 1, flags, nil, nil, NumberFunctions.add, NumberFunctions.sum, nil), "relata_sum")
        try check(
            sqlite3_create_collation_v2(
                handle, "relata_decimal", SQLITE_UTF8, nil, DecimalFunctions.compare, nil),
            "relata_decimal")
        try check(sqlite3_collation_needed(handle, nil, TextCollation.register), "collations")
    }

    /// Deterministic, so that SQLite may call them once for equal arguments; harmless, so that views may call them.
    private static let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS

    private static func check(_ code: Int32, _ name: String) throws(RelataError) {
        guard code == SQLITE_OK else {
            throw .database(code: Int(code), message: "the function \(name) can't be registered", sql: nil)
        }
    }

    private static func isTrue(_ condition: Bool) -> Value { .integer(condition ? 1 : 0) }
}

/// A SQL function of its arguments. A `NULL` argument makes the result `NULL`.
final class SQLiteFunction: Sendable {
    let name: String
    let argumentCount: Int32
    private let body: @Sendable (SQLiteArguments) throws -> Value

    init(_ name: String, _ argumentCount: Int32, body: @escaping @Sendable (SQLiteArguments) throws -> Value) {
        self.name = name
        self.argumentCount = argumentCount
        self.body = body
    }

    /// The function that SQLite calls. Its context is the SQL function, which lives as long as the process.
    static let call: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
        context, count, values in
        guard let function = sqlite3_user_data(context), let values else { return sqlite3_result_null(context) }
        for index in 0..<Int(count) where sqlite3_value_type(values[index]) == SQLITE_NULL {
            return sqlite3_result_null(context)
        }
        do {
            let body = Unmanaged<SQLiteFunction>.fromOpaque(function).takeUnretainedValue().body
            switch try body(SQLiteArguments(values: values)) {
            case .text(let text): SQLiteValue.result(context, text)
            case .integer(let number): sqlite3_result_int64(context, number)
            case .real(let number): sqlite3_result_double(context, number)
            default: sqlite3_result_null(context)
            }
        } catch {
            SQLiteValue.result(context, error)
        }
    }
}

/// The arguments of a function, none of them `NULL`.
struct SQLiteArguments {
    fileprivate let values: UnsafeMutablePointer<OpaquePointer?>

    /// An argument as text, numbers spelled out.
    func text(_ index: Int) -> String { SQLiteValue.text(values, index) ?? "" }

    /// An argument as an integer.
    func integer(_ index: Int) -> Int64 { sqlite3_value_int64(values[index]) }

    /// An argument as a number.
    func real(_ index: Int) -> Double { sqlite3_value_double(values[index]) }

    func options(_ index: Int) -> TextOptions { TextOptions(rawValue: Int(sqlite3_value_int64(values[index]))) }
}

/// Arguments and results of SQL functions.
enum SQLiteValue {
    /// An argument as text, numbers spelled out; `nil` for `NULL`.
    static func text(_ arguments: UnsafeMutablePointer<OpaquePointer?>?, _ index: Int) -> String? {
        guard let value = arguments?[index], let bytes = sqlite3_value_text(value) else { return nil }
        return String(
            decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value))), as: UTF8.self)
    }

    /// The error, with the code by which ``SQLiteErrors`` recognises our message.
    static func result(_ context: OpaquePointer?, _ error: any Error) {
        sqlite3_result_error(context, "\(error)", -1)
        switch error {
        case RelataError.invalidUse(let message):
            sqlite3_result_error(context, message, -1)
            sqlite3_result_error_code(context, SQLiteErrors.functionRefused)
        case RelataError.database(let code, let message, _):
            sqlite3_result_error(context, message, -1)
            sqlite3_result_error_code(context, Int32(code))
        default: break
        }
    }

    static func result(_ context: OpaquePointer?, _ text: String) {
        var text = text
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                // An empty string has no address, and a null address would be NULL.
                guard let start = $0.baseAddress else { return sqlite3_result_text(context, "", 0, sqliteTransient) }
                sqlite3_result_text64(context, start, UInt64($0.count), sqliteTransient, UInt8(SQLITE_UTF8))
            }
        }
    }
}
