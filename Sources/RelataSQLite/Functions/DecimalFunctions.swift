import RelataCSQLite
import Foundation
import RelataCore
import RelataEngine

/// Arithmetic and order of decimal numbers kept as text, without loss.
enum DecimalFunctions {
    /// `relata_decimal(operator, a, b)`: the sum, difference, product or quotient as text; `NULL` for an argument that
    /// is unset or no number, and for a division by zero.
    static func calculate(_ operation: String, _ left: String, _ right: String) throws(RelataError) -> Value {
        guard let left = DecimalText.parse(left), let right = DecimalText.parse(right) else { return .null }
        let result: Decimal
        switch operation {
        case "+": result = left + right
        case "-": result = left - right
        case "*": result = left * right
        case "/" where right != 0: result = left / right
        default: return .null
        }
        if result.isNaN { throw .invalidUse("a decimal number is too large") }
        return .text(result.description)
    }

    /// Orders two texts by their numbers; other texts come after all numbers, by their bytes.
    static let compare:
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafeRawPointer?, Int32, UnsafeRawPointer?
        ) -> Int32 = { _, leftCount, left, rightCount, right in
            let left = UnsafeRawBufferPointer(start: left, count: Int(leftCount))
            let right = UnsafeRawBufferPointer(start: right, count: Int(rightCount))
            if left.elementsEqual(right) { return 0 }
            switch (
                DecimalText.parse(String(decoding: left, as: UTF8.self)),
                DecimalText.parse(String(decoding: right, as: UTF8.self))
            ) {
            case (let first?, let second?): return first < second ? -1 : first == second ? 0 : 1
            case (.some, nil): return -1
            case (nil, .some): return 1
            case (nil, nil): return left.lexicographicallyPrecedes(right) ? -1 : 1
            }
        }

    // MARK: Figures

    /// The sum so far, in memory that SQLite zeroes first and frees at the end. `Decimal` is a plain struct.
    private struct Total {
        var sum: Decimal
        var count: Int
    }

    static let add: @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void = {
        context, _, arguments in
        guard let number = SQLiteValue.text(arguments, 0).flatMap({ DecimalText.parse($0) }),
            let total = total(context, makes: true)
        else { return }
        if total.pointee.count == 0 { total.pointee.sum = 0 }
        total.pointee.sum += number
        total.pointee.count += 1
    }

    static let sum: @convention(c) (OpaquePointer?) -> Void = { context in
        guard let total = total(context, makes: false)?.pointee, total.count > 0 else {
            return sqlite3_result_null(context)
        }
        result(context, total.sum)
    }

    static let average: @convention(c) (OpaquePointer?) -> Void = { context in
        guard let total = total(context, makes: false)?.pointee, total.count > 0 else {
            return sqlite3_result_null(context)
        }
        result(context, total.sum / Decimal(total.count))
    }

    private static func total(_ context: OpaquePointer?, makes: Bool) -> UnsafeMutablePointer<Total>? {
        sqlite3_aggregate_context(context, makes ? Int32(MemoryLayout<Total>.size) : 0)?
            .assumingMemoryBound(to: Total.self)
    }

    private static func result(_ context: OpaquePointer?, _ number: Decimal) {
        number.isNaN
            ? sqlite3_result_error(context, "a decimal number is too large", -1)
            : SQLiteValue.result(context, number.description)
    }
}
