import Foundation
import RelataCore

/// A file of records: the copies of a file's logs since a base.
///
/// It only grows. A record counts once all of it is on the disk; leftovers of an interruption after the last one don't
/// count.
final class CopiedLog {
    /// The beginning of the file: a line of JSON.
    struct Head: Codable {
        /// The format of the data that follows.
        var format = 1
        /// The file that is copied.
        let source: String
        let pageSize: Int
        /// The moment of the base, in microseconds since 1970.
        let moment: Int64
        /// The position in the base's log then.
        let start: LogPosition
    }

    let path: String
    let head: Head
    private(set) var last: LogRecord?
    /// The position of the next record.
    private(set) var end: Int
    /// The number of bytes that are left over after the last complete record.
    private(set) var remainder = 0
    private let descriptor: Int32

    /// Makes an empty one.
    static func make(_ path: String, _ head: Head) throws -> CopiedLog {
        let file = try NewFile(path, replaces: false, like: head.source)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line = try encoder.encode(head) + Data([0x0A])
        try line.withUnsafeBytes { bytes in try file.descriptor.write(bytes, at: 0, of: path) }
        try file.finish()
        return try CopiedLog(path, isWritten: true)
    }

    /// Opens an existing one.
    ///
    /// - Parameter isWritten: Whether records are added: leftovers are removed first.
    /// - Throws: ``RelataError/corruptStore(_:)`` for another file.
    init(_ path: String, isWritten: Bool) throws {
        self.path = path
        descriptor = open(path, (isWritten ? O_RDWR : O_RDONLY) | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure.error(path, "opened") }
        do {
            (head, end) = try Self.readHead(descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        try forEachRecord { record, place in
            last = record
            end = place + record.size(pageSize: head.pageSize)
        }
        remainder = descriptor.fileSize - end
        // The head of a record was written after its frames were on the disk.
        guard isWritten, remainder > 0 else { return }
        guard ftruncate(descriptor, off_t(end)) == 0 else { throw FileFailure.error(path, "written") }
        remainder = 0
    }

    deinit { close(descriptor) }

    private static func readHead(_ descriptor: Int32, _ path: String) throws -> (Head, Int) {
        let bytes = try descriptor.read(min(descriptor.fileSize, 65_536), at: 0, of: path) ?? []
        guard let end = bytes.firstIndex(of: 0x0A),
            let head = try? JSONDecoder().decode(Head.self, from: Data(bytes[..<end])), head.format == 1,
            head.pageSize >= 512, head.pageSize <= 65_536
        else { throw RelataError.corruptStore("\(path) isn't a file of relata backup --continuous, or is damaged") }
        return (head, end + 1)
    }

    // MARK: Reading

    /// Passes each record and its position to `body`, in order, until one isn't consecutive or complete.
    func forEachRecord(_ body: (LogRecord, Int) throws -> Void) throws {
        let size = descriptor.fileSize
        var place = try Self.readHead(descriptor, path).1
        var (position, number, time) = (head.start, UInt64(0), head.moment)
        while let bytes = try descriptor.read(LogRecord.size, at: place, of: path), let record = LogRecord(bytes),
            record.number == number, record.follows(position), record.began >= time,
            place + record.size(pageSize: head.pageSize) <= size
        {
            try body(record, place)
            place += record.size(pageSize: head.pageSize)
            (position, number, time) = (record.end, number + 1, record.ended)
        }
    }

    /// Gives the frames of a record to `body`, a few at a time.
    ///
    /// - Returns: Whether they match the written ones.
    func frames(
        of record: LogRecord, at place: Int, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws -> Bool {
        let size = LogLayout.frameHeaderSize + head.pageSize
        var checker = FrameChecker(record.start, isBigEndian: record.isBigEndian, pageSize: head.pageSize)
        var (left, place) = (record.frameCount, place + LogRecord.size)
        while left > 0 {
            let count = min(left, LogSource.framesAtOnce)
            guard let bytes = try descriptor.read(count * size, at: place, of: path) else { return false }
            guard
                try bytes.withUnsafeBytes({ bytes in
                    guard checker.add(bytes) else { return false }
                    try body(bytes)
                    return true
                })
            else { return false }
            left -= count
            place += count * size
        }
        return record.frameCount == 0 || checker.checksum == record.end.checksum && checker.size == record.pages
    }

    // MARK: Writing

    /// The position to which the log was copied.
    var position: LogPosition { last?.end ?? head.start }
    /// The time when the end of the log was last known.
    var time: Int64 { last?.ended ?? head.moment }

    /// Whether all is copied that a log holds.
    func isAt(_ index: LogIndex) -> Bool {
        index.end.salt == position.salt ? index.end.frame == position.frame : index.end.frame == 0
    }

    /// Copies the new part of a log, if there is one.
    ///
    /// - Parameters:
    ///   - began: The time when the index was requested.
    ///   - ended: The time when it was received.
    /// - Throws: ``LogLost`` if the log doesn't continue the copies; ``RelataError/fileAccess(path:_:)`` if writing
    ///   fails, with nothing added.
    func copy(from source: LogSource, to index: LogIndex, began: Int64, ended: Int64) throws {
        if isAt(index) { return }
        guard index.pageSize == head.pageSize else { throw LogLost(reason: "the pages have another size") }
        var start = position
        if index.end.salt != start.salt || start.frame == 0 { start = try source.beginning(of: index) }
        guard index.end.frame > start.frame else { throw LogLost(reason: "the log is shorter than it was") }
        var record = record(start, index.end, began, ended)
        record.isBigEndian = index.isBigEndian
        try append(&record) { write in try source.frames(from: start, to: index, write) }
    }

    /// Records that nothing was written until a time.
    func noteSilence(began: Int64, ended: Int64) throws {
        var record = record(position, position, began, ended)
        try append(&record) { _ in 0 }
    }

    private func record(_ start: LogPosition, _ end: LogPosition, _ began: Int64, _ ended: Int64) -> LogRecord {
        // Clocks are set back at times.
        let began = max(began, time)
        return LogRecord(
            number: last.map { $0.number + 1 } ?? 0, began: began, ended: max(ended, began), start: start, end: end,
            pages: 0, isBigEndian: false)
    }

    /// Adds a record, or nothing.
    ///
    /// - Parameter body: Writes the frames, and returns the new number of the database's pages.
    private func append(
        _ record: inout LogRecord, _ body: (_ write: (UnsafeRawBufferPointer) throws -> Void) throws -> UInt32
    ) throws {
        do {
            var place = end + LogRecord.size
            record.pages = try body { bytes in
                try descriptor.write(bytes, at: place, of: path)
                place += bytes.count
            }
            // The record counts once its header is written.
            guard fsync(descriptor) == 0 else { throw FileFailure.error(path, "written") }
            try record.bytes.withUnsafeBytes { bytes in
                try descriptor.write(bytes, at: end, of: path)
            }
            guard fsync(descriptor) == 0 else { throw FileFailure.error(path, "written") }
            (last, end) = (record, place)
        } catch {
            ftruncate(descriptor, off_t(end))
            throw error
        }
    }
}
