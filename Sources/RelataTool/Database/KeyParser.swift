import Foundation
import RelataCore

/// Keys as they are typed: `7`, `Mei Chen`, and `3,12` for a key of several columns.
enum KeyParser {
    /// The key of an entity that a text means, as its columns are declared.
    ///
    /// The parts of a key are separated by commas; a backslash before a comma keeps it a part's own.
    static func key(_ text: String, of table: Table) throws(RelataError) -> KeyValue {
        var values: [Value] = []
        for (part, column) in try parts(text, of: table) {
            guard let value = value(part, as: column.type) else {
                throw .invalidUse("\(part) isn't a key of \(table.name): \(column.name) is \(word(for: column.type))")
            }
            values.append(value)
        }
        return KeyValue(values)
    }

    /// The possible keys of a text if values may have other types than declared, as in tables of other programs. Only a
    /// rowid is certain to be a number.
    static func otherKeys(_ text: String, of table: Table) throws(RelataError) -> [KeyValue] {
        if table.entity.isKeyAssigned { return [] }
        return KeyValue.readings(try parts(text, of: table).map { ($0, $1.type, holdsOthers: true) }) { part, type, _ in
            value(part, as: type)
        }
    }

    /// Whether a key is displayed exactly as a text: the text `007` is, and the number 7 isn't.
    static func isSpelled(_ key: KeyValue, as text: String, of table: Table) throws(RelataError) -> Bool {
        zip(key.values, try parts(text, of: table)).allSatisfy { value, part in
            // Integers are displayed with and without their fraction.
            if case .real(let number) = value, let whole = Int64(exactly: number), String(whole) == part.0 {
                return true
            }
            return value.description.hasSameBytes(as: part.0)
        }
    }

    /// The types of keys that look the same: `numbers and of texts`.
    static func kinds(of keys: Set<KeyValue>) -> String {
        let places = keys.first?.values.indices ?? 0..<0
        for place in places {
            let kinds = Set(keys.map { kind(of: $0.values[place]) })
            if kinds.count > 1 { return kinds.sorted().joined(separator: " and of ") }
        }
        return "several kinds"
    }

    private static func kind(of value: Value) -> String {
        switch value {
        case .null: "nothing"
        case .integer, .real: "numbers"
        case .text: "texts"
        case .blob: "bytes"
        case .uuid: "UUIDs"
        }
    }

    private static func parts(_ text: String, of table: Table) throws(RelataError) -> [(String, Column)] {
        let columns = table.keyColumns.map { table.columns[$0] }
        let parts = columns.count == 1 ? [text] : split(text)
        guard parts.count == columns.count else {
            let names = columns.map(\.name).joined(separator: ",")
            throw .invalidUse("\(text) isn't a key of \(table.name), which has \(columns.count) parts: give \(names)")
        }
        return Array(zip(parts, columns))
    }

    private static func split(_ text: String) -> [String] {
        var parts = [""]
        var isEscaped = false
        for character in text {
            if character == "\\" && !isEscaped {
                isEscaped = true
                continue
            }
            if character == "," && !isEscaped {
                parts.append("")
            } else {
                // A backslash means itself before everything else.
                parts[parts.count - 1] +=
                    (isEscaped && character != "," && character != "\\" ? "\\" : "") + String(character)
            }
            isEscaped = false
        }
        if isEscaped { parts[parts.count - 1] += "\\" }
        return parts
    }

    private static func value(_ text: String, as type: AttributeType) -> Value? {
        switch type {
        case .integer: Int64(text).map { .integer($0) }
        case .boolean: ["0": 0, "1": 1, "false": 0, "true": 1][text.lowercased()].map { .integer($0) }
        case .real: Double(text).map { .real($0) }
        case .date(.microseconds): Int64(text).map { .integer($0) } ?? Value.text(text).stored(as: type)
        case .text, .json: .text(text)
        case .data: bytes(text).map { .blob($0) }
        case .decimal, .date, .uuid: Value.text(text).stored(as: type)
        }
    }

    /// Bytes as they are displayed: `x'00ff'`.
    private static func bytes(_ text: String) -> Data? {
        guard text.lowercased().hasPrefix("x'"), text.hasSuffix("'"), text.utf8.count % 2 == 1 else { return nil }
        var bytes = Data()
        var digits = Array(text.dropFirst(2).dropLast())[...]
        while digits.count >= 2 {
            guard let byte = UInt8(String(digits.prefix(2)), radix: 16) else { return nil }
            bytes.append(byte)
            digits = digits.dropFirst(2)
        }
        return bytes
    }

    private static func word(for type: AttributeType) -> String {
        switch type {
        case .boolean: "true or false"
        case .integer: "an integer"
        case .real, .decimal: "a number"
        case .text, .json: "text"
        case .date: "a date such as 2026-11-21T06:19:00Z"
        case .data: "bytes such as x'00ff'"
        case .uuid: "a UUID"
        }
    }
}
