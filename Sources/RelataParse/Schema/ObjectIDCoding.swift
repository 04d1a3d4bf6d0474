import Foundation
import RelataCore

/// Object ids as clients write them, and their keys: text as it is, numbers in digits, UUIDs in lower case, and the
/// parts of a compound key separated by commas.
struct ObjectIDCoding: Sendable {
    private let types: [AttributeType]
    /// Of each part, whether it may be stored as another type.
    private let holdsOthers: [Bool]
    /// Whether keys may be stored as other types than their columns': then only the stored key identifies an object.
    let holdsOtherTypes: Bool

    init(_ table: Table) {
        types = table.keyTypes
        holdsOthers = table.keyColumns.map { table.columns[$0].holdsOtherTypes }
        holdsOtherTypes = table.holdsOtherKeys
    }

    /// Whether object ids are kept as they are written.
    var isText: Bool { types == [.text] }
    /// Whether object ids are numbers.
    var isInteger: Bool { types == [.integer] }

    /// The key of an object id by the types of its columns; `nil` for an invalid one.
    func key(_ text: String) -> KeyValue? {
        guard types.count > 1 else { return Self.value(text, types[0]).map { KeyValue($0) } }
        var values: [Value] = []
        for (part, type) in parts(text) ?? [] {
            guard let value = Self.value(part, type) else { return nil }
            values.append(value)
        }
        return values.isEmpty ? nil : KeyValue(values)
    }

    /// The possible keys of an object id; several if keys of other types may be stored.
    func keys(_ text: String) -> [KeyValue] {
        guard holdsOtherTypes else { return key(text).map { [$0] } ?? [] }
        guard let parts = parts(text) else { return [] }
        let readable = zip(parts, holdsOthers).map { (text: $0.text, type: $0.type, holdsOthers: $1) }
        return KeyValue.readings(readable) { part, type, own in
            // Another spelling of a number would find the same object.
            if type == .text, isNumber(part), own.turnsTextsIntoNumbers { return Value?.none }
            if type == .real, types.contains(.integer), isWhole(part) { return Value?.none }
            return Self.value(part, type)
        }
    }

    private func isWhole(_ text: String) -> Bool { Double(text).map { $0 == $0.rounded() } == true }

    private func isNumber(_ text: String) -> Bool { Double(text)?.isFinite == true }

    /// The parts of a text, each with the type of its column; `nil` for a wrong number of parts.
    private func parts(_ text: String) -> [(text: String, type: AttributeType)]? {
        if types.count == 1 { return [(text, types[0])] }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false).compactMap(\.removingPercentEncoding)
        return parts.count == types.count ? Array(zip(parts, types)).map { (text: $0, type: $1) } : nil
    }

    /// The object id of a key.
    func text(_ key: KeyValue) -> String {
        guard types.count > 1 else { return Self.text(key.values[0]) }
        return key.values.map { value in
            // Only separators and escape characters need escaping.
            Self.text(value).replacingOccurrences(of: "%", with: "%25").replacingOccurrences(of: ",", with: "%2C")
        }.joined(separator: ",")
    }

    private static func text(_ value: Value) -> String {
        if case .blob(let data) = value { data.hexadecimal } else { value.description }
    }

    private static func value(_ text: String, _ type: AttributeType) -> Value? {
        switch type {
        case .text, .json: .text(text)
        case .integer, .boolean, .date(.microseconds): Int64(text).map { .integer($0) }.flatMap { canonical($0, text) }
        case .real, .date(.seconds): number(text).flatMap { canonical($0, text) }
        case .decimal, .uuid, .date(.iso8601): Value.text(text).stored(as: type)
        case .data: Data(hexadecimal: text).map { .blob($0) }.flatMap { canonical($0, text) }
        }
    }

    /// A number as in JSON: Swift also reads other notations, and infinite numbers.
    private static func number(_ text: String) -> Value? {
        guard let number = Double(text), number.isFinite else { return Value?.none }
        return .real(number)
    }

    /// A value under the one name that it has: `007` isn't the object `7`.
    private static func canonical(_ value: Value, _ text: String) -> Value? {
        // Written in full, because `nil` may be NULL, which is a value.
        Self.text(value) == text ? .some(value) : Value?.none
    }
}

extension AttributeType {
    /// Whether a column of the type stores a text as the number that it reads as.
    fileprivate var turnsTextsIntoNumbers: Bool {
        switch storage {
        case .integer, .real, .numeric: true
        case .text, .blob: false
        }
    }
}

extension Data {
    /// The bytes that hexadecimal digits spell, two a byte.
    init?(hexadecimal text: String) {
        let digits = Array(text.utf8)
        guard digits.count.isMultiple(of: 2) else { return nil }
        self.init()
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let byte = UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) else {
                return nil
            }
            append(byte)
        }
    }
}
