#if PostgreSQL
import Foundation
import RelataCore

/// The binary form of single values, each behind its length.
extension ParameterBuffer {
    /// Microseconds from 1970 to 2000, the start of PostgreSQL's time.
    static let epoch: Int64 = 946_684_800_000_000
    static let microsecondsOfDay: Int64 = 86_400_000_000
    /// Days from 1970 to 2000.
    static let epochDay: Int64 = 10_957

    /// Writes an integer. Dates are microseconds since 1970.
    @usableFromInline
    func write(_ value: Int64, as type: TypeCode) throws(RelataError) {
        switch type.kind {
        case .int8: write(value, width: 8)
        case .int4: write(try fitting(value, type) as Int32, width: 4)
        case .int2: write(try fitting(value, type) as Int16, width: 2)
        case .oid: write(try fitting(value, type) as UInt32, width: 4)
        case .boolean:
            guard value == 0 || value == 1 else { throw unfitting(.integer(value), type) }
            write(UInt8(value), width: 1)
        case .float8: write(Double(value).bitPattern, width: 8)
        case .float4: write(Float(value).bitPattern, width: 4)
        case .numeric: write(numeric: value)
        case .timestamp:
            let (moved, overflow) = value.subtractingReportingOverflow(Self.epoch)
            // The least number would mean "before all times".
            guard !overflow, moved != .min else { throw unfitting(.integer(value), type) }
            write(moved, width: 8)
        case .date:
            guard value % Self.microsecondsOfDay == 0,
                let day = Int32(exactly: value / Self.microsecondsOfDay - Self.epochDay)
            else { throw unfitting(.integer(value), type) }
            write(day, width: 4)
        case .text: try write(text: String(value))
        case .jsonb: try write(json: String(value))
        case .uuid, .bytea, .array, .other: throw unfitting(.integer(value), type)
        }
    }

    /// Writes a number. Dates are seconds since 1970.
    @usableFromInline
    func write(_ value: Double, as type: TypeCode) throws(RelataError) {
        switch type.kind {
        case .float8: write(value.bitPattern, width: 8)
        case .float4:
            let rounded = Float(value)
            guard rounded.isFinite || !value.isFinite else { throw unfitting(.real(value), type) }
            write(rounded.bitPattern, width: 4)
        case .boolean, .int2, .int4, .int8, .oid:
            guard let integer = Int64(exactly: value) else { throw unfitting(.real(value), type) }
            try write(integer, as: type)
        case .numeric:
            guard value.isFinite else { throw unfitting(.real(value), type) }
            guard try write(numeric: String(value), type) else { throw unfitting(.real(value), type) }
        case .timestamp, .date:
            guard let microseconds = Int64(exactly: (value * 1_000_000).rounded()) else {
                throw unfitting(.real(value), type)
            }
            try write(microseconds, as: type)
        case .text: try write(text: String(value))
        case .jsonb:
            guard value.isFinite else { throw unfitting(.real(value), type) }
            try write(json: String(value))
        case .uuid, .bytea, .array, .other: throw unfitting(.real(value), type)
        }
    }

    /// Writes text, or the value that it spells.
    ///
    /// - Returns: Whether it has a binary form. Otherwise the server must read the text itself, which is impossible in
    ///   copied rows and in arrays.
    @usableFromInline
    func write(_ value: String, as type: TypeCode, isPart: Bool = false) throws(RelataError) -> Bool {
        switch type.kind {
        case .text: try write(text: value)
        case .jsonb: try write(json: value)
        case .uuid:
            guard let uuid = UUID(uuidString: value) else { throw unfitting(.text(value), type) }
            write(uuid)
        case .numeric:
            guard try write(numeric: value, type) else { throw unfitting(.text(value), type) }
        case .boolean, .int2, .int4, .int8, .oid:
            guard let integer = Int64(value) else { throw unfitting(.text(value), type) }
            try write(integer, as: type)
        case .float4, .float8:
            guard let number = Double(value) else { throw unfitting(.text(value), type) }
            try write(number, as: type)
        case .timestamp, .date:
            guard let microseconds = DateText.microseconds(text: value) else {
                if isPart || isCopying { throw unfitting(.text(value), type) }
                return false
            }
            try write(microseconds, as: type)
        case .bytea: throw unfitting(.text(value), type)
        case .array, .other:
            if isPart || isCopying { throw unfitting(.text(value), type) }
            return false
        }
        return true
    }

