/// Scans JSON byte by byte without making values, to find the ends of values, or only to validate.
///
/// Unlike a parser, it accepts repeated names in an object.
package struct JSONScanner {
    private let bytes: UnsafeBufferPointer<UInt8>
    /// The place of the next byte.
    package private(set) var place: Int

    /// Starts at a position.
    package init(_ bytes: UnsafeBufferPointer<UInt8>, at place: Int = 0) {
        self.bytes = bytes
        self.place = place
    }

    /// Whether the bytes are one JSON value, in UTF-8, with at most this nesting.
    package static func isJSON(_ bytes: UnsafeBufferPointer<UInt8>, depth: Int) -> Bool {
        var scanner = JSONScanner(bytes)
        scanner.skipSpace()
        guard scanner.value(depth) else { return false }
        scanner.skipSpace()
        guard scanner.place == bytes.count else { return false }
        return bytes.allSatisfy { $0 < 0x80 } || String(validating: bytes, as: UTF8.self) != nil
    }

    /// Steps over a value.
    ///
    /// - Parameter depth: The maximum depth of nested arrays and objects.
    /// - Returns: Whether there is one.
    package mutating func value(_ depth: Int) -> Bool {
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

    /// Skips a string, whose first quote is next. Its bytes may be invalid UTF-8.
    package mutating func string() -> Bool {
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

    /// The next byte.
    package var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    /// Steps over a byte, if it is next.
    package mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        place += 1
        return true
    }

    /// Skips white space between values.
    package mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
    }
}
