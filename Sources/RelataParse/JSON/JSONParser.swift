/// Reads JSON (RFC 8259) from untrusted bytes: in one pass, with limited recursion, and with errors that name the
/// position.
///
/// Stricter than most: a repeated name in an object is refused, because two programs could read it differently, and so
/// is text that isn't UTF-8.
public struct JSONParser {
    /// The maximum depth of nested arrays and objects.
    public static let maximumDepth = 64

    private let bytes: UnsafeBufferPointer<UInt8>
    private var place = 0
    private var depth = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Reads a whole text.
    ///
    /// - Throws: ``ParseError`` 107 with the byte at which the JSON is invalid.
    public static func parse(_ text: some Sequence<UInt8>) throws(ParseError) -> JSONValue {
        var result: Result<JSONValue, ParseError>?
        let bytes = ContiguousArray(text)
        bytes.withUnsafeBufferPointer { buffer in result = Self.result(buffer) }
        guard let result else { throw ParseError(.invalidJSON, "the text can't be read") }
        return try result.get()
    }

    /// Reads a whole text.
    ///
    /// - Throws: ``ParseError`` 107 with the byte at which the JSON is invalid.
    public static func parse(_ text: String) throws(ParseError) -> JSONValue { try parse(text.utf8) }

    private static func result(_ buffer: UnsafeBufferPointer<UInt8>) -> Result<JSONValue, ParseError> {
        var parser = JSONParser(buffer)
        do throws(ParseError) {
            parser.skipSpace()
            let value = try parser.value()
            parser.skipSpace()
            guard parser.place == buffer.count else { throw parser.wrong("unexpected text after the value") }
            return .success(value)
        } catch {
            return .failure(error)
        }
    }

    // MARK: Values

    private mutating func value() throws(ParseError) -> JSONValue {
        switch peek() {
        case UInt8(ascii: "{"): return try object()
        case UInt8(ascii: "["): return try array()
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return try number()
        case nil: throw wrong("a value is missing")
        default: throw wrong("a value can't begin like this")
        }
    }

    private mutating func object() throws(ParseError) -> JSONValue {
        try enter()
        defer { depth -= 1 }
        if take(UInt8(ascii: "}")) { return .object([:]) }
        let (name, value) = try member()
        skipSpace()
        var members = JSONObject()
        // Objects of one member are frequent: they get no unused capacity.
        if peek() == UInt8(ascii: ",") { members.reserveCapacity(6) }
        _ = members.append(name, value)
        while take(UInt8(ascii: ",")) {
            let (name, value) = try member()
            guard members.append(name, value) else {
                throw wrong("the member \(name.prefix(64)) occurs twice in one object")
            }
            skipSpace()
        }
        guard take(UInt8(ascii: "}")) else { throw wrong("a comma or the end of the object is expected") }
        return .object(members)
    }

    private mutating func member() throws(ParseError) -> (String, JSONValue) {
        skipSpace()
        guard peek() == UInt8(ascii: "\"") else { throw wrong("a member's name is expected, in quotes") }
        let name = try string()
        skipSpace()
        guard take(UInt8(ascii: ":")) else { throw wrong("a colon is expected after a member's name") }
        skipSpace()
        return (name, try value())
    }

    private mutating func array() throws(ParseError) -> JSONValue {
        try enter()
        defer { depth -= 1 }
        var elements: [JSONValue] = []
        if take(UInt8(ascii: "]")) { return .array(elements) }
        repeat {
            skipSpace()
            elements.append(try value())
            skipSpace()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw wrong("a comma or the end of the array is expected") }
        return .array(elements)
    }

    /// Steps over an opening bracket.
    private mutating func enter() throws(ParseError) {
        place += 1
        depth += 1
        guard depth <= Self.maximumDepth else { throw wrong("nested deeper than \(Self.maximumDepth) levels") }
        skipSpace()
    }

    private mutating func word(_ text: StaticString, _ value: JSONValue) throws(ParseError) -> JSONValue {
        for offset in 0..<text.utf8CodeUnitCount {
            guard peek() == text.utf8Start[offset] else { throw wrong("a value can't begin like this") }
            place += 1
        }
        return value
    }

