#if PostgreSQL
import Foundation
import RelataCore

/// Rows that are copied into a table: the number of values, and each value after its length.
extension ParameterBuffer {
    /// The number of bytes of a row's number of values.
    private static let rowHeaderSize = 2

    /// Begins a row.
    func beginRow() {
        count = 0
        rowStart = size
        write(Int16(typeCount))
    }

    /// Discards the last, unfinished row.
    func dropRow() { size = rowStart }

    /// Leaves missing values before a position unset.
    func fillRow(to place: Int) throws(RelataError) { while count < place { try appendNull() } }

    /// Replaces a value of the row. `append` passes it to the buffer.
    package func replaceInRow(
        _ place: Int, _ append: (ParameterBuffer) throws(RelataError) -> Void
    ) throws(RelataError) {
        var start = rowStart + Self.rowHeaderSize
        for _ in 0..<place { start += valueSize(at: start) }
        let (oldSize, oldCount, end) = (valueSize(at: start), count, size)
        count = place
        defer { count = oldCount }
        try append(self)
        // It is behind the others, which are moved to make room for it.
        let newSize = size - end
        withUnsafeTemporaryAllocation(byteCount: newSize, alignment: 1) { value in
            guard let bytes = value.baseAddress else { return }
            memcpy(bytes, base + end, newSize)
            memmove(base + start + newSize, base + start + oldSize, end - start - oldSize)
            memcpy(base + start, bytes, newSize)
        }
        size = end - oldSize + newSize
    }

    /// The number of bytes a value takes with its length, which is negative for `NULL`.
    private func valueSize(at place: Int) -> Int {
        4 + max(0, Int(Int32(bigEndian: (base + place).loadUnaligned(as: Int32.self))))
    }
}
#endif
