/// Whether bytes are JSON, found without making values of them: what a column holds goes into a reply as it is, and another
/// program may have written it.
///
/// Stricter than ``JSONParser`` in nothing, and looser in one thing: a name may stand twice in an object.
struct JSONCheck {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var place = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Whether the bytes are one JSON value, in UTF-8 and nested no deeper than ``JSONParser/maximumDepth``.
    static func isJSON(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        var check = JSONCheck(bytes)
        check.skipSpace()
        guard check.value(JSONParser.maximumDepth) else { return false }
        check.skipSpace()
        guard check.place == bytes.count else { return false }
        return bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }

    private mutating func value(_ depth: Int) -> Bool {
        switch next {
        case UInt8(ascii: "{"): members(depth - 1)
        case UInt8(ascii: "["): elements(depth - 1)
        case UInt8(ascii: "\""): string()
        case UInt8(ascii: "t"): word("true")
        case UInt8(ascii: "f"): word("false")
        case UInt8(ascii: "n"): word("null")
        default: number()
        }
    }

    private mutating func members(_ depth: Int) -> Bool {
        guard depth >= 0 else { return false }
        place += 1
        skipSpace()
        if take(UInt8(ascii: "}")) { return true }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\""), string() else { return false }
            skipSpace()
            guard take(UInt8(ascii: ":")) else { return false }
            skipSpace()
            guard value(depth) else { return false }
            skipSpace()
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "}"))
    }

    private mutating func elements(_ depth: Int) -> Bool {
        guard depth >= 0 else { return false }
        place += 1
        skipSpace()
        if take(UInt8(ascii: "]")) { return true }
        repeat {
            skipSpace()
            guard value(depth) else { return false }
            skipSpace()
        } while take(UInt8(ascii: ","))
        return take(UInt8(ascii: "]"))
    }

    private mutating func string() -> Bool {
        place += 1
        while let byte = next, byte >= 0x20 {
            place += 1
            if byte == UInt8(ascii: "\"") { return true }
            if byte == UInt8(ascii: "\\"), !escape() { return false }
        }
        return false
    }

    private mutating func escape() -> Bool {
        guard let byte = next else { return false }
        place += 1
        switch byte {
        case UInt8(ascii: "u"):
            for _ in 0..<4 {
                guard let digit = next, Character(Unicode.Scalar(digit)).isHexDigit else { return false }
                place += 1
            }
            return true
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return true
        default: return false
        }
    }

    private mutating func word(_ text: StaticString) -> Bool {
        for offset in 0..<text.utf8CodeUnitCount where !take(text.utf8Start[offset]) { return false }
        return true
    }

    private mutating func number() -> Bool {
        _ = take(UInt8(ascii: "-"))
        if !take(UInt8(ascii: "0")), !digits() { return false }
        if take(UInt8(ascii: ".")), !digits() { return false }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            place += 1
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            return digits()
        }
        return true
    }

    private mutating func digits() -> Bool {
        let start = place
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
        return place > start
    }

    // MARK: Bytes

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        place += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
    }
}
