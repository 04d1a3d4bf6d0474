#if PostgreSQL
import RelataCore
import RelataEngine

/// Rows that are copied into a table, sent as they come.
final class CopiedRows: CollectedRows {
    /// How many bytes are collected before they are sent.
    private static let chunkSize = 1 << 16

    private var copy: CopyWriter?
    private var sentCount = 0
    /// Where the next row's value begins, for each column.
    private var places: [Int]

    /// `nil` where the table's columns don't have the types that the other rows are collected in: the server would take
    /// their bytes for what they aren't.
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
        places = Array(repeating: 0, count: types.count)
        super.init(
            sql: "COPY \(name) (\(names)) FROM STDIN (FORMAT binary)", types: types, headerSize: 0, driver)
        copy = try driver.run { (session) throws(PostgresFailure) in
            try session.copyKeepingTransaction(self.sql, columns: types)
        }
    }

    override func step() -> StepResult {
        let result = super.step()
        guard result == .done else { return result }
        do throws(RelataError) {
            if byteCount >= Self.chunkSize { try send() }
            return .done
        } catch {
            failure = error
            return .failed
        }
    }

    /// Puts the values of each row behind each other, and sends them.
    private func send() throws(RelataError) {
        guard let copy else { return }
        for column in places.indices { places[column] = 0 }
        for _ in 0..<rowCount {
            copy.beginRow()
            for column in places.indices {
                guard let values = columns[column].values else { continue }
                values._withUnsafeGuaranteedRef { values in
                    places[column] = copy.appendValue(of: values, at: places[column])
                }
            }
        }
        sentCount += rowCount
        forgetValues()
        _ = try driver.run { (session) throws(PostgresFailure) in try copy.send() }
    }

    override func write() throws(RelataError) -> Int {
        guard let copy else { return 0 }
        try send()
        self.copy = nil
        let count = try driver.traced(sql) { (session) throws(PostgresFailure) in
            try session.finishKeepingTransaction(copy)
        }
        driver.didRun(count)
        return count
    }

    override func discard() throws(RelataError) {
        forgetValues()
        guard let copy else { return }
        self.copy = nil
        _ = try driver.run { (session) throws(PostgresFailure) in
            copy.cancel()
            try? session.undo()
        }
    }
}
#endif
