import Foundation

/// The part of a log that was copied at one time: whole transactions, one after the other.
struct LogRecord: Hashable {
    /// The number among the records of its file, from 0.
    var number: UInt64
    /// The time when the end of the log was requested, in microseconds since 1970: all earlier commits are included.
    var began: Int64
    /// The time when it was received: no later commit is included.
    var ended: Int64
    /// The position after which the frames begin.
    var start: LogPosition
    /// The position of the last frame; ``start`` for no frames.
    var end: LogPosition
    /// The number of pages the database has afterwards; 0 for no frames.
    var pages: UInt32
    /// Whether the log's checksums read words as big-endian.
    var isBigEndian: Bool

    static let size = 96
    private static let magic: UInt32 = 0x52_4C_52_31

    /// The number of frames that follow.
    var frameCount: Int { Int(end.frame) - Int(start.frame) }

    /// The number of bytes it takes with its frames.
    func size(pageSize: Int) -> Int { Self.size + frameCount * (LogLayout.frameHeaderSize + pageSize) }

    /// Whether it continues another: in the same log, or at the beginning of the next one.
    func follows(_ position: LogPosition) -> Bool {
        if start.salt == position.salt {
            return start.frame == position.frame && (start.frame == 0 || start.checksum == position.checksum)
        }
        return start.frame == 0
    }

    // MARK: Bytes

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        func add(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value.bigEndian) { bytes += $0 } }
        add(Self.magic)
        add(isBigEndian ? 1 as UInt32 : 0)
        add(number)
        add(began)
        add(ended)
        for position in [start, end] {
            add(position.salt)
            add(position.frame)
            add(position.checksum.first)
            add(position.checksum.second)
            add(0 as UInt32)
        }
        add(pages)
        add(0 as UInt32)
        var checksum = LogChecksum()
        bytes.withUnsafeBytes { checksum.add($0, isBigEndian: true) }
        add(checksum.first)
        add(checksum.second)
        return bytes
    }

    /// - Returns: `nil` for bytes that aren't a complete record.
    init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.size else { return nil }
        func read<Number: FixedWidthInteger>(_ place: Int, _ type: Number.Type) -> Number {
            bytes.withUnsafeBytes { Number(bigEndian: $0.loadUnaligned(fromByteOffset: place, as: type)) }
        }
        func position(_ place: Int) -> LogPosition {
            LogPosition(
                salt: read(place, UInt64.self), frame: read(place + 8, UInt32.self),
                checksum: LogChecksum(first: read(place + 12, UInt32.self), second: read(place + 16, UInt32.self)))
        }
        var checksum = LogChecksum()
        bytes.prefix(88).withUnsafeBytes { checksum.add($0, isBigEndian: true) }
        guard read(0, UInt32.self) == Self.magic,
            checksum == LogChecksum(first: read(88, UInt32.self), second: read(92, UInt32.self))
        else { return nil }
        isBigEndian = read(4, UInt32.self) == 1
        (number, began, ended) = (read(8, UInt64.self), read(16, Int64.self), read(24, Int64.self))
        (start, end) = (position(32), position(56))
        pages = read(80, UInt32.self)
        guard end.frame >= start.frame, began <= ended else { return nil }
    }

    init(
        number: UInt64, began: Int64, ended: Int64, start: LogPosition, end: LogPosition, pages: UInt32,
        isBigEndian: Bool
    ) {
        (self.number, self.began, self.ended) = (number, began, ended)
        (self.start, self.end) = (start, end)
        (self.pages, self.isBigEndian) = (pages, isBigEndian)
    }
}
