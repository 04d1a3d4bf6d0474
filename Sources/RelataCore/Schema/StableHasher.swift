/// A 64-bit hash that is the same in every process and version, unlike Swift's own.
///
/// It takes eight bytes at a time, because a fingerprint is computed whenever a store is opened.
package struct StableHasher {
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    @inline(__always)
    package mutating func combine(word: UInt64) {
        value = (value ^ word) &* 0x9e37_79b9_7f4a_7c15
        value ^= value >> 29
    }

    /// The bytes and their number, so that two consecutive texts never look like two others.
    package mutating func combine(_ text: String) {
        var text = text
        text.withUTF8 { bytes in
            combine(word: UInt64(bytes.count))
            var rest = UnsafeRawBufferPointer(bytes)
            while rest.count >= 8 {
                combine(word: UInt64(littleEndian: rest.loadUnaligned(as: UInt64.self)))
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(8))
            }
            combine(word: rest.reduce(0) { $0 << 8 | UInt64($1) })
        }
    }

    /// The hash as sixteen hexadecimal digits.
    var digits: String { value.hexadecimal }
}

extension UInt64 {
    /// Sixteen hexadecimal digits.
    package var hexadecimal: String {
        let text = String(self, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }
}