    /// Writes bytes.
    @usableFromInline
    func write(_ value: Data, as type: TypeCode) throws(RelataError) {
        guard type.kind == .bytea || type.kind == .uuid && value.count == 16 else {
            throw unfitting(.blob(value), type)
        }
        try checkSize(value.count)
        write(Int32(value.count))
        value.withUnsafeBytes { write(bytes: $0) }
    }

    /// Writes a UUID.
    @usableFromInline
    func write(_ value: UUID, as type: TypeCode) throws(RelataError) {
        switch type.kind {
        case .uuid, .bytea: write(value)
        case .text: try write(text: value.uuidString.lowercased())
        case .jsonb: try write(json: "\"\(value.uuidString.lowercased())\"")
        default: throw unfitting(.uuid(value), type)
        }
    }

    // MARK: Parts

    /// Writes the UTF-8 of text.
    @usableFromInline
    func write(text: String) throws(RelataError) {
        var text = text
        let hasZero = text.withUTF8 { bytes in
            guard let start = bytes.baseAddress, !bytes.isEmpty else {
                write(Int32(0))
                return false
            }
            guard bytes.count < 1 << 30 else { return false }
            if memchr(start, 0, bytes.count) != nil { return true }
            reserve(4 + bytes.count)
            store(Int32(truncatingIfNeeded: bytes.count))
            (base + size).copyMemory(from: start, byteCount: bytes.count)
            size += bytes.count
            return false
        }
        if hasZero { throw zeroInText(text) }
        try checkSize(text.utf8.count)
    }

    /// Writes JSON text for a `jsonb`.
    private func write(json: String) throws(RelataError) {
        try checkSize(json.utf8.count)
        var json = json
        write(Int32(json.utf8.count + 1))
        write(UInt8(1))
        let hasZero = json.withUTF8 { bytes in
            write(bytes: UnsafeRawBufferPointer(bytes))
            return bytes.contains(0)
        }
        if hasZero { throw zeroInText(json) }
    }

    private func write(_ value: UUID) {
        write(Int32(16))
        withUnsafeBytes(of: value.uuid) { write(bytes: $0) }
    }

    private func write(_ number: some FixedWidthInteger, width: Int) {
        reserve(4 + width)
        store(Int32(width))
        store(number)
    }

    private func fitting<Integer: FixedWidthInteger>(_ value: Int64, _ type: TypeCode) throws(RelataError) -> Integer {
        guard let integer = Integer(exactly: value) else { throw unfitting(.integer(value), type) }
        return integer
    }

    // MARK: Errors

    /// The error of a value that isn't one of a type.
    func unfitting(_ value: Value, _ type: TypeCode) -> RelataError {
        let name = type.kind == .other && isCopying ? "\(type.name), which can't be copied" : type.name
        let text = value.description
        let shown = text.count > 100 ? "\(text.prefix(100))…" : text
        return .invalidUse(
            "the value \(shown) doesn't fit PostgreSQL's \(name): give it one that does, or change the column's type")
    }

    /// The error of text with a U+0000.
    private func zeroInText(_ text: String) -> RelataError {
        let before = text.prefix { $0 != "\0" }
        return .invalidUse(
            "PostgreSQL's text can't contain U+0000, which follows \"\(before.suffix(40))\": remove it, or store the text as data"
        )
    }

    private func checkSize(_ count: Int) throws(RelataError) {
        guard count < 1 << 30 else {
            throw .invalidUse("a value is larger than PostgreSQL's limit of a gigabyte: store it in a file")
        }
    }
}
#endif
