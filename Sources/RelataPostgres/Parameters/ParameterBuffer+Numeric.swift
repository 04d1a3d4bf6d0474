#if PostgreSQL
import Foundation
import RelataCore

/// Decimal numbers: the number of groups of four digits, the power of 10,000 of the first group, the sign, the number
/// of digits after the point, and the groups.
extension ParameterBuffer {
    private static let negative: UInt16 = 0x4000
    /// The most digits after the point that PostgreSQL keeps.
    private static let mostFractionDigits = 16_383
    /// The most digits before the point.
    private static let mostIntegerDigits = 131_072

    /// Writes an integer as a decimal number.
    func write(numeric value: Int64) {
        var rest = value.magnitude
        var count = 0
        // Five groups hold every integer of 64 bits; the last group is computed first.
        withUnsafeTemporaryAllocation(of: UInt16.self, capacity: 5) { groups in
            while rest > 0 {
                groups[count] = UInt16(rest % 10_000)
                rest /= 10_000
                count += 1
            }
            reserve(4 + 8 + count * 2)
            store(Int32(8 + count * 2))
            store(Int16(count))
            store(Int16(max(0, count - 1)))
            store(value < 0 ? Self.negative : 0)
            store(Int16(0))
            for index in stride(from: count - 1, through: 0, by: -1) { store(groups[index]) }
        }
    }

    /// Writes the decimal number that a text spells: `12`, `-0.50`, `1e3`.
    ///
    /// - Returns: Whether it spells one.
    func write(numeric text: String, _ type: TypeCode) throws(RelataError) -> Bool {
        var text = text
        let isWritten = text.withUTF8 { text -> Bool? in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: text.count) { digits in
                guard let number = Self.parse(text, into: digits) else { return false }
                guard number.point <= Self.mostIntegerDigits, number.scale <= Self.mostFractionDigits else {
                    return nil
                }
                write(number, UnsafeBufferPointer(digits))
                return true
            }
        }
        guard let isWritten else { throw unfitting(.text(text), type) }
        return isWritten
    }

    /// A number by its digits.
    private struct Digits {
        var isNegative = false
        /// Digits without zeros at either end.
        var count = 0
        /// The number of digits before the point; negative if zeros follow the point.
        var point = 0
        /// The number of digits after the decimal point, including zeros.
        var scale = 0
    }

    private static func parse(_ text: UnsafeBufferPointer<UInt8>, into digits: UnsafeMutableBufferPointer<UInt8>)
        -> Digits?
    {
        var number = Digits()
        var index = 0
        var seen = 0
        var isFraction = false
        var fraction = 0
        if index < text.count, text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") {
            number.isNegative = text[index] == UInt8(ascii: "-")
            index += 1
        }
        while index < text.count {
            let byte = text[index]
            if byte == UInt8(ascii: "."), !isFraction {
                isFraction = true
            } else if (0x30...0x39).contains(byte) {
                seen += 1
                if isFraction { fraction += 1 }
                if byte != 0x30 || number.count > 0 {
                    digits[number.count] = byte - 0x30
                    number.count += 1
                    if !isFraction { number.point += 1 }
                } else if isFraction {
                    number.point -= 1
                }
            } else {
                break
            }
            index += 1
        }
        guard seen > 0 else { return nil }
        var exponent = 0
        if index < text.count, text[index] | 0x20 == UInt8(ascii: "e") {
            index += 1
            let isNegative = index < text.count && text[index] == UInt8(ascii: "-")
            if isNegative || index < text.count && text[index] == UInt8(ascii: "+") { index += 1 }
            let start = index
            while index < text.count, (0x30...0x39).contains(text[index]) {
                // Larger exponents are out of range, so further digits don't matter.
                if exponent < 1_000_000 { exponent = exponent * 10 + Int(text[index] - 0x30) }
                index += 1
            }
            guard index > start else { return nil }
            if isNegative { exponent = -exponent }
        }
        guard index == text.count else { return nil }
        number.point += exponent
        number.scale = max(0, fraction - exponent)
        while number.count > 0, digits[number.count - 1] == 0 { number.count -= 1 }
        if number.count == 0 {
            number.point = 0
            number.isNegative = false
            number.scale = min(number.scale, mostFractionDigits)
        }
        return number
    }

    private func write(_ number: Digits, _ digits: UnsafeBufferPointer<UInt8>) {
        // The first group ends at a multiple of four digits before the point.
        let groupsBefore = number.point > 0 ? (number.point + 3) / 4 : -(-number.point / 4)
        let padding = groupsBefore * 4 - number.point
        let count = number.count == 0 ? 0 : (padding + number.count + 3) / 4
        reserve(4 + 8 + count * 2)
        store(Int32(8 + count * 2))
        store(Int16(truncatingIfNeeded: count))
        store(Int16(truncatingIfNeeded: count == 0 ? 0 : groupsBefore - 1))
        store(number.isNegative ? Self.negative : 0)
        store(Int16(truncatingIfNeeded: number.scale))
        for group in 0..<count {
            var value: UInt16 = 0
            for place in 0..<4 {
                let index = group * 4 + place - padding
                value = value * 10 + (number.count > index && index >= 0 ? UInt16(digits[index]) : 0)
            }
            store(value)
        }
    }
}
#endif
