import Foundation
import RelataCore

/// A part of a log was lost before it was copied, or has changed.
struct LogLost: Error {
    let reason: String
}

/// The file of a write-ahead log, for reading. SQLite has no locks on it.
final class LogSource {
    private let path: String
    private var descriptor: Int32 = -1

    init(_ path: String) { self.path = path }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The beginning of the present log.
    ///
    /// - Throws: ``LogLost`` if it has another salt.
    func beginning(of index: LogIndex) throws -> LogPosition {
        var salt: UInt64 = 0
        var checksum = LogChecksum()
        let bytes = try read(LogLayout.headerSize, at: 0)
        bytes.withUnsafeBytes { bytes in
            func word(_ place: Int) -> UInt32 {
                UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
            }
            salt = UInt64(word(16)) << 32 | UInt64(word(20))
            checksum = LogChecksum(first: word(24), second: word(28))
        }
        guard salt == index.end.salt else { throw LogLost(reason: "the index belongs to another log") }
        return LogPosition(salt: salt, frame: 0, checksum: checksum)
    }

    /// Whether an earlier copy position is still in the log.
    func holds(_ position: LogPosition, pageSize: Int) throws -> Bool {
        guard position.frame > 0 else { return true }
        let place = LogLayout.offset(of: position.frame, pageSize: pageSize)
        guard let bytes = try? read(LogLayout.frameHeaderSize, at: place) else { return false }
        let frame = bytes.withUnsafeBytes { FrameHeader($0) }
        return frame.salt == position.salt && frame.checksum == position.checksum
    }

    /// Reads frames, checks them, and gives them to `body`, a few at a time.
    ///
    /// - Returns: The number of pages of the database after the last frame.
    func frames(
        from start: LogPosition, to index: LogIndex, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> UInt32 {
        let size = LogLayout.frameHeaderSize + index.pageSize
        var checker = FrameChecker(start, isBigEndian: index.isBigEndian, pageSize: index.pageSize)
        var frame = start.frame + 1
        while frame <= index.end.frame {
            let count = min(Self.framesAtOnce, Int(index.end.frame - frame) + 1)
            let bytes = try read(count * size, at: LogLayout.offset(of: frame, pageSize: index.pageSize))
            try bytes.withUnsafeBytes { bytes in
                guard checker.add(bytes) else {
                    throw LogLost(reason: "frames of the log differ from the written ones")
                }
                try body(bytes)
            }
            frame += UInt32(count)
        }
        guard checker.checksum == index.end.checksum, checker.size > 0 else {
            throw LogLost(reason: "the log doesn't end with the transaction that its index names")
        }
        return checker.size
    }

    static let framesAtOnce = 64

    private func read(_ count: Int, at place: Int) throws -> [UInt8] {
        if descriptor < 0 { descriptor = open(path, O_RDONLY | O_CLOEXEC) }
        guard descriptor >= 0 else { throw FileFailure.error(path, "read") }
        guard let bytes = try descriptor.read(count, at: place, of: path) else {
            throw LogLost(reason: "the log is shorter than its index says")
        }
        return bytes
    }
}

/// Checks frames against the checksums that they carry.
struct FrameChecker {
    private(set) var checksum: LogChecksum
    /// The pages of the database after the last frame that ends a transaction; 0 before the first.
    private(set) var size: UInt32 = 0
    private let salt: UInt64
    private let isBigEndian: Bool
    private let frameSize: Int

    init(_ start: LogPosition, isBigEndian: Bool, pageSize: Int) {
        (salt, checksum) = (start.salt, start.checksum)
        self.isBigEndian = isBigEndian
        frameSize = LogLayout.frameHeaderSize + pageSize
    }

    /// Whether frames are the following ones.
    mutating func add(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var place = 0
        while place + frameSize <= bytes.count {
            let frame = UnsafeRawBufferPointer(rebasing: bytes[place..<place + frameSize])
            let header = FrameHeader(frame)
            checksum.add(UnsafeRawBufferPointer(rebasing: frame[0..<8]), isBigEndian: isBigEndian)
            checksum.add(
                UnsafeRawBufferPointer(rebasing: frame[LogLayout.frameHeaderSize...]), isBigEndian: isBigEndian)
            guard header.salt == salt, header.checksum == checksum else { return false }
            size = header.size
            place += frameSize
        }
        return place == bytes.count
    }
}

extension Int32 {
    /// The number of bytes an open file has.
    var fileSize: Int {
        var status = stat()
        return fstat(self, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Reads bytes of an open file; `nil` if it ends before.
    func read(_ count: Int, at place: Int, of name: String) throws(RelataError) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = bytes.withUnsafeMutableBytes { bytes in
                pread(self, bytes.baseAddress.map { $0 + done }, count - done, off_t(place + done))
            }
            if read == 0 { return nil }
            if read < 0 {
                if errno == EINTR { continue }
                throw FileFailure.error(name, "read")
            }
            done += read
        }
        return bytes
    }

    /// Writes bytes to an open file.
    func write(_ bytes: UnsafeRawBufferPointer, at place: Int, of name: String) throws {
        var done = 0
        while done < bytes.count {
            let written = pwrite(self, bytes.baseAddress.map { $0 + done }, bytes.count - done, off_t(place + done))
            if written < 0 {
                if errno == EINTR { continue }
                throw FileFailure.error(name, "written")
            }
            done += written
        }
    }
}
