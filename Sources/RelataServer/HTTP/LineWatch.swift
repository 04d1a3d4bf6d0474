#if Server
import NIOCore

/// Measures the first line of a request, with the address, while it arrives: NIO's parser reports the same error for a
/// too long address and for too long header fields.
struct LineWatch {
    private var length = 0
    private var hasEnded = false

    /// Reads received bytes of a request.
    mutating func read(_ bytes: ByteBufferView) {
        guard !hasEnded else { return }
        let end = bytes.firstIndex(of: UInt8(ascii: "\n"))
        length += (end ?? bytes.endIndex) - bytes.startIndex
        hasEnded = end != nil
    }

    /// The limit, if the line is longer.
    func exceeded(_ limit: Int) -> Int? { length > limit ? limit : nil }
}
#endif
