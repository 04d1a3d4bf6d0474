#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine

/// Rows for a statement with an array parameter for each column. Each array collects the bound values of its column, in
/// order.
final class ListRows: RemoteRows {
    /// The size of the header of an array: the number of dimensions, a flag for unset elements, their type, their
    /// number, and the number of the first.
    private static let headerSize = 20

    /// The values of a column.
    private struct Column {
        /// Stores the values; `nil` if the statement doesn't use the column.
        var values: Unmanaged<ParameterBuffer>?
        /// The start of the last value.
        var last = 0
        /// The number of rows that have a value.
        var filled = 0
    }

    private let driver: PostgresDriver
    private let statement: PostgresStatement
    private let columns: UnsafeMutableBufferPointer<Column>
    /// The types, at a place that doesn't change.
    private let types: UnsafeMutableBufferPointer<TypeCode>
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
        self.driver = driver
        self.statement = statement
        let places = max(1, parameters.count)
        columns = .allocate(capacity: places)
        columns.initialize(repeating: Column())
        types = .allocate(capacity: places)
        types.initialize(repeating: .text)
        pointers = .allocate(capacity: places)
        lengths = .allocate(capacity: places)
        formats = .allocate(capacity: places)
        super.init(sql: statement.sql, parameterCount: parameters.count, columnCount: 0)
        for (index, type) in parameters.enumerated() where type.kind == .array {
            types[index] = type.element
            let buffer = ParameterBuffer(capacity: 4096)
            // The pointer stays valid as long as the object exists.
            buffer.beginList(UnsafePointer(types.baseAddress! + index), headerSize: Self.headerSize)
            columns[index].values = .passRetained(buffer)
        }
        forgetValues()
    }

    deinit {
        for column in columns { column.values?.release() }
        columns.deallocate()
        types.deallocate()
        pointers.deallocate()
        lengths.deallocate()
        formats.deallocate()
    }

    /// The type of each column's values; `nil` for an unused column.
    var usedTypes: [TypeCode?] {
        (0..<parameterCount).map { columns[$0].values == nil ? nil : types[$0] }
    }

    // MARK: Running

    /// Ends a row. A column that got no value is unset.
    override func step() -> StepResult {
        for index in 0..<parameterCount where columns[index].filled == rowCount {
            guard columns[index].values != nil else { continue }
            do throws(RelataError) {
                try bindNull(at: Int32(index + 1))
            } catch {
                failure = error
                return .failed
            }
        }
        rowCount += 1
        return .done
    }

    /// Forgets the values.
    private func forgetValues() {
        rowCount = 0
        for index in columns.indices {
            columns[index].values?._withUnsafeGuaranteedRef { $0.size = Self.headerSize }
            (columns[index].filled, columns[index].last) = (0, Self.headerSize)
        }
    }

    override func discard() throws(RelataError) { forgetValues() }

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

    // MARK: Values

    @inline(__always)
    private func add(
        _ index: Int32, _ append: (ParameterBuffer) throws(RelataError) -> Void
    ) throws(RelataError) {
        let place = Int(index) - 1
        guard place >= 0, place < parameterCount, let buffer = columns[place].values else { return }
        let values = buffer.takeUnretainedValue()
        // A second value replaces the first.
        if columns[place].filled > rowCount { values.size = columns[place].last }
        columns[place].last = values.size
        columns[place].filled = rowCount
        values.beginElement()
        try append(values)
        columns[place].filled = rowCount + 1
    }

    override func bind(_ value: Int64, at index: Int32) throws(RelataError) {
        try add(index) { (buffer) throws(RelataError) in try buffer.append(value) }
    }

    override func bind(_ value: Double, at index: Int32) throws(RelataError) {
        try add(index) { (buffer) throws(RelataError) in try buffer.append(value) }
    }

    override func bind(_ value: String, at index: Int32) throws(RelataError) {
        try add(index) { (buffer) throws(RelataError) in try buffer.append(value) }
    }

    override func bind(_ value: Data, at index: Int32) throws(RelataError) {
        try add(index) { (buffer) throws(RelataError) in try buffer.append(value) }
    }

    override func bind(_ value: UUID, at index: Int32) throws(RelataError) {
        try add(index) { (buffer) throws(RelataError) in try buffer.append(value) }
    }

    override func bindNull(at index: Int32) throws(RelataError) {
        try add(index) { (buffer) throws(RelataError) in try buffer.appendNull() }
    }

    override func bind(_ list: Parameter, at index: Int32) throws(RelataError) {
        try add(index) { (buffer) throws(RelataError) in try buffer.append(list) }
    }
}
#endif
