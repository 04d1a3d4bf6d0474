import Foundation
import RelataCSQLite
import RelataCore
import RelataEngine

/// What the processes that use a file tell each other of its write-ahead log: how far it is committed, and which log it is.
///
/// The log itself doesn't say: frames of a transaction that was taken back, or whose process died before it told anybody, may
/// stand in it as if they were committed, until others are written over them.
struct LogIndex: Hashable {
    /// The end of what is committed.
    let end: LogPosition
    let pageSize: Int
    /// Whether checksums read words in the order of big-endian machines.
    let isBigEndian: Bool

    /// The shared memory begins with two copies of the header; whoever writes changes one after the other.
    private static let size = 48
    private static let regionSize: Int32 = 32 * 1024

    /// Reads it through a connection that has read from the file. SQLite's own mapping is used: who opens the file of shared
    /// memory by itself and closes it again gives up the locks that SQLite has on it.
    ///
    /// - Returns: `nil` while it is being written, or made anew.
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
