#if PostgreSQL
import Foundation
import RelataCPQ
import RelataCore
import RelataEngine

/// A prepared statement of PostgreSQL for loops over rows: the first step sends it, and each step decodes the cells of
/// the next row.
final class PostgresStatement: RemoteStatement {
    /// The column in which an insertion returns the key that it assigned: it isn't a row for the caller.
    static let assignedKey = "relata_assigned_key"

    private let driver: PostgresDriver
    private(set) var prepared: PreparedStatement
    private let parameters = ParameterBuffer()
    private let tellsKey: Bool
    /// The received rows. Their handle and their number are stored separately, for loops over many rows.
    private var rows: ResultSet? {
        didSet { (handle, rowCount) = (rows?.handle, rows?.count ?? 0) }
    }
    private var handle: OpaquePointer?
    private var rowCount = 0
    private var nextRow = 0
    private var hasRun = false
    /// Whether it was sent together with others, and its result wasn't taken yet.
    private var isQueued = false
    private var affectedRows = 0
    /// Text of cells that travel in another form, for the current row.
    private var scratch: [UnsafeMutableBufferPointer<UInt8>] = []
    /// The cursor whose rows are read, while the rows are read part by part.
    private var cursor: String?

    init(_ prepared: PreparedStatement, _ driver: PostgresDriver) {
        self.driver = driver
        self.prepared = prepared
        tellsKey = prepared.columns.count == 1 && prepared.columns[0].name == Self.assignedKey
        super.init(
            sql: prepared.sql, parameterCount: prepared.parameters.count,
            columnCount: tellsKey ? 0 : prepared.columns.count)
        parameters.beginUnset(prepared)
    }

    deinit { freeScratch() }

    override func columnName(_ index: Int) -> String {
        prepared.columns.indices.contains(index) ? prepared.columns[index].name : "\(index)"
    }

    override var changes: Int { affectedRows }

    // MARK: Running

    override func step() -> StepResult {
        do throws(RelataError) {
            if nextRow >= rowCount {
                if !hasRun { try run() }
                if nextRow >= rowCount, cursor != nil { try fetchMore() }
            }
            guard nextRow < rowCount, let handle else { return .done }
            freeScratch()
            try decode(nextRow, of: handle)
            nextRow += 1
            return .row
        } catch {
            failure = error
            return .failed
        }
    }

    private func run() throws(RelataError) {
        hasRun = true
        nextRow = 0
        if isQueued {
            isQueued = false
            let result = try driver.traced(sql) { (session) throws(PostgresFailure) in try session.takeQueued(prepared)
            }
            return try take(result)
        }
        if isStreamed, prepared.columns.count > 0, driver.isInTransaction, driver.canBeDeclared(sql) {
            let name = driver.newCursorName()
            try driver.declare(name, for: self, parameters)
            (cursor, partSize) = (name, 16)
            return try fetchMore()
        }
        if driver.endsUntold(sql) { return rows = nil }
        if sql == "COMMIT" { return try commit() }
        if let result = try runCommitting() { return try take(result) }
        let (before, after) = driver.surroundings()
        let result = try driver.traced(sql) { (session) throws(PostgresFailure) in
            do throws(PostgresFailure) {
                return try session.execute(prepared, parameters, between: before, after)
            } catch {
                guard error.isStale else {
                    if !after.isEmpty { session.rollBack() }
                    throw error
                }
                // If the first statement of a transaction fails, nothing is lost, so the transaction begins again. It
                // also begins again if the statement doesn't fit the tables any more, because the caller's transaction
                // is open.
                if !before.isEmpty { session.rollBack() }
                let again = Result { () throws(PostgresFailure) in try driver.preparedAnew(prepared, session) }
                if after.isEmpty, !before.isEmpty { _ = try session.run(before.joined(separator: "; ")) }
                guard let fresh = try again.get() else { throw error }
                prepared = fresh
                return try session.execute(fresh, parameters)
            }
        }
        try take(result)
    }

    /// Sends it with the bound values; its first step waits for the result.
    func queue(on session: Session) throws(PostgresFailure) {
        try session.queue(prepared, parameters)
        isQueued = true
    }

