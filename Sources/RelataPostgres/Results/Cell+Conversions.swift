#if PostgreSQL
import Foundation
import RelataCPQ
import RelataCore

/// Forms and conversions that are off the hot paths.
extension Cell {
    @usableFromInline
    func convertedInteger() throws(RelataError) -> Int64 {
        guard !isNull else { return 0 }
        guard isBinary else { return try integerFromText() }
        switch kind {
        case .boolean: return pointer.load(as: UInt8.self) == 0 ? 0 : 1
        case .int2: return Int64(load(Int16.self))
        case .int4: return Int64(load(Int32.self))
        case .oid: return Int64(load(UInt32.self))
        case .int8: return load(Int64.self)
        case .date:
            let day = load(Int32.self)
            guard day != .max, day != .min else { throw infinite(day > 0 ? "infinity" : "-infinity") }
            return (Int64(day) + ParameterBuffer.epochDay) * ParameterBuffer.microsecondsOfDay
        case .timestamp:
            let value = load(Int64.self)
            guard value != .max, value != .min else { throw infinite(value > 0 ? "infinity" : "-infinity") }
            let (moved, overflow) = value.addingReportingOverflow(ParameterBuffer.epoch)
            guard !overflow else { throw infinite("too far away") }
            return moved
        case .float4, .float8: return Self.whole(try real())
        case .numeric, .text, .jsonb, .array, .other: return Self.whole(try text())
        case .uuid, .bytea: return 0
        }
    }

    /// The integer of a cell in text form.
    private func integerFromText() throws(RelataError) -> Int64 {
        switch kind {
        case .boolean: return bytes.first == UInt8(ascii: "t") ? 1 : 0
        case .date, .timestamp:
            let text = String(decoding: bytes, as: UTF8.self)
            guard let microseconds = Self.microseconds(text) else { throw infinite(text) }
            return microseconds
        case .uuid, .bytea: return 0
        default: return Self.whole(String(decoding: bytes, as: UTF8.self))
        }
    }

    @usableFromInline
    func convertedReal() throws(RelataError) -> Double {
        guard !isNull else { return 0 }
        switch kind {
        case .float4 where isBinary: return Double(Float(bitPattern: load(UInt32.self)))
        case .float8 where isBinary: return Double(bitPattern: load(UInt64.self))
        // The same value as from the binary form: 0.1 as a `float4` isn't the double 0.1.
        case .float4: return Double(Float(String(decoding: bytes, as: UTF8.self)) ?? 0)
        case .float8, .numeric, .text, .jsonb, .array, .other: return Double(try text()) ?? 0
        case .uuid, .bytea: return 0
        case .boolean, .int2, .int4, .int8, .oid, .date, .timestamp: return Double(try integer())
        }
    }

    @usableFromInline
    func convertedText() throws(RelataError) -> String {
        guard !isNull else { return "" }
        switch kind {
        case .text, .array, .other: return String(decoding: bytes, as: UTF8.self)
        case .jsonb:
            // A version byte is in front of the binary form.
            return String(decoding: isBinary ? UnsafeBufferPointer(rebasing: bytes.dropFirst()) : bytes, as: UTF8.self)
        case .numeric:
            let text = isBinary ? NumericText.decode(bytes) : NumericText.trim(String(decoding: bytes, as: UTF8.self))
            guard let text else {
                throw .corruptStore(
                    "the column \(name) holds NaN or infinity, which a decimal can't represent: change the stored value"
                )
            }
            return text
        case .float4 where isBinary: return String(Float(bitPattern: load(UInt32.self)))
        case .float8 where isBinary: return String(try real())
        case .float4, .float8: return String(decoding: bytes, as: UTF8.self)
        case .boolean, .int2, .int4, .int8, .oid, .date, .timestamp: return String(try integer())
        case .uuid: return uuid?.uuidString.lowercased() ?? ""
        case .bytea: return String(decoding: try data(), as: UTF8.self)
        }
    }

    @usableFromInline
    func convertedData() throws(RelataError) -> Data {
        guard !isNull else { return Data() }
        switch kind {
        case .bytea where isBinary: return Data(bytes)
        case .bytea: return Self.bytes(hexadecimal: bytes)
        case .uuid: return uuid.map { uuid in withUnsafeBytes(of: uuid.uuid) { Data($0) } } ?? Data()
        default: return Data(try text().utf8)
        }
    }