    private mutating func number() throws(ParseError) -> JSONValue {
        let start = place
        _ = take(UInt8(ascii: "-"))
        let first = peek()
        let whole = digits()
        guard whole > 0, whole == 1 || first != UInt8(ascii: "0") else { throw wrong("a number can't have this form") }
        var isWhole = true
        if take(UInt8(ascii: ".")) {
            isWhole = false
            guard digits() > 0 else { throw wrong("digits are expected after the decimal point") }
        }
        if peek() == UInt8(ascii: "e") || peek() == UInt8(ascii: "E") {
            isWhole = false
            place += 1
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            guard digits() > 0 else { throw wrong("digits are expected in the exponent") }
        }
        if isWhole, place - start < 18 { return .integer(wholeNumber(bytes[start..<place])) }
        if let number = shortDecimal(bytes[start..<place]) { return JSONValue(number: number) }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        if isWhole, let integer = Int64(text) { return .integer(integer) }
        guard let number = Double(text), number.isFinite else { throw wrong("the number is too large") }
        return JSONValue(number: number)
    }

    /// A whole number that fits 64 bits, by its digits.
    private func wholeNumber(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Int64 {
        let isNegative = text.first == UInt8(ascii: "-")
        let number = text.dropFirst(isNegative ? 1 : 0).reduce(Int64(0)) { $0 * 10 + Int64($1 & 15) }
        return isNegative ? -number : number
    }

    /// A number of few digits and no exponent; `nil` for any other.
    ///
    /// Fifteen digits are less than 2⁵³ and their power of ten less than 10²²: both are exact, and so their quotient is
    /// the nearest number.
    private func shortDecimal(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> Double? {
        guard text.count <= 16 else { return nil }
        var (number, divisor, isFraction) = (Int64(0), 1.0, false)
        for byte in text.dropFirst(text.first == UInt8(ascii: "-") ? 1 : 0) {
            switch byte {
            case UInt8(ascii: "."): isFraction = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                number = number * 10 + Int64(byte & 15)
                if isFraction { divisor *= 10 }
            default: return nil
            }
        }
        return (text.first == UInt8(ascii: "-") ? -Double(number) : Double(number)) / divisor
    }

    private mutating func digits() -> Int {
        let start = place
        while let byte = peek(), (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { place += 1 }
        return place - start
    }

    // MARK: Strings

    private mutating func string() throws(ParseError) -> String {
        place += 1
        let start = place
        var (end, union) = (start, UInt8(0))
        while end < bytes.count {
            let byte = bytes[end]
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte < 0x20 { break }
            union |= byte
            end += 1
        }
        place = end
        // Most strings have nothing to unescape and are taken whole.
        if peek() == UInt8(ascii: "\"") {
            place += 1
            let text = UnsafeBufferPointer(rebasing: bytes[start..<place - 1])
            // Validating takes several times as long, even for valid text.
            return union < 0x80 ? String(decoding: text, as: UTF8.self) : try self.text(text)
        }
        var unescaped = ContiguousArray(bytes[start..<place])
        while let byte = peek() {
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return try text(unescaped)
            case UInt8(ascii: "\\"): try escape(into: &unescaped)
            case ..<0x20: throw wrong("a control character in a string must be escaped")
            default: unescaped.append(byte)
            }
        }
        throw wrong("the string isn't closed")
    }

    private func text(_ bytes: some Collection<UInt8>) throws(ParseError) -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else { throw wrong("the text isn't UTF-8") }
        return text
    }

    private mutating func escape(into text: inout ContiguousArray<UInt8>) throws(ParseError) {
        guard let byte = peek() else { throw wrong("the string isn't closed") }
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = try fourDigits()
            if (0xD800...0xDBFF).contains(code) {
                guard take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else {
                    throw wrong("an unpaired surrogate")
                }
                let low = try fourDigits()
                guard (0xDC00...0xDFFF).contains(low) else { throw wrong("an unpaired surrogate") }
                code = 0x10000 + (code - 0xD800) << 10 + (low - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw wrong("an unpaired surrogate") }
            text.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        default: throw wrong("this escape is unknown")
        }
    }

    private mutating func fourDigits() throws(ParseError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = peek().flatMap({ Character(Unicode.Scalar($0)).hexDigitValue }) else {
                throw wrong("four hexadecimal digits are expected")
            }
            code = code * 16 + UInt32(digit)
            place += 1
        }
        return code
    }

    // MARK: Bytes

    private func peek() -> UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek() == byte else { return false }
        place += 1
        return true
    }

    private mutating func skipSpace() {
        while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { place += 1 }
    }

    private func wrong(_ message: String) -> ParseError {
        ParseError(.invalidJSON, "invalid JSON at byte \(place + 1): \(message)")
    }
}
