import RelataCore

/// The required operation for one object of a save.
@usableFromInline
enum SaveRole: Equatable, Sendable {
    /// Must be new.
    case insert
    /// Must exist; all columns are written.
    case update
    /// Must exist; these columns are written (indexes in ``Table/columns``).
    case updateColumns([Int])
    /// New or there.
    case save
    /// New, or written over the one with the same values in these columns, whose key stays.
    case match([Int])
    /// Linked from another object: inserted if it doesn't exist, and otherwise unchanged.
    case link
    /// Written by the session's ``RowCaller``, when its turn comes.
    case byCaller
}

/// Writes the row of a save's one object whose role is ``SaveRole/byCaller``.
struct RowCaller {
    /// Whether the object is new.
    let isNew: Bool
    /// Writes the row, with the keys of linked objects that were inserted before it, by column. Returns the row's key.
    let write: ([Int: Value]) throws -> KeyValue
}

/// A column whose value doesn't come from the object: a key that an edit on the other side sets, or that the database
/// assigns.
struct ColumnOverride {
    let reference: Int
    let owner: PlannedKey
}
