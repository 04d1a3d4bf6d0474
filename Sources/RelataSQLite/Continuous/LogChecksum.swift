import Foundation

/// The running checksum of a write-ahead log, as SQLite computes it.
///
/// Each frame's checksum depends on the checksum of the frame before it. If two logs agree in one frame, they agree in
/// all frames before it.
struct LogChecksum: Hashable, Codable {
    private(set) var first: UInt32 = 0
    private(set) var second: UInt32 = 0

    init() {}

    init(first: UInt32, second: UInt32) {
        self.first = first
        self.second = second
    }

    /// Continues over bytes, whose number is a multiple of eight.
    ///
    /// - Parameter isBigEndian: Whether the log's words are big-endian, as on the machine that began it.
    mutating func add(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) {
        var (one, two) = (first, second)
        var place = 0
        while place + 8 <= bytes.count {
            let left = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
            let right = bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self)
            one &+= (isBigEndian ? UInt32(bigEndian: left) : UInt32(littleEndian: left)) &+ two
            two &+= (isBigEndian ? UInt32(bigEndian: right) : UInt32(littleEndian: right)) &+ one
            place += 8
        }
        (first, second) = (one, two)
    }
}

/// A place in a write-ahead log: behind the last frame of a transaction.
struct LogPosition: Hashable, Codable {
    /// The identity of a log, which differs from that before a restart.
    var salt: UInt64
    /// The number of the frame; 0 at the beginning of the log.
    var frame: UInt32
    /// The checksum of that frame; at the beginning, the checksum of the log's header.
    var checksum: LogChecksum
}

/// The layout of the log's own file.
enum LogLayout {
    static let headerSize = 32
    static let frameHeaderSize = 24

    /// The position of a frame; the first is 1.
    static func offset(of frame: UInt32, pageSize: Int) -> Int {
        headerSize + (Int(frame) - 1) * (frameHeaderSize + pageSize)
    }
}

/// The head of a frame.
struct FrameHeader {
    /// The page that the frame holds.
    let page: UInt32
    /// The pages of the database after the transaction, for its last frame; else 0.
    let size: UInt32
    let salt: UInt64
    let checksum: LogChecksum

    /// - Parameter bytes: The frame, or its beginning.
    init(_ bytes: UnsafeRawBufferPointer) {
        func word(_ place: Int) -> UInt32 {
            UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
        }
        (page, size) = (word(0), word(4))
        salt = UInt64(word(8)) << 32 | UInt64(word(12))
        checksum = LogChecksum(first: word(16), second: word(20))
    }
}
