import Foundation

/// Texts as JSON and SQLite compare them: by their bytes. Swift's own `==` treats different Unicode compositions as
/// equal.
extension String {
    /// Whether both have the same bytes.
    package func hasSameBytes(as other: String) -> Bool {
        #if arch(x86_64) || arch(arm64)
        // Most compared texts are short, and stored in the string itself: its two words are its contents. If they are
        // equal, so are the bytes, in any representation; otherwise the bytes are compared.
        typealias Words = (UInt64, UInt64)
        if unsafeBitCast(self, to: Words.self) == unsafeBitCast(other, to: Words.self) { return true }
        #endif
        let count = utf8.count
        guard count == other.utf8.count else { return false }
        let isSame = utf8.withContiguousStorageIfAvailable { left in
            other.utf8.withContiguousStorageIfAvailable { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return count == 0 }
                return memcmp(left, right, count) == 0
            }
        }
        return (isSame ?? nil) ?? utf8.elementsEqual(other.utf8)
    }

    /// Feeds a hasher with the bytes.
    package func hashBytes(into hasher: inout Hasher) {
        hasher.combine(utf8.count)
        let isDone: Void? = utf8.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        if isDone == nil { for byte in utf8 { hasher.combine(byte) } }
    }
}

/// A text that is compared by its bytes.
package struct SameBytes: Hashable, Sendable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: Self, right: Self) -> Bool { left.text.hasSameBytes(as: right.text) }
    package func hash(into hasher: inout Hasher) { text.hashBytes(into: &hasher) }
}
