#if Server
import NIOCore

/// Measures the first line of a request, which holds the address, while it arrives: NIO's parser gives up on an address and on
/// header fields with the same error.
struct LineWatch {
    private var length = 0
    private var hasEnded = false

    /// Reads what arrived of a request.
    mutating func read(_ bytes: ByteBufferView) {
        guard !hasEnded else { return }
        let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
        length += (end ?? bytes.endIndex) - bytes.startIndex
        hasEnded = end != nil
    }

    /// The limit, where the line is longer.
    func exceeded(_ limit: Int) -> Int? { length > limit ? limit : nil }
}
#endif
