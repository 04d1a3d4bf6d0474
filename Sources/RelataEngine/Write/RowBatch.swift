import RelataCore

/// Rows of one table that a run writes, wherever their values come from: objects of a model, or records.
@usableFromInline
package protocol RowBatch: AnyObject {
    var table: Table { get }
    /// The table's number. A `Table` is large: copying it costs more than most uses of it.
    var tableIndex: Int { get }
    /// The number of rows.
    var count: Int { get }
    /// The key of a row, if it is known.
    func keyValue(row: Int) -> KeyValue?
    /// Binds the key of a row; whether it has one.
    func bindKey(row: Int, to binder: inout Binder) throws -> Bool
    /// Decides about the work before the first row is written, and does the part that is possible at once.
    ///
    /// - Parameter order: In which order the rows of all batches are written.
    func prepare(_ run: WriteRun, _ order: WritePlan.Order) throws
    /// Writes rows.
    func write(_ rows: Range<Int>, _ run: WriteRun) throws
    /// Whether all rows are written, and none of them existed before.
    var isNew: Bool { get }
    /// Whether the run has inserted a row. Exact for rows with edits on links.
    func isInserted(row: Int) -> Bool
    /// Looks for the targets of a written row.
    ///
    /// - Throws: ``RelataError/invalidReference(entity:property:key:)`` for one that isn't stored.
    func checkReferences(row: Int, _ run: WriteRun) throws
    /// Checks the written rows, after all of them.
    func checkWritten(_ run: WriteRun) throws
}
