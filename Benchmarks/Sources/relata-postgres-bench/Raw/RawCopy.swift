#if PostgreSQL
import BenchmarkCPQ
import BenchmarkReport
import Foundation

/// A binary `COPY` as one writes it by hand.
final class RawCopy {
    private static let chunkSize = 1 << 16
    private let connection: RawConnection
    private var bytes: UnsafeMutableRawPointer = .allocate(byteCount: chunkSize * 2, alignment: 8)
    private var size = 0

    init(_ sql: String, on connection: RawConnection) throws {
        self.connection = connection
        let result = PQexec(connection.handle, sql)
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COPY_IN else { throw connection.failure }
        for byte in Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + Array(repeating: 0, count: 8) { store(byte) }
    }

    deinit { bytes.deallocate() }

    @inline(__always)
    private func store<Number: FixedWidthInteger>(_ number: Number) {
        bytes.storeBytes(of: number.bigEndian, toByteOffset: size, as: Number.self)
        size += MemoryLayout<Number>.size
    }

    /// Begins a row. Each row is much smaller than a chunk.
    @inline(__always)
    func beginRow(_ columns: Int16) throws {
        if size >= Self.chunkSize { try send() }
        store(columns)
    }

    @inline(__always)
    func append(_ value: Int) {
        store(Int32(8))
        store(Int64(value))
    }

    @inline(__always)
    func append(_ value: Double) {
        store(Int32(8))
        store(value.bitPattern)
    }

    @inline(__always)
    func append(_ value: String) {
        var value = value
        value.withUTF8 { text in
            store(Int32(text.count))
            if let source = text.baseAddress { (bytes + size).copyMemory(from: source, byteCount: text.count) }
            size += text.count
        }
    }

    @inline(__always)
    func append(_ value: UUID) {
        store(Int32(16))
        bytes.storeBytes(of: value.uuid, toByteOffset: size, as: uuid_t.self)
        size += 16
    }

    @inline(__always)
    func appendNull() { store(Int32(-1)) }

    private func send() throws {
        let sent = PQputCopyData(connection.handle, bytes.assumingMemoryBound(to: CChar.self), Int32(size))
        size = 0
        guard sent == 1 else { throw connection.failure }
    }

    /// Ends the copy, and returns the number of copied rows.
    func finish() throws -> Int {
        store(Int16(-1))
        try send()
        guard PQputCopyEnd(connection.handle, nil) == 1 else { throw connection.failure }
        let result = RawResult(PQgetResult(connection.handle))
        guard result.isFine else { throw connection.failure }
        while let rest = PQgetResult(connection.handle) { PQclear(rest) }
        return result.affectedCount
    }
}
#endif
