import RelataCore

/// JSON in a canonical form: without white space, with members in one order, the last of repeated members, texts
/// without escapes, and numbers by their value, with all digits. `jsonb` preserves exactly that.
struct CanonicalJSON {
    /// The value's bytes.
    private(set) var bytes: [UInt8] = []
    private let source: [UInt8]
    private var place = 0
    /// The maximum nesting of arrays and objects.
    private static let maximumDepth = 512

    /// `nil` for text that isn't JSON.
    init?(_ text: String) {
        source = Array(text.utf8)
        guard let value = value(depth: 0) else { return nil }
        skipBlanks()
        guard place == source.count else { return nil }
        bytes = value
    }

    private mutating func value(depth: Int) -> [UInt8]? {
        skipBlanks()
        guard place < source.count, depth <= Self.maximumDepth else { return nil }
        switch source[place] {
        case UInt8(ascii: "{"): return object(depth: depth + 1)
        case UInt8(ascii: "["): return array(depth: depth + 1)
        case UInt8(ascii: "\""): return string()
        case UInt8(ascii: "t"): return word("true")
        case UInt8(ascii: "f"): return word("false")
        case UInt8(ascii: "n"): return word("null")
        default: return number()
        }
    }

    // MARK: Lists of values

    private mutating func object(depth: Int) -> [UInt8]? {
        var members: [[UInt8]: [UInt8]] = [:]
        let isRead = list(endingWith: UInt8(ascii: "}")) { json in
            json.skipBlanks()
            guard let name = json.string() else { return false }
            json.skipBlanks()
            guard json.takes(UInt8(ascii: ":")), let value = json.value(depth: depth) else { return false }
            members[name] = value
            return true
        }
        guard isRead else { return nil }
        let names = members.keys.sorted { $0.lexicographicallyPrecedes($1) }
        return Self.joined("{", names.map { $0 + [UInt8(ascii: ":")] + (members[$0] ?? []) }, "}")
    }

    private mutating func array(depth: Int) -> [UInt8]? {
        var elements: [[UInt8]] = []
        let isRead = list(endingWith: UInt8(ascii: "]")) { json in
            guard let value = json.value(depth: depth) else { return false }
            elements.append(value)
            return true
        }
        return isRead ? Self.joined("[", elements, "]") : nil
    }

    /// Reads comma-separated items, after the opening character.
    private mutating func list(endingWith end: UInt8, _ read: (inout CanonicalJSON) -> Bool) -> Bool {
        place += 1
        skipBlanks()
        if takes(end) { return true }
        while true {
            guard read(&self) else { return false }
            skipBlanks()
            if takes(end) { return true }
            guard takes(UInt8(ascii: ",")) else { return false }
        }
    }

    private static func joined(_ start: String, _ parts: [[UInt8]], _ end: String) -> [UInt8] {
        Array(start.utf8) + parts.joined(separator: [UInt8(ascii: ",")]) + Array(end.utf8)
    }

    // MARK: Plain values

    private mutating func word(_ word: String) -> [UInt8]? {
        let bytes = Array(word.utf8)
        guard source[place...].starts(with: bytes) else { return nil }
        place += bytes.count
        return bytes
    }

    private mutating func number() -> [UInt8]? {
        let digits = source[place...].prefix {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || "+-.eE".utf8.contains($0)
        }
        place += digits.count
        return DecimalText.canonical(number: String(decoding: digits, as: UTF8.self)).map { Array($0.utf8) }
    }

    /// A text, preceded by the number of its bytes, so that its contents can't be confused with its end.
    private mutating func string() -> [UInt8]? {
        guard takes(UInt8(ascii: "\"")) else { return nil }
        var text: [UInt8] = []
        while place < source.count {
            let byte = source[place]
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return Array("\(text.count)\"".utf8) + text
            case UInt8(ascii: "\\"):
                guard let scalar = escape() else { return nil }
                text += Array(String(scalar).utf8)
            default: text.append(byte)
            }
        }
        return nil
    }

    private mutating func escape() -> Unicode.Scalar? {
        guard place < source.count else { return nil }
        let sign = source[place]
        place += 1
        switch sign {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(sign)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            guard let first = hexadecimal() else { return nil }
            guard UTF16.isLeadSurrogate(first) else { return Unicode.Scalar(first) }
            guard takes(UInt8(ascii: "\\")), takes(UInt8(ascii: "u")), let second = hexadecimal(),
                UTF16.isTrailSurrogate(second)
            else { return nil }
            return Unicode.Scalar(0x10000 + (UInt32(first) - 0xD800) << 10 + (UInt32(second) - 0xDC00))
        default: return nil
        }
    }

    private mutating func hexadecimal() -> UInt16? {
        let digits = String(decoding: source[place...].prefix(4), as: UTF8.self)
        guard digits.utf8.count == 4, let number = UInt16(digits, radix: 16) else { return nil }
        place += 4
        return number
    }

    // MARK: Signs

    private mutating func takes(_ sign: UInt8) -> Bool {
        guard place < source.count, source[place] == sign else { return false }
        place += 1
        return true
    }

    private mutating func skipBlanks() {
        while place < source.count, " \t\n\r".utf8.contains(source[place]) { place += 1 }
    }
}