    private func take(_ result: ResultSet) throws(RelataError) {
        affectedRows = result.changesRows ? result.affectedRows : 0
        driver.didRun(affectedRows)
        guard tellsKey else {
            rows = prepared.columns.isEmpty ? nil : result
            return
        }
        if result.count > 0 { driver.lastInsertedKey = try result[result.count - 1][0].integer() }
    }

    /// Runs the statement as a whole transaction, in one round trip; `nil` if it isn't one, or must be prepared again.
    private func runCommitting() throws(RelataError) -> ResultSet? {
        guard let (before, last) = try driver.prepareEarlyCommit() else { return nil }
        let result = try driver.traced(sql) { (session) throws(PostgresFailure) -> ResultSet? in
            do throws(PostgresFailure) {
                return try session.execute(prepared, parameters, between: before, then: last, ["COMMIT"])
            } catch {
                guard error.isStale else { throw error }
                session.rollBack()
                return nil
            }
        }
        if let result {
            driver.didCommitEarly(before, changedRows: result.changesRows && result.affectedRows > 0)
        } else {
            driver.beginAgain(before)
        }
        return result
    }

    private func commit() throws(RelataError) {
        rows = nil
        affectedRows = 0
        let last = driver.lastStatement
        driver.lastStatement = nil
        _ = try driver.traced(sql) { (session) throws(PostgresFailure) in
            guard let last else { return _ = try session.execute(prepared, parameters) }
            _ = try session.execute(last.statement, last.parameters, between: [], [sql])
        }
        driver.didRun(0)
        driver.didCommit()
    }

    /// The number of rows in the next part: low until the size of the rows is known.
    private var partSize = 16

    private func fetchMore() throws(RelataError) {
        guard let cursor else { return }
        let part = try driver.fetch(partSize, from: cursor, like: prepared)
        if part.count > 0 {
            partSize = max(1, min(1000, Self.partBytes / max(1, PQresultMemorySize(part.handle) / part.count)))
        }
        (rows, nextRow) = (part, 0)
    }

    /// The approximate number of bytes a part may have.
    private static let partBytes = 4 << 20

    override func reset() {
        rows = nil
        (hasRun, isQueued) = (false, false)
        failure = nil
        if let cursor {
            self.cursor = nil
            driver.close(cursor: cursor)
        }
    }

    override func clearBindings() {
        parameters.beginUnset(prepared)
        isStreamed = false
        freeScratch()
    }

    // MARK: Cells

    private func decode(_ row: Int, of handle: OpaquePointer) throws(RelataError) {
        let (types, isBinary) = (prepared.columnTypes, prepared.isBinary)
        let row = Int32(truncatingIfNeeded: row)
        for index in 0..<columnCount {
            let column = Int32(truncatingIfNeeded: index)
            let kind = types[index].kind
            let length = PQgetlength(handle, row, column)
            if length == 0, PQgetisnull(handle, row, column) == 1 {
                cells[index] = ResultCell()
                continue
            }
            // Reads common types in their expected form directly.
            if isBinary, let bytes = PQgetvalue(handle, row, column),
                let cell = Self.common(kind, UnsafeRawPointer(bytes), Int(length))
            {
                cells[index] = cell
                continue
            }
            cells[index] = try decode(
                Cell(result: handle, row: row, column: column, kind: kind, isBinary: isBinary))
        }
    }

