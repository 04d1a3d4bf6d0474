#if PostgreSQL
import Foundation
import RelataCore
import RelataEngine

/// Rows as they are bound: for each column its values, one behind the other, in PostgreSQL's binary form.
class CollectedRows: RemoteRows {
    /// The values of a column.
    struct Column {
        /// Keeps the values; `nil` where the statement doesn't use the column.
        var values: Unmanaged<ParameterBuffer>?
        /// Where the last value begins.
        var last = 0
        /// How many rows have a value.
        var filled = 0
        /// What stands in front of the values.
        var headerSize = 0
    }

    let driver: PostgresDriver
    let columns: UnsafeMutableBufferPointer<Column>
    /// The types, at a place that doesn't change.
    private let types: UnsafeMutableBufferPointer<TypeCode>

    /// - Parameter types: The type of each column's values; `nil` where it isn't used.
    init(sql: String, types: [TypeCode?], headerSize: Int, _ driver: PostgresDriver) {
        self.driver = driver
        columns = .allocate(capacity: max(1, types.count))
        columns.initialize(repeating: Column())
        self.types = .allocate(capacity: max(1, types.count))
        self.types.initialize(repeating: .text)
        super.init(sql: sql, parameterCount: types.count, columnCount: 0)
        for (index, type) in types.enumerated() {
            guard let type else { continue }
            self.types[index] = type
            let buffer = ParameterBuffer(capacity: 4096)
            // The pointer is the buffer's as long as the object is.
            buffer.beginList(UnsafePointer(self.types.baseAddress! + index), headerSize: headerSize)
            columns[index].values = .passRetained(buffer)
            columns[index].headerSize = headerSize
        }
    }

    deinit {
        for column in columns { column.values?.release() }
        columns.deallocate()
        types.deallocate()
    }

    /// The type of each column's values; `nil` where it isn't used.
    var usedTypes: [TypeCode?] { columns.indices.map { columns[$0].values == nil ? nil : types[$0] } }

    /// How many bytes the values take.
    final var byteCount: Int {
        columns.reduce(0) { $0 + ($1.values?._withUnsafeGuaranteedRef { $0.size } ?? 0) }
    }

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
    final func forgetValues() {
        rowCount = 0
        for index in columns.indices {
            let headerSize = columns[index].headerSize
            columns[index].values?._withUnsafeGuaranteedRef { $0.size = headerSize }
            (columns[index].filled, columns[index].last) = (0, headerSize)
        }
    }

    override func discard() throws(RelataError) { forgetValues() }

    // MARK: Values

    @inline(__always)
    private func add(
        _ index: Int32, _ append: (ParameterBuffer) throws(RelataError) -> Void
    ) throws(RelataError) {
        let place = Int(index) - 1
        guard place >= 0, place < parameterCount, let buffer = columns[place].values else { return }
        let values = buffer.takeUnretainedValue()
        // A second value takes the place of the first.
        if columns[place].filled > rowCount { values.size = columns[place].last }
        columns[place].last = values.size
        columns[place].filled = rowCount
        values.beginElement()
        try append(values)
        columns[place].filled = rowCount + 1
    }

    override final func bind(_ value: Int64, at index: Int32) throws(RelataError) {
        try add(index) { (buffer) throws(RelataError) in try buffer.append(value) }
    }

    override final func bind(_ value: Double, at index: Int32) throws(RelataError) {
        try add(index) { (buffer) throws(RelataError) in try buffer.append(value) }
    }

    override final func bind(_ value: String, at index: Int32) throws(RelataError) {
        try add(index) { (buffer) throws(RelataError) in try buffer.append(value) }
    }

    override final func bind(_ value: Data, at index: Int32) throws(RelataError) {
        try add(index) { (buffer) throws(RelataError) in try buffer.append(value) }
    }

    override final func bind(_ value: UUID, at index: Int32) throws(RelataError) {
        try add(index) { (buffer) throws(RelataError) in try buffer.append(value) }
    }

    override final func bindNull(at index: Int32) throws(RelataError) {
        try add(index) { (buffer) throws(RelataError) in try buffer.appendNull() }
    }

    override final func bind(_ list: Parameter, at index: Int32) throws(RelataError) {
        try add(index) { (buffer) throws(RelataError) in try buffer.append(list) }
    }
}
#endif
