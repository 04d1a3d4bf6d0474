import RelataCSQLite
import RelataCore
import RelataEngine

/// The keys of objects that a statement reads after all links to them; see ``CompiledQuery/wantedKeys``.
@usableFromInline
package final class WantedKeys {
    private let numbers = KeyNumbers()
    private var list: RowList
    private var count: Int32 = 0

    /// No keys.
    package init() throws(RelataError) {
        guard let list = RowList(0, columns: 1) else { throw Self.noMemory }
        self.list = list
    }

    /// Passes the keys to a statement. They must live until it is reset.
    package func bind(to statement: RunningStatement, at index: Int) throws(RelataError) {
        guard list.lend(to: statement, at: Int32(index)) == SQLITE_OK else { throw Self.noMemory }
    }

    /// The number of keys.
    package var keyCount: Int { Int(count) }

    /// The number, from 0, of the key in a column; `nil` for one that isn't wanted.
    package func known(_ column: ColumnValue) -> Int32? { numbers[column] }

    /// The number, from 0, of the key in a column; a new one gets the next.
    package func number(of column: ColumnValue) throws(RelataError) -> Int32 {
        if let known = numbers[column] { return known }
        guard list.grow(), list.add(column.value(as: .uuid(.blob))) else { throw Self.noMemory }
        numbers[column] = count
        defer { count += 1 }
        return count
    }

    private static var noMemory: RelataError {
        .database(code: Int(SQLITE_NOMEM), message: "out of memory", sql: nil)
    }
}
