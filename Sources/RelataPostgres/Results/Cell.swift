#if PostgreSQL
import Foundation
import RelataCPQ
import RelataCore

/// One column of one row. Valid while its result exists.
///
/// Read a cell by its type, which ``isInteger`` and similar properties show. Other reads convert the value as SQLite
/// does.
@frozen @usableFromInline
package struct Cell {
    @usableFromInline let result: OpaquePointer
    @usableFromInline let row: Int32
    @usableFromInline let column: Int32
    /// The start of its bytes, which end with a zero.
    @usableFromInline let pointer: UnsafeRawPointer
    /// The number of bytes; 0 for `NULL`.
    @usableFromInline let length: Int32
    /// The value's type in the binary format.
    @usableFromInline package let kind: TypeKind
    /// Whether it is in binary form.
    @usableFromInline let isBinary: Bool

    @inlinable
    init(result: OpaquePointer, row: Int32, column: Int32, kind: TypeKind, isBinary: Bool) {
        self.result = result
        self.row = row
        self.column = column
        self.kind = kind
        self.isBinary = isBinary
        pointer = UnsafeRawPointer(PQgetvalue(result, row, column))
        length = PQgetlength(result, row, column)
    }

    @inlinable var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: pointer.assumingMemoryBound(to: UInt8.self), count: Int(length))
    }

    /// A number of the binary form.
    @inlinable @inline(__always)
    func load<Number: FixedWidthInteger>(_ type: Number.Type) -> Number {
        Number(bigEndian: pointer.loadUnaligned(as: type))
    }

    /// Whether it is `NULL`.
    @inlinable package var isNull: Bool { length == 0 && PQgetisnull(result, row, column) != 0 }

    /// Whether it is a whole number, a boolean or a point in time.
    @inlinable package var isInteger: Bool {
        guard !isNull else { return false }
        return switch kind {
        case .boolean, .int2, .int4, .int8, .oid, .date, .timestamp: true
        default: false
        }
    }

    /// Whether it is a floating-point number.
    @inlinable package var isReal: Bool { (kind == .float8 || kind == .float4) && !isNull }

    /// Whether it is bytes.
    @inlinable package var isBlob: Bool { kind == .bytea && !isNull }

    /// Whether it is a UUID.
    @inlinable package var isUUID: Bool { kind == .uuid && !isNull }

    /// Whether it is text: also decimal numbers, JSON, and every type that has no other form here.
    @inlinable package var isText: Bool {
        guard !isNull else { return false }
        return switch kind {
        case .numeric, .jsonb, .text, .array, .other: true
        default: false
        }
    }

    /// The cell as an integer: 0 or 1 of a boolean, microseconds since 1970 of a date; 0 of `NULL`.
    ///
    /// - Throws: ``RelataError/corruptStore(_:)`` if the point in time is infinity.
    @inlinable
    package func integer() throws(RelataError) -> Int64 {
        if isBinary, length == 8 {
            if kind == .int8 { return load(Int64.self) }
            if kind == .timestamp {
                let (moved, overflow) = load(Int64.self).addingReportingOverflow(946_684_800_000_000)
                // The least number means "before all times", and the greatest overflows.
                if !overflow, moved != .min + 946_684_800_000_000 { return moved }
            }
        }
        return try convertedInteger()
    }

    /// The cell as a number; 0 of `NULL`.
    @inlinable
    package func real() throws(RelataError) -> Double {
        if isBinary, kind == .float8, length == 8 { return Double(bitPattern: load(UInt64.self)) }
        return try convertedReal()
    }

    /// The cell as text; empty of `NULL`.
    @inlinable
    package func text() throws(RelataError) -> String {
        if kind == .text || kind == .other || kind == .array { return String(decoding: bytes, as: UTF8.self) }
        return try convertedText()
    }

    /// Lends the UTF-8 of the cell's text.
    @inlinable
    package func withTextBytes<Result>(
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) throws -> Result {
        if kind == .text || kind == .other || kind == .array { return try body(bytes) }
        var text = try convertedText()
        return try text.withUTF8(body)
    }

    /// The cell's bytes: sixteen for a UUID, UTF-8 for text, none for `NULL`.
    @inlinable
    package func data() throws(RelataError) -> Data {
        if isBinary, kind == .bytea { return Data(bytes: pointer, count: Int(length)) }
        return try convertedData()
    }

    /// The cell as a UUID: also sixteen bytes, and text that spells one; `nil` of anything else.
    @inlinable
    package var uuid: UUID? {
        if isBinary, kind == .uuid, length == 16 { return UUID(uuid: pointer.loadUnaligned(as: uuid_t.self)) }
        return convertedUUID
    }

    /// The cell as a stored value: integers for booleans, whole numbers and points in time; text for decimal numbers,
    /// JSON and types without another form here.
    ///
    /// - Throws: ``RelataError/corruptStore(_:)`` for a point in time or a decimal number that is infinity or not a
    ///   number.
    package func value() throws(RelataError) -> Value {
        guard !isNull else { return .null }
        if kind == .uuid, let uuid { return .uuid(uuid) }
        return switch kind {
        case .boolean, .int2, .int4, .int8, .oid, .date, .timestamp: .integer(try integer())
        case .float4, .float8: .real(try real())
        case .uuid, .bytea: .blob(try data())
        case .numeric, .jsonb, .text, .array, .other: .text(try text())
        }
    }
}
#endif
