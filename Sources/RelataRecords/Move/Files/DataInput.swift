import Foundation
import RelataCore
import RelataEngine

/// A file that is read from its beginning to its end, a piece at a time.
final class DataInput {
    /// The name of the input in messages.
    let name: String
    private let descriptor: Int32
    /// The piece that is read now.
    private(set) var bytes: [UInt8] = []
    /// The position of the next row in it.
    private(set) var start = 0
    /// The position of the piece in the file.
    private var offset: Int64 = 0
    /// Whether nothing follows the piece.
    private(set) var isAtEnd = false
    /// The number of bytes read at once, unless a row needs more.
    private let pieceSize: Int

    /// - Throws: ``RelataError/fileAccess(path:_:)`` for a path that can't be read, or isn't a file.
    init(_ path: String, name: String, pieceSize: Int = 1 << 18) throws(RelataError) {
        self.pieceSize = pieceSize
        try RegularFile.require(path)
        try RegularFile.check(path, for: "a text")
        self.name = name
        descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else {
            throw .fileAccess(path: name, "can't be read: \(String(cString: strerror(errno)))")
        }
        while bytes.count < 3, !isAtEnd { try readMore() }
        // A byte-order mark, which some programs write.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { start = 3 }
    }

    deinit { close(descriptor) }

    /// The position of the next row in the file.
    var place: Int64 { offset + Int64(start) }

    /// Continues at the position of a row.
    func seek(to place: Int64) throws(RelataError) {
        guard lseek(descriptor, off_t(place), SEEK_SET) == off_t(place) else {
            throw .fileAccess(path: name, "can't be read from byte \(place) on: \(String(cString: strerror(errno)))")
        }
        (bytes, start, offset, isAtEnd) = ([], 0, place, false)
        try readMore()
    }

    /// A digest of the last 4 KB before a position, to check whether the file is still the same up to there. A digest
    /// of everything before would have to be read again for each batch.
    func fingerprint(before place: Int64) -> UInt64 {
        let size = Int(min(place, 4096))
        var bytes = [UInt8](repeating: 0, count: size)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, size, off_t(place) - off_t(size)) }
        guard count == size else { return 0 }
        // FNV-1a.
        return bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }

    /// Skips the bytes up to a position in the piece.
    func consume(to end: Int) { start = end }

    /// Reads more. Unread bytes stay, at the beginning of the piece.
    func readMore() throws(RelataError) {
        bytes.removeSubrange(..<start)
        offset += Int64(start)
        start = 0
        let (old, size) = (bytes.count, max(pieceSize, bytes.count))
        guard old < Self.largestRow else {
            throw .fileAccess(
                path: name, "has a row of over \(Self.largestRow >> 20) MB: is a quotation mark missing?")
        }
        bytes.append(contentsOf: repeatElement(0, count: size))
        var count = 0
        repeat {
            count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress.map { $0 + old }, size) }
        } while count < 0 && errno == EINTR
        bytes.removeLast(size - max(0, count))
        if count < 0 { throw .fileAccess(path: name, "can't be read: \(String(cString: strerror(errno)))") }
        isAtEnd = count == 0
    }

    /// More than any row that a database has room for.
    private static let largestRow = 1 << 30
}
