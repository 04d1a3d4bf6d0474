#if PostgreSQL
import RelataCore

/// Decimal numbers as text: exact, as Foundation's `Decimal` spells them, without zeros at the end of a fraction.
enum NumericText {
    /// The text of PostgreSQL's binary form; `nil` if it is not a number, or infinite.
    static func decode(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        func word(_ index: Int) -> UInt16 { UInt16(bytes[index * 2]) << 8 | UInt16(bytes[index * 2 + 1]) }
        guard bytes.count >= 8 else { return nil }
        let count = Int(word(0))
        let weight = Int(Int16(bitPattern: word(1)))
        let sign = word(2)
        guard sign == 0 || sign == 0x4000, bytes.count >= 8 + count * 2 else { return nil }
        guard count > 0 else { return "0" }
        // Each group is four digits; at most one group is cut at the front, and the sign and the point are added.
        let groupsAfter = max(0, count - weight - 1)
        let capacity = 2 + (max(0, weight + 1) + groupsAfter) * 4 + 1
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: capacity) { text in
            var length = 0
            func append(_ byte: UInt8) {
                text[length] = byte
                length += 1
            }
            func group(_ index: Int) -> UInt16 { index >= 0 && index < count ? word(4 + index) : 0 }
            if sign != 0 { append(UInt8(ascii: "-")) }
            let start = length
            if weight >= 0 {
                for index in 0...weight {
                    let value = group(index)
                    for place: UInt16 in [1000, 100, 10, 1] {
                        let digit = UInt8(value / place % 10)
                        if digit != 0 || length > start { append(0x30 + digit) }
                    }
                }
            }
            if length == start { append(0x30) }
            if groupsAfter > 0 {
                append(UInt8(ascii: "."))
                for index in (weight + 1)..<(weight + 1 + groupsAfter) {
                    let value = group(index)
                    for place: UInt16 in [1000, 100, 10, 1] { append(0x30 + UInt8(value / place % 10)) }
                }
                length = trimmed(UnsafeBufferPointer(rebasing: text[..<length]))
            }
            return String(decoding: text[..<length], as: UTF8.self)
        }
    }

    /// Removes trailing zeros from PostgreSQL's text form of a number. Returns `nil` for `NaN` and infinity.
    static func trim(_ text: String) -> String? {
        guard let first = text.utf8.first, first == UInt8(ascii: "-") || (0x30...0x39).contains(first),
            !text.hasPrefix("-I")
        else { return nil }
        guard text.utf8.contains(UInt8(ascii: ".")) else { return text }
        let bytes = Array(text.utf8)
        let text = bytes.withUnsafeBufferPointer { bytes in
            String(decoding: bytes[..<trimmed(bytes)], as: UTF8.self)
        }
        return text
    }

    /// The length of a number with a decimal point without its trailing zeros.
    private static func trimmed(_ text: UnsafeBufferPointer<UInt8>) -> Int {
        var length = text.count
        while length > 0, text[length - 1] == 0x30 { length -= 1 }
        if length > 0, text[length - 1] == UInt8(ascii: ".") { length -= 1 }
        return length
    }
}
#endif
