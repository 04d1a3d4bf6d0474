/// A 64-bit hash (FNV-1a) that is the same in every process and version, unlike Swift's own.
struct StableHasher {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    @inline(__always)
    mutating func combine(byte: UInt8) {
        value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
    }

    /// The bytes and their number, so that two texts in a row never look like two others.
    mutating func combine(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            for byte in bytes { combine(byte: byte) }
        }
        combine(byte: 0xff)
    }

    mutating func combine(_ number: Int64) {
        for shift in stride(from: 0, to: 64, by: 8) { combine(byte: UInt8(truncatingIfNeeded: number >> shift)) }
    }

    mutating func combine(_ flag: Bool) { combine(byte: flag ? 1 : 0) }

    /// The hash as sixteen hexadecimal digits.
    var digits: String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