    @usableFromInline
    var convertedUUID: UUID? {
        guard !isNull else { return nil }
        switch kind {
        case .uuid where isBinary && length == 16: return UUID(uuid: pointer.loadUnaligned(as: uuid_t.self))
        case .uuid, .text: return UUID(uuidString: String(decoding: bytes, as: UTF8.self))
        case .bytea:
            guard let data = try? data(), data.count == 16 else { return nil }
            return data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) }
        default: return nil
        }
    }

    /// The text of a point in time that is infinity; `nil` of any other.
    var infinity: String? {
        let isPositive: Bool
        switch (kind, length) {
        case (.timestamp, 8) where isBinary:
            let value = load(Int64.self)
            guard value == .max || value == .min else { return nil }
            isPositive = value > 0
        case (.date, 4) where isBinary:
            let day = load(Int32.self)
            guard day == .max || day == .min else { return nil }
            isPositive = day > 0
        default:
            let text = String(decoding: bytes, as: UTF8.self)
            return !isBinary && text.hasSuffix("infinity") ? text : nil
        }
        return isPositive ? "infinity" : "-infinity"
    }

    /// The text of a `numeric` that is infinite or no number; `nil` of any other.
    var notANumber: String? {
        guard kind == .numeric, isBinary else {
            let text = String(decoding: bytes, as: UTF8.self)
            return text.hasSuffix("NaN") || text.hasSuffix("Infinity") ? text : nil
        }
        guard length >= 8 else { return nil }
        let sign = (pointer + 4).loadUnaligned(as: UInt16.self)
        return [0xC000: "NaN", 0xD000: "Infinity", 0xF000: "-Infinity"][UInt16(bigEndian: sign)]
    }

    /// The column's name.
    package var name: String { PQfname(result, column).map { String(cString: $0) } ?? "\(column)" }

    @usableFromInline
    func infinite(_ text: String) -> RelataError {
        .corruptStore(
            "the column \(name) holds a point in time that a date can't represent (\(text)): change the stored value, or use NULL"
        )
    }

    // MARK: Text

    /// The whole part of a number, no further than integers reach.
    private static func whole(_ number: Double) -> Int64 {
        number.isNaN ? 0 : Int64(exactly: number.rounded(.towardZero)) ?? (number > 0 ? .max : .min)
    }

    private static func whole(_ text: String) -> Int64 { Int64(text) ?? whole(Double(text) ?? 0) }

    /// The bytes that PostgreSQL writes as `\x` and two digits each.
    private static func bytes(hexadecimal text: UnsafeBufferPointer<UInt8>) -> Data {
        func digit(_ byte: UInt8) -> UInt8 { byte < 0x3A ? byte &- 0x30 : (byte | 0x20) &- 0x57 }
        var data = Data(capacity: text.count / 2)
        for index in stride(from: 2, to: text.count - 1, by: 2) {
            data.append(digit(text[index]) << 4 | digit(text[index + 1]))
        }
        return data
    }

    /// Microseconds since 1970 of PostgreSQL's text form in UTC, in which the year may have more digits and be before
    /// Christ: `2026-11-21 06:19:00.5+00`. `nil` for infinity.
    static func microseconds(_ text: String) -> Int64? {
        var text = text[...]
        let isBeforeChrist = text.hasSuffix(" BC")
        if isBeforeChrist { text = text.dropLast(3) }
        let parts = text.split(separator: " ", maxSplits: 1)
        let date = parts.first?.split(separator: "-").map { Int64($0) } ?? []
        guard date.count == 3, let year = date[0], let month = date[1], let day = date[2] else { return nil }
        let start = DateText.days(year: isBeforeChrist ? 1 - year : year, month: month, day: day)
        var (microseconds, overflow) = start.multipliedReportingOverflow(by: ParameterBuffer.microsecondsOfDay)
        guard !overflow else { return nil }
        if parts.count == 2 {
            // The time of the first of all days, which DateText reads.
            let time = parts[1].hasSuffix("+00") ? parts[1].dropLast(3) : parts[1]
            guard let rest = DateText.microseconds(text: "1970-01-01 \(time)") else { return nil }
            (microseconds, overflow) = microseconds.addingReportingOverflow(rest)
        }
        return overflow ? nil : microseconds
    }
}
#endif
