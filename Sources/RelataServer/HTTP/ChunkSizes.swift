#if Server
import NIOCore

/// Adds up the announced sizes of a chunked body's chunks as they arrive. NIO's parser reports only received bytes of a
/// chunk, so a client could send all of a too large chunk before it is refused.
///
/// The parser alone decides about a request. After unexpected bytes, nothing is added up.
struct ChunkSizes {
    private enum State {
        /// In the header, with the number of bytes seen of its end.
        case header(seen: Int)
        /// In the line with a size.
        case size(Int, hasDigits: Bool)
        /// In the extensions after the size.
        case rest(Int)
        /// In a chunk and the end of its line, with the number of missing bytes.
        case piece(left: Int)
        /// After the last chunk, or after unexpected bytes.
        case ended
    }

    private var state: State
    /// The total size of the announced chunks, in bytes.
    private(set) var total = 0

    /// - Parameter seen: The number of bytes of the header's end that have arrived before.
    init(seen: Int) { state = .header(seen: seen) }

    /// Reads received bytes, which begin within the header of the request or after it.
    mutating func read(_ bytes: ByteBufferView) {
        var place = bytes.startIndex
        while place < bytes.endIndex {
            if case .ended = state { return }
            if case .piece(let left) = state {
                let count = min(left, bytes.endIndex - place)
                place += count
                state = left > count ? .piece(left: left - count) : .size(0, hasDigits: false)
            } else {
                read(bytes[place])
                place += 1
            }
        }
    }

    private mutating func read(_ byte: UInt8) {
        switch state {
        case .header(let seen):
            let count = Self.seen(byte, after: seen)
            state = count == Self.headerEnd ? .size(0, hasDigits: false) : .header(seen: count)
        case .size(let size, let hasDigits):
            if let digit = Self.digit(byte) {
                let (larger, isTooLarge) = size.multipliedReportingOverflow(by: 16)
                state = .size(isTooLarge ? .max : larger | digit, hasDigits: true)
            } else if hasDigits, byte == UInt8(ascii: "\r") || byte == UInt8(ascii: ";") || byte == UInt8(ascii: " ") {
                announce(size)
            } else {
                state = .ended
            }
        case .rest(let size):
            if byte == UInt8(ascii: "\n") { state = size == 0 ? .ended : .piece(left: size) }
        case .piece, .ended: break
        }
    }

    /// The value of a hexadecimal digit.
    private static func digit(_ byte: UInt8) -> Int? {
        switch byte {
        case 0x30...0x39: Int(byte) - 0x30
        case 0x41...0x46: Int(byte) - 0x41 + 10
        case 0x61...0x66: Int(byte) - 0x61 + 10
        default: nil
        }
    }

    /// The number of bytes of a header's end that the received bytes end with.
    ///
    /// - Parameter earlier: The number for the bytes received before.
    static func seen(in bytes: ByteBufferView, after earlier: Int) -> Int {
        let last = bytes.suffix(headerEnd - 1)
        let count = last.reduce(last.count < bytes.count ? 0 : earlier) { seen($1, after: $0) }
        return count == headerEnd ? 0 : count
    }

    /// Two line ends follow each other.
    private static let headerEnd = 4

    private static func seen(_ byte: UInt8, after seen: Int) -> Int {
        if byte == (seen % 2 == 0 ? UInt8(ascii: "\r") : UInt8(ascii: "\n")) { return seen + 1 }
        return byte == UInt8(ascii: "\r") ? 1 : 0
    }

    private mutating func announce(_ size: Int) {
        let (sum, isTooLarge) = total.addingReportingOverflow(size)
        total = isTooLarge ? .max : sum
        // The end of the line that follows a piece counts as a part of it.
        let (length, isTooLong) = size.addingReportingOverflow(2)
        state = .rest(size == 0 ? 0 : isTooLong ? .max : length)
    }
}
#endif
