import RelataCore

/// The current row of a statement, with chosen columns in order: for readers that use positions, when other SQL returns
/// them elsewhere.
package final class RearrangedRow: RemoteStatement {
    private let source: RunningStatement
    private let places: [Int32]

    /// - Parameters:
    ///   - source: The statement. It must be running as long as rows are taken from it.
    ///   - places: For each column of the new row, its place in the statement's.
    package init(of source: RunningStatement, _ places: [Int]) {
        self.source = source
        self.places = places.map { Int32(truncatingIfNeeded: $0) }
        super.init(sql: source.sql ?? "", parameterCount: 0, columnCount: places.count)
    }

    package override func columnName(_ index: Int) -> String { source.columnName(places[index]) }

    /// Gives the statement's current row to `body`, rearranged.
    package func withRow<Result>(_ body: (Row) throws -> Result) rethrows -> Result {
        for (index, place) in places.enumerated() { cells[index] = ColumnValue(source, place).asCell }
        return try withExtendedLifetime(self) { try body(Row(RunningStatement(self))) }
    }
}

extension ColumnValue {
    /// The value as a cell; text and bytes aren't copied.
    fileprivate var asCell: ResultCell {
        if let cell { return cell.pointee }
        switch kind {
        case .integer: return ResultCell(integer: integer)
        case .real: return ResultCell(real: real)
        case .text:
            // First, because it may convert the text to UTF-8, which changes the count.
            let bytes = storedText
            return ResultCell(.text, bytes: bytes, count: byteCount)
        case .blob, .uuid:
            return ResultCell(.blob, bytes: storedData, count: byteCount)
        case .null: return ResultCell()
        }
    }
}
