#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine

/// Rows that are copied into a table, sent as they come.
final class CopiedRows: RemoteRows {
    private let driver: PostgresDriver
    /// The copy, until it is over.
    private var copy: CopyWriter?
    /// The buffer for the values of a row, which is the copy's own buffer.
    private var row: Unmanaged<ParameterBuffer>?

    /// `nil` if the table's columns don't have the types in which the rows are collected: the server would misread
    /// their bytes.
    init?(into table: Table, like rows: ListRows, _ driver: PostgresDriver) throws(RelataError) {
        guard driver.isInTransaction else { return nil }
        try driver.tellBeginning()
        let names = driver.dialect.list(table.columns.map(\.name))
        let name = driver.dialect.quote(table.sqlName)
        let types = try driver.run { (session) throws(PostgresFailure) in
            try session.prepare(name: "", sql: "SELECT \(names) FROM \(name)").columns.map(\.type)
        }
        let wanted = rows.usedTypes.prefix(types.count)
        guard wanted.count == types.count, zip(types, wanted).allSatisfy({ $0.kind == $1?.kind && $0.kind != .array })
        else { return nil }
        self.driver = driver
        super.init(
            sql: "COPY \(name) (\(names)) FROM STDIN (FORMAT binary)", parameterCount: types.count, columnCount: 0)
        let copy = try driver.run { (session) throws(PostgresFailure) in
            try session.copyKeepingTransaction(self.sql, columns: types)
        }
        copy.beginRow()
        (self.copy, row) = (copy, .passUnretained(copy.row))
    }

    private func takeCopy() -> CopyWriter? {
        defer { (copy, row) = (nil, nil) }
        return copy
    }

    /// Ends a row. A column that got no value is unset.
    override func step() -> StepResult {
        guard let copy else { return .done }
        do throws(RelataError) {
            try copy.row.fillRow(to: parameterCount)
            if copy.isFull { _ = try driver.run { (session) throws(PostgresFailure) in try copy.send() } }
        } catch {
            failure = error
            return .failed
        }
        rowCount += 1
        copy.beginRow()
        return .done
    }

    override func write() throws(RelataError) -> Int {
        guard let copy = takeCopy() else { return 0 }
        copy.dropRow()
        let count = try driver.traced(sql) { (session) throws(PostgresFailure) in
            try session.finishKeepingTransaction(copy)
        }
        driver.didRun(count)
        return count
    }

    override func discard() throws(RelataError) {
        guard let copy = takeCopy() else { return }
        _ = try driver.run { (session) throws(PostgresFailure) in
            copy.cancel()
            try? session.undo()
        }
    }

    // MARK: Values

    @inline(__always)
    private func set(
        _ index: Int32, _ append: (ParameterBuffer) throws(RelataError) -> Void
    ) throws(RelataError) {
        guard let row = row?.takeUnretainedValue() else { return }
        let place = Int(index) - 1
        // Mostly values come in the order of the columns.
        if place == row.count, place < parameterCount { return try append(row) }
        guard place >= 0, place < parameterCount else { return }
        if place > row.count {
            try row.fillRow(to: place)
            return try append(row)
        }
        try row.replaceInRow(place, append)
    }

    override func bind(_ value: Int64, at index: Int32) throws(RelataError) {
        try set(index) { (row) throws(RelataError) in try row.append(value) }
    }

    override func bind(_ value: Double, at index: Int32) throws(RelataError) {
        try set(index) { (row) throws(RelataError) in try row.append(value) }
    }

    override func bind(_ value: String, at index: Int32) throws(RelataError) {
        try set(index) { (row) throws(RelataError) in try row.append(value) }
    }

    override func bind(_ value: Data, at index: Int32) throws(RelataError) {
        try set(index) { (row) throws(RelataError) in try row.append(value) }
    }

    override func bind(_ value: UUID, at index: Int32) throws(RelataError) {
        try set(index) { (row) throws(RelataError) in try row.append(value) }
    }

    override func bindNull(at index: Int32) throws(RelataError) {
        try set(index) { (row) throws(RelataError) in try row.appendNull() }
    }

    override func bind(_ list: Parameter, at index: Int32) throws(RelataError) {
        try set(index) { (row) throws(RelataError) in try row.append(list) }
    }
}
#endif
