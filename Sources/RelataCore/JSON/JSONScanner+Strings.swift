extension JSONScanner {
    /// The text of a scanned string, by the bytes between its quotes; `nil` for invalid UTF-8, or half an escaped
    /// character.
    package static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        guard let first = bytes.firstIndex(of: UInt8(ascii: "\\")) else {
            return String(validating: bytes, as: UTF8.self)
        }
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count)
        text.append(contentsOf: bytes[..<first])
        var place = first
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                continue
            }
            guard place < bytes.count else { return nil }
            let sign = bytes[place]
            place += 1
            switch sign {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                guard let scalar = scalar(bytes, &place), let encoded = UTF8.encode(scalar) else { return nil }
                text.append(contentsOf: encoded)
            default: text.append(sign)
            }
        }
        return String(validating: text, as: UTF8.self)
    }

    /// The character that is escaped by its number, or by the two halves of it.
    private static func scalar(_ bytes: UnsafeBufferPointer<UInt8>, _ place: inout Int) -> Unicode.Scalar? {
        guard let high = fourDigits(bytes, place) else { return nil }
        place += 4
        guard UTF16.isLeadSurrogate(high) else { return Unicode.Scalar(high) }
        guard place + 1 < bytes.count, bytes[place] == UInt8(ascii: "\\"), bytes[place + 1] == UInt8(ascii: "u"),
            let low = fourDigits(bytes, place + 2), UTF16.isTrailSurrogate(low)
        else { return nil }
        place += 6
        return Unicode.Scalar(0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
    }

    private static func fourDigits(_ bytes: UnsafeBufferPointer<UInt8>, _ place: Int) -> UInt16? {
        guard place + 4 <= bytes.count else { return nil }
        return UInt16(String(decoding: bytes[place..<place + 4], as: UTF8.self), radix: 16)
    }
}
