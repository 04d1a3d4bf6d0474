/// The keys in a body, for clients that send no header fields. They are read without parsing the rest, so that requests
/// with wrong keys cost little.
struct BodyKeys {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var place = 0

    /// The members of a JSON object that replace header fields, by the names of these; `nil` for a body that isn't a
    /// JSON object.
    ///
    /// - Parameter names: The names of header fields by those of members.
    static func fields(of body: [UInt8], _ names: [String: String]) -> [String: String]? {
        body.withUnsafeBufferPointer { bytes in
            var reader = BodyKeys(bytes)
            return reader.fields(names)
        }
    }

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    private mutating func fields(_ names: [String: String]) -> [String: String]? {
        var fields: [String: String] = [:]
        guard skip(UInt8(ascii: "{")) else { return nil }
        if skip(UInt8(ascii: "}")) { return isAtEnd ? fields : nil }
        repeat {
            guard let name = skipString(), skip(UInt8(ascii: ":")) else { return nil }
            let isKey = name.count > 2 && bytes[name.lowerBound + 1] == UInt8(ascii: "_")
            skipSpace()
            let start = place
            guard skipValue() else { return nil }
            guard isKey, let header = text(name).flatMap({ names[$0] }) else { continue }
            // A repeated member is refused when the whole body is parsed.
            if let value = text(start..<place) { fields[header] = value }
        } while skip(UInt8(ascii: ","))
        return skip(UInt8(ascii: "}")) && isAtEnd ? fields : nil
    }

    /// The value of a string; `nil` for anything else.
    private func text(_ range: Range<Int>) -> String? {
        guard bytes[range.lowerBound] == UInt8(ascii: "\"") else { return nil }
        return (try? JSONParser.parse(Array(bytes[range])))?.string
    }

    private var isAtEnd: Bool {
        mutating get {
            skipSpace()
            return place == bytes.count
        }
    }

    private mutating func skipSpace() {
        while place < bytes.count {
            switch bytes[place] {
            case 0x20, 0x09, 0x0A, 0x0D: place += 1
            default: return
            }
        }
    }

    private mutating func skip(_ byte: UInt8) -> Bool {
        skipSpace()
        guard place < bytes.count, bytes[place] == byte else { return false }
        place += 1
        return true
    }

    /// Skips a string, and returns its position, with its quotes.
    private mutating func skipString() -> Range<Int>? {
        skipSpace()
        let start = place
        guard place < bytes.count, bytes[place] == UInt8(ascii: "\"") else { return nil }
        place += 1
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\\"): place += 2
            case UInt8(ascii: "\""):
                place += 1
                return start..<place
            default: place += 1
            }
        }
        return nil
    }

    /// Skips a value of any type.
    private mutating func skipValue() -> Bool {
        var depth = 0
        let start = place
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: "\""):
                if skipString() == nil { return false }
                if depth == 0 { return true }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                place += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return place > start }
                depth -= 1
                place += 1
                if depth == 0 { return true }
            case UInt8(ascii: ",") where depth == 0: return place > start
            default: place += 1
            }
        }
        return false
    }
}
