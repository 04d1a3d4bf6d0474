/// What is asked of one object of a save.
@usableFromInline
enum SaveRole: Equatable {
    /// Must be new.
    case insert
    /// Must be there; all columns are written.
    case update
    /// Must be there; these columns are written (indexes in ``Table/columns``).
    case updateColumns([Int])
    /// New or there.
    case save
    /// New, or written over the one with the same values in these columns, whose key stays.
    case match([Int])
    /// Linked from another object: inserted if it isn't there, and else left as it is.
    case link
    /// Written by the session's ``RowCaller``, when its turn comes.
    case byCaller
}

/// Who writes the row of a save's one object whose role is ``SaveRole/byCaller``.
struct RowCaller {
    /// Whether the object is new.
    let isNew: Bool
    /// Writes the row, with the keys of linked objects that were inserted before it, by column. Returns the row's key.
    let write: ([Int: Value]) throws -> KeyValue
}

/// A column whose value isn't the object's own: a key that an edit on the other side sets, or one that the database
/// has yet to assign.
struct ColumnOverride {
    let reference: Int
    let owner: NodeKey
}

/// An object's key, or the object of the session that will have it.
@usableFromInline
enum NodeKey {
    case key(KeyValue)
    case node(Int)
    /// An object that a later edit takes out of the list. It isn't inserted for it, nor made a member; it only keeps its
    /// place as long as others are put after it. One that never gets a key has one here that is no other's.
    case dropped(KeyValue)

    var isDropped: Bool { if case .dropped = self { true } else { false } }
}

/// A change of a to-many or has-one, written after all rows.
@usableFromInline
enum LinkChange {
    case add(NodeKey)
    case remove(NodeKey)
    case place(NodeKey, after: NodeKey?)
    case set([NodeKey])
}

/// The edits of one link of one object, in their order.
struct LinkGroup {
    let owner: Int
    let link: CatalogLink
    let changes: [LinkChange]
}
