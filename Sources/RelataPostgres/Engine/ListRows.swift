#if PostgreSQL
import RelataCore
import RelataEngine

/// Rows for a statement whose parameters are arrays, one for each column.
final class ListRows: CollectedRows {
    /// How many bytes stand in front of an array's elements: how many dimensions it has, whether there may be unset ones,
    /// their type, how many there are, and the number of the first.
    private static let headerSize = 20

    private let statement: PostgresStatement
    private var result: ResultSet?
    private let pointers: UnsafeMutablePointer<UnsafePointer<CChar>?>
    private let lengths: UnsafeMutablePointer<Int32>
    private let formats: UnsafeMutablePointer<Int32>

    /// `nil` for a statement with an array of a type that has no binary form here.
    init?(_ statement: PostgresStatement, _ driver: PostgresDriver) {
        let parameters = statement.prepared.parameters
        guard parameters.allSatisfy({ $0.kind != .array || $0.isWrittenInBinary && $0.elementKind != .array }) else {
            return nil
        }
        self.statement = statement
        pointers = .allocate(capacity: max(1, parameters.count))
        lengths = .allocate(capacity: max(1, parameters.count))
        formats = .allocate(capacity: max(1, parameters.count))
        super.init(
            sql: statement.sql, types: parameters.map { $0.kind == .array ? $0.element : nil },
            headerSize: Self.headerSize, driver)
        forgetValues()
    }

    deinit {
        pointers.deallocate()
        lengths.deallocate()
        formats.deallocate()
    }

    override func write() throws(RelataError) -> Int {
        result = nil
        defer { forgetValues() }
        for index in 0..<parameterCount {
            (pointers[index], lengths[index], formats[index]) = (nil, 0, 1)
            guard let values = columns[index].values else { continue }
            let count = Int32(truncatingIfNeeded: rowCount)
            let buffer = values.takeUnretainedValue()
            guard buffer.size < 1 << 30 else { throw Self.tooLarge }
            buffer.writeArrayHeader(count: count)
            pointers[index] = UnsafePointer(buffer.base.assumingMemoryBound(to: CChar.self))
            lengths[index] = Int32(buffer.size)
        }
        let parameters = Session.Parameters(
            count: Int32(parameterCount), values: pointers, lengths: lengths, formats: formats)
        let beginning = driver.takeBeginning()
        let result = try driver.traced(sql) { (session) throws(PostgresFailure) in
            try session.executeKeepingTransaction(statement.prepared, parameters, after: beginning)
        }
        self.result = result
        driver.didRun(result.changesRows ? result.affectedRows : 0)
        return result.affectedRows
    }

    private static var tooLarge: RelataError {
        .invalidUse("the values of a column are larger than PostgreSQL's limit of a gigabyte: save them in parts")
    }

    override var returnedCount: Int { result?.count ?? 0 }

    override func returnedInteger(row: Int, column: Int) throws(RelataError) -> Int64 {
        guard let result, row < result.count, column < result.columns.count else { return 0 }
        return try result[row][column].integer()
    }

    override func returnedValue(row: Int, column: Int) throws(RelataError) -> Value {
        guard let result, row < result.count, column < result.columns.count else { return .null }
        return try result[row][column].value()
    }
}
#endif
