#if PostgreSQL
import RelataCPQ
import RelataCore

/// Copies rows into a table, the fastest way to insert many. Either all are inserted, or none.
///
/// The session is busy until the copy is finished or cancelled; the deinitialiser of the object cancels it.
package final class CopyWriter {
    /// The number of bytes collected before they are sent.
    private static let chunkSize = 1 << 16

    /// Takes the values of a row.
    let row: ParameterBuffer
    private let session: Session
    private let sql: String
    private let columns: Columns
    private var isOver = false

    /// The types, at a place that doesn't change.
    private final class Columns {
        let types: UnsafeMutableBufferPointer<TypeCode>
        init(_ types: [TypeCode]) {
            self.types = .allocate(capacity: max(1, types.count))
            _ = self.types.initialize(from: types)
        }
        deinit { types.deallocate() }
    }

    fileprivate init(_ session: Session, _ sql: String, _ types: [TypeCode]) throws(PostgresFailure) {
        self.session = session
        self.sql = sql
        columns = Columns(types)
        row = ParameterBuffer(capacity: Self.chunkSize + 4096)
        row.beginCopying(UnsafePointer(columns.types.baseAddress!), types.count, owner: columns)  // Never empty.
        // The signature, no flags, and no extension of the header.
        let header: [UInt8] = Array("PGCOPY\n".utf8) + [0xFF, 0x0D, 0x0A, 0x00] + Array(repeating: 0, count: 8)
        header.withUnsafeBytes { row.write(bytes: $0) }
    }

    deinit { cancel() }

    /// Writes a row: `body` gives the value of each column to the buffer, in order.
    ///
    /// - Throws: The errors of `body`, after which the row is left out; or the error that ended the copy.
    package func write(_ body: (ParameterBuffer) throws(RelataError) -> Void) throws(PostgresFailure) {
        guard !isOver else { throw PostgresFailure(.invalidUse("the copy is finished: start another one")) }
        do throws(RelataError) {
            row.beginRow()
            try body(row)
            try row.checkIsComplete()
        } catch {
            row.dropRow()
            throw PostgresFailure(error)
        }
        if isFull { try send() }
    }

    /// Ends the copy.
    ///
    /// - Returns: The number of inserted rows.
    @discardableResult
    package func finish() throws(PostgresFailure) -> Int {
        guard !isOver else { throw PostgresFailure(.invalidUse("the copy is finished: start another one")) }
        row.write(Int16(-1))
        try send()
        let handle = try session.open()
        guard PQputCopyEnd(handle, nil) == 1 else { throw end() ?? session.failure(nil, sql: sql) }
        var rows = 0
        if let failure = end(counting: &rows) { throw failure }
        return rows
    }

    /// Gives the copy up: no row is inserted. A transaction that is open has failed.
    package func cancel() {
        guard !isOver, let handle = session.handle else { return }
        PQputCopyEnd(handle, "cancelled")
        _ = end()
    }

    // MARK: Rows whose values come in any order

    /// Begins a row, whose values ``row`` takes.
    func beginRow() { row.beginRow() }

    /// Discards an unfinished row.
    func dropRow() { row.dropRow() }

    /// Whether enough bytes are collected to send them.
    var isFull: Bool { row.size >= Self.chunkSize }

    /// Sends the collected bytes.
    func send() throws(PostgresFailure) {
        let handle = try session.open()
        let isSent = UnsafeRawPointer(row.base).withMemoryRebound(to: CChar.self, capacity: row.size) {
            PQputCopyData(handle, $0, Int32(row.size))
        }
        row.size = 0
        // The server may have refused a row that was sent before.
        guard isSent == 1 else { throw end() ?? session.failure(nil, sql: sql) }
    }

    private func end() -> PostgresFailure? {
        var rows = 0
        return end(counting: &rows)
    }

    /// Reads the server's result of the copy.
    private func end(counting rows: inout Int) -> PostgresFailure? {
        isOver = true
        session.activity = .idle
        guard let handle = session.handle else { return PostgresFailure(.closed("the connection was closed")) }
        var failure: PostgresFailure?
        while let result = session.nextResult(handle) {
            defer { PQclear(result) }
            switch PQresultStatus(result) {
            // Statements may follow that count nothing.
            case PGRES_COMMAND_OK: rows = PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? rows
            // The copy still runs if it couldn't be ended.
            case PGRES_COPY_IN:
                if PQstatus(handle) != CONNECTION_OK || PQputCopyEnd(handle, "cancelled") != 1 {
                    return failure ?? session.failure(nil, sql: sql)
                }
            default: failure = failure ?? session.failure(result, sql: sql)
            }
        }
        if failure == nil, PQstatus(handle) != CONNECTION_OK { failure = session.failure(nil, sql: sql) }
        return failure
    }
}

extension Session {
    /// Begins to copy rows into a table.
    ///
    /// - Parameters:
    ///   - sql: `COPY "table" ("column", …) FROM STDIN (FORMAT binary)`.
    ///   - columns: The types of the columns, as a query of them describes them.
    package func copy(_ sql: String, columns: [TypeCode]) throws(PostgresFailure) -> CopyWriter {
        let handle = try ready()
        if let type = columns.first(where: { !$0.isWrittenInBinary }) {
            throw PostgresFailure(
                .invalidUse("a column of \(type.name) can't be copied: insert its rows instead"))
        }
        let result = try query(sql, handle)
        defer { PQclear(result) }
        let status = PQresultStatus(result)
        guard status == PGRES_COPY_IN else {
            if status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY {
                throw PostgresFailure(
                    .invalidUse("\"\(sql.prefix(100))\" doesn't copy rows into a table: run it as a statement"))
            }
            throw unusable(result, status, sql: sql)
        }
        activity = .copying
        let writer = try CopyWriter(self, sql, columns)
        guard PQbinaryTuples(result) == 1, Int(PQnfields(result)) == columns.count else {
            writer.cancel()
            throw PostgresFailure(
                .invalidUse("the copy must be in binary form, and have as many columns as types were given"))
        }
        return writer
    }
}
#endif
