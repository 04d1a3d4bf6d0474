import Foundation
import RelataCSQLite
import RelataCore
import RelataEngine

/// The shared state of a file's write-ahead log: its committed end, and its identity.
///
/// The log itself doesn't show it: frames of a rolled-back transaction, or of a process that died before it published
/// them, may look committed, until they are overwritten.
struct LogIndex: Hashable {
    /// The end of the committed frames.
    let end: LogPosition
    let pageSize: Int
    /// Whether checksums read words in the order of big-endian machines.
    let isBigEndian: Bool

    /// The shared memory begins with two copies of the header; a writer changes one after the other.
    private static let size = 48
    private static let regionSize: Int32 = 32 * 1024

    /// Reads it through a connection that has read from the file. It uses SQLite's own mapping: opening and closing the
    /// shared memory file separately would release SQLite's locks on it.
    ///
    /// - Returns: `nil` while it is being written, or rebuilt.
    init?(_ connection: Connection) throws(RelataError) {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let handle = try connection.sqlite.handle
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
        var region: UnsafeMutableRawPointer?
        guard let file, let methods = file.pointee.pMethods, methods.pointee.iVersion >= 2,
            let map = methods.pointee.xShmMap
        else { throw Self.unreadable(connection) }
        let code = map(file, 0, Self.regionSize, 0, &region)
        guard code == SQLITE_OK, let region = UnsafeRawPointer(region) else { throw Self.unreadable(connection) }
        let first = [UInt8](UnsafeRawBufferPointer(start: region, count: Self.size))
        if let barrier = methods.pointee.xShmBarrier { barrier(file) }
        let second = [UInt8](UnsafeRawBufferPointer(start: region + Self.size, count: Self.size))
        guard first == second, let index = first.withUnsafeBytes({ LogIndex(bytes: $0) }) else { return nil }
        self = index
    }

    private static func unreadable(_ connection: Connection) -> RelataError {
        .fileAccess(
            path: connection.path,
            "its write-ahead log can't be followed: the system shares no memory between processes")
    }

    private init?(bytes: UnsafeRawBufferPointer) {
        /// Words are as the machine has them, except for the salts, which are as in the log.
        func word(_ place: Int) -> UInt32 { bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self) }
        var checksum = LogChecksum()
        checksum.add(
            UnsafeRawBufferPointer(rebasing: bytes[0..<40]), isBigEndian: UInt32(bigEndian: 1) == 1)
        guard bytes[12] != 0, checksum == LogChecksum(first: word(40), second: word(44)) else { return nil }
        isBigEndian = bytes[13] != 0
        let size = bytes.loadUnaligned(fromByteOffset: 14, as: UInt16.self)
        // 64 KB are too much for the field.
        pageSize = Int(size & 0xfe00) + Int(size & 1) << 16
        let salt = UInt64(UInt32(bigEndian: word(32))) << 32 | UInt64(UInt32(bigEndian: word(36)))
        end = LogPosition(
            salt: salt, frame: word(16), checksum: LogChecksum(first: word(24), second: word(28)))
    }
}