    /// A value of a common type; `nil` for other types, and for values in an unexpected form.
    @inline(__always)
    private static func common(_ kind: TypeKind, _ value: UnsafeRawPointer, _ length: Int) -> ResultCell? {
        switch kind {
        case .int8 where length == 8:
            return ResultCell(integer: Int64(bigEndian: value.loadUnaligned(as: Int64.self)))
        case .text: return ResultCell(.text, bytes: value.assumingMemoryBound(to: UInt8.self), count: length)
        case .float8 where length == 8:
            return ResultCell(
                real: Double(bitPattern: UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))))
        case .uuid where length == 16:
            return ResultCell(.uuid, bytes: value.assumingMemoryBound(to: UInt8.self), count: length)
        case .timestamp where length == 8:
            let time = Int64(bigEndian: value.loadUnaligned(as: Int64.self))
            let (moved, overflow) = time.addingReportingOverflow(ParameterBuffer.epoch)
            // The least number and the greatest mean infinity.
            return overflow || time == .min ? nil : ResultCell(integer: moved)
        default: return nil
        }
    }

    private func decode(_ cell: Cell) throws(RelataError) -> ResultCell {
        switch cell.kind {
        case .int8, .int4, .int2, .boolean, .oid: return ResultCell(integer: try cell.integer())
        case .timestamp, .date:
            // Infinity is read as text, like values in SQLite that don't have their column's type.
            guard let infinity = cell.infinity else { return ResultCell(integer: try cell.integer()) }
            return keep(Array(infinity.utf8), .text)
        case .float8, .float4: return ResultCell(real: try cell.real())
        case .text, .array, .other:
            return ResultCell(.text, bytes: cell.pointer.assumingMemoryBound(to: UInt8.self), count: Int(cell.length))
        case .uuid where cell.isBinary:
            return ResultCell(.uuid, bytes: cell.pointer.assumingMemoryBound(to: UInt8.self), count: Int(cell.length))
        case .bytea where cell.isBinary:
            return ResultCell(.blob, bytes: cell.pointer.assumingMemoryBound(to: UInt8.self), count: Int(cell.length))
        case .jsonb where cell.isBinary:
            // A version byte is in front of the text.
            return ResultCell(
                .text, bytes: (cell.pointer + 1).assumingMemoryBound(to: UInt8.self), count: Int(cell.length) - 1)
        case .uuid: return keep(Array(try cell.data()), .uuid)
        case .bytea: return keep(Array(try cell.data()), .blob)
        case .numeric:
            let text = if let odd = cell.notANumber { odd } else { try cell.text() }
            return keep(Array(text.utf8), .text)
        case .jsonb: return keep(Array(try cell.text().utf8), .text)
        }
    }

    /// Keeps bytes until the next row.
    private func keep(_ bytes: [UInt8], _ kind: ResultCell.Kind) -> ResultCell {
        let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: max(1, bytes.count))
        _ = buffer.initialize(from: bytes)
        scratch.append(buffer)
        return ResultCell(kind, bytes: UnsafePointer(buffer.baseAddress), count: bytes.count)
    }

    private func freeScratch() {
        if scratch.isEmpty { return }
        for buffer in scratch { buffer.deallocate() }
        scratch.removeAll(keepingCapacity: true)
    }

    // MARK: Values

    /// A statement may be given values that it has no parameter for, as SQLite's may.
    @inline(__always)
    private func set(
        _ index: Int32, _ append: () throws(RelataError) -> Void
    ) throws(RelataError) {
        let place = Int(index) - 1
        guard place >= 0, place < parameterCount else { return }
        parameters.setNext(place)
        defer { parameters.endSetting() }
        try append()
    }

    override func bind(_ value: Int64, at index: Int32) throws(RelataError) {
        try set(index) { () throws(RelataError) in try parameters.append(value) }
    }

    override func bind(_ value: Double, at index: Int32) throws(RelataError) {
        try set(index) { () throws(RelataError) in try parameters.append(value) }
    }

    override func bind(_ value: String, at index: Int32) throws(RelataError) {
        try set(index) { () throws(RelataError) in try parameters.append(value) }
    }

    override func bind(_ value: Data, at index: Int32) throws(RelataError) {
        try set(index) { () throws(RelataError) in try parameters.append(value) }
    }

    override func bind(_ value: UUID, at index: Int32) throws(RelataError) {
        try set(index) { () throws(RelataError) in try parameters.append(value) }
    }

    override func bindNull(at index: Int32) throws(RelataError) {
        try set(index) { () throws(RelataError) in try parameters.appendNull() }
    }

    override func bind(_ list: Parameter, at index: Int32) throws(RelataError) {
        try set(index) { () throws(RelataError) in try parameters.append(list) }
    }
}
#endif
