#if PostgreSQL
import BenchmarkCPQ
import BenchmarkReport
import Foundation

/// A connection as one writes it by hand with libpq.
final class RawConnection {
    let handle: OpaquePointer

    init(_ url: String) throws {
        guard let handle = PQconnectdb(url) else { throw Failure("there is no memory for a connection") }
        self.handle = handle
        guard PQstatus(handle) == CONNECTION_OK else { throw failure }
    }

    deinit { PQfinish(handle) }

    var failure: Failure { Failure(String(cString: PQerrorMessage(handle))) }

    /// Runs SQL without parameters, and says the number of rows it changed.
    @discardableResult
    func execute(_ sql: String) throws -> Int {
        let result = RawResult(PQexec(handle, sql))
        guard result.isFine else { throw failure }
        return result.affectedCount
    }

    func prepare(_ name: String, _ sql: String) throws {
        let result = RawResult(PQprepare(handle, name, sql, 0, nil))
        guard result.isFine else { throw failure }
    }

    /// Runs a prepared statement, whose rows come in binary form.
    @inline(__always)
    func run(_ name: String, key: Int) throws -> RawResult {
        var value = Int64(key).bigEndian
        let result = withUnsafeBytes(of: &value) { bytes in
            var pointer: UnsafePointer<CChar>? = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var (length, format): (Int32, Int32) = (8, 1)
            return RawResult(PQexecPrepared(handle, name, 1, &pointer, &length, &format, 1))
        }
        guard result.isFine else { throw failure }
        return result
    }

    /// Runs a prepared statement without parameters, whose rows come in binary form.
    func run(_ name: String) throws -> RawResult {
        let result = RawResult(PQexecPrepared(handle, name, 0, nil, nil, nil, 1))
        guard result.isFine else { throw failure }
        return result
    }

    /// Sends a prepared statement within a pipeline.
    @inline(__always)
    func send(_ name: String, key: Int) throws {
        var value = Int64(key).bigEndian
        let isSent = withUnsafeBytes(of: &value) { bytes in
            var pointer: UnsafePointer<CChar>? = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
            var (length, format): (Int32, Int32) = (8, 1)
            return PQsendQueryPrepared(handle, name, 1, &pointer, &length, &format, 1)
        }
        guard isSent == 1 else { throw failure }
    }

    /// Runs `body` in one transaction.
    func transaction(_ body: () throws -> Void) throws {
        try execute("BEGIN")
        try body()
        try execute("COMMIT")
    }
}

/// The result of a statement, and its cells in binary form.
final class RawResult {
    let handle: OpaquePointer?
    let count: Int32

    @inline(__always)
    init(_ handle: OpaquePointer?) {
        self.handle = handle
        count = PQntuples(handle)
    }

    deinit { PQclear(handle) }

    var isFine: Bool {
        let status = PQresultStatus(handle)
        return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK
    }

    var affectedCount: Int { PQcmdTuples(handle).flatMap { Int(String(cString: $0)) } ?? 0 }

    @inline(__always)
    func integer(_ row: Int32, _ column: Int32) -> Int {
        Int(Int64(bigEndian: UnsafeRawPointer(PQgetvalue(handle, row, column)!).loadUnaligned(as: Int64.self)))
    }

    @inline(__always)
    func real(_ row: Int32, _ column: Int32) -> Double {
        Double(bitPattern: UInt64(bitPattern: Int64(integer(row, column))))
    }

    @inline(__always)
    func text(_ row: Int32, _ column: Int32) -> String {
        let bytes = UnsafeRawPointer(PQgetvalue(handle, row, column)!).assumingMemoryBound(to: UInt8.self)
        return String(
            decoding: UnsafeBufferPointer(start: bytes, count: Int(PQgetlength(handle, row, column))), as: UTF8.self)
    }

    @inline(__always)
    func isNull(_ row: Int32, _ column: Int32) -> Bool { PQgetisnull(handle, row, column) != 0 }
}
#endif
