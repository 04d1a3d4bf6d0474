import Foundation

/// One decoded value of a server's row: a number by itself, text and bytes by their position in the result.
///
/// Frozen, so that the code `@Model` writes reads it without a call.
@frozen @usableFromInline
package struct ResultCell {
    /// The kind of the value.
    @frozen @usableFromInline
    package enum Kind: UInt8 {
        /// It is unset.
        case null
        /// An integer: booleans are 0 and 1, dates microseconds since 1970.
        case integer
        /// A number that isn't an integer.
        case real
        /// Text in UTF-8.
        case text
        /// Bytes.
        case blob
        /// The sixteen bytes of a UUID.
        case uuid
    }

    /// The kind of the value.
    @usableFromInline package var kind: Kind
    /// The number of bytes of text or data.
    @usableFromInline package var count: Int32
    /// The integer, or the bits of the number.
    @usableFromInline package var bits: Int64
    /// Text or data, valid until the next row.
    @usableFromInline package var bytes: UnsafePointer<UInt8>?

    /// An unset value.
    @inlinable
    package init() { (kind, count, bits, bytes) = (.null, 0, 0, nil) }

    /// An integer.
    @inlinable
    package init(integer: Int64) { (kind, count, bits, bytes) = (.integer, 0, integer, nil) }

    /// A number.
    @inlinable
    package init(real: Double) {
        (kind, count, bits, bytes) = (.real, 0, Int64(bitPattern: real.bitPattern), nil)
    }

    /// Text, data or a UUID.
    @inlinable
    package init(_ kind: Kind, bytes: UnsafePointer<UInt8>?, count: Int) {
        (self.kind, self.count, bits, self.bytes) = (kind, Int32(truncatingIfNeeded: count), 0, bytes)
    }

    /// The value as an integer; for text, its parsed value.
    @inlinable package var integer: Int64 {
        switch kind {
        case .integer: bits
        case .real: Int64(exactly: real.rounded(.towardZero)) ?? (real < 0 ? .min : .max)
        case .text: Int64(text) ?? 0
        case .null, .blob, .uuid: 0
        }
    }

    /// The value as a number; for text, its parsed value.
    @inlinable package var real: Double {
        switch kind {
        case .integer: Double(bits)
        case .real: Double(bitPattern: UInt64(bitPattern: bits))
        case .text: Double(text) ?? 0
        case .null, .blob, .uuid: 0
        }
    }

    /// The value as text; empty if it is unset.
    @inlinable package var text: String {
        switch kind {
        case .text: String(decoding: buffer, as: UTF8.self)
        case .integer: String(bits)
        case .real: String(real)
        case .blob: String(decoding: buffer, as: UTF8.self)
        case .uuid: uuid?.uuidString.lowercased() ?? ""
        case .null: ""
        }
    }

    /// The bytes of text or data.
    @inlinable package var buffer: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: bytes, count: Int(count)) }

    /// The value as data.
    @inlinable package var data: Data { Data(buffer) }

    /// Sixteen bytes as a UUID.
    @inlinable package var uuid: UUID? {
        guard kind == .uuid || kind == .blob, count == 16, let bytes else { return nil }
        return UUID(uuid: UnsafeRawPointer(bytes).loadUnaligned(as: uuid_t.self))
    }
}
