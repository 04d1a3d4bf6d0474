/// The part of a file that a request asks for: the header field `Range`.
enum ByteRange: Hashable {
    /// The whole file: for a request without a range, with an invalid one, or with several.
    case all
    case part(Range<Int>)
    /// The range begins after the end of the file.
    case beyond

    /// - Parameter size: The size of the file, in bytes.
    init(_ field: String?, size: Int) {
        self = .all
        guard let field, field.lowercased().hasPrefix("bytes=") else { return }
        let ends = field.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false).map { $0.trimmingSpaces }
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(Self.isDigit) }) else { return }
        // A number that is too large is beyond the end of every file.
        func number(_ text: String) -> Int? { text.isEmpty ? nil : Int(text) ?? .max }
        switch (number(ends[0]), number(ends[1])) {
        case (nil, nil): break
        case (nil, let count?): self = count > 0 && size > 0 ? .part(max(0, size - count)..<size) : .beyond
        case (let start?, let last):
            if let last, last < start { return }
            self = start < size ? .part(start..<(min(last ?? .max, size - 1) + 1)) : .beyond
        }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
