/// An object's key, or the row of a plan that will have it.
@usableFromInline
package enum PlannedKey {
    case key(KeyValue)
    /// A row, by its number in the plan.
    case row(Int)
    /// An object that a later edit removes from the list. It is neither inserted for the list nor added to it; it only
    /// keeps its position while others are placed after it. An object without a key has a unique one here.
    case dropped(KeyValue)

    package var isDropped: Bool { if case .dropped = self { true } else { false } }
}

/// A change of a to-many or has-one, written after all rows.
@usableFromInline
package enum LinkChange {
    case add(PlannedKey)
    case remove(PlannedKey)
    case place(PlannedKey, after: PlannedKey?)
    case set([PlannedKey])
}

/// The edits of one link of one object, in their order.
package struct LinkEdits {
    /// The owner of the link.
    package let owner: PlannedKey
    package let link: PlannedLink
    package let changes: [LinkChange]

    package init(owner: PlannedKey, link: PlannedLink, changes: [LinkChange]) {
        self.owner = owner
        self.link = link
        self.changes = changes
    }

    /// Whether members are only removed.
    package var onlyRemoves: Bool {
        changes.allSatisfy { if case .remove = $0 { true } else { false } }
    }
}

/// A relationship of an entity as edits need it, resolved.
@usableFromInline
package struct PlannedLink: Sendable {
    package let name: String
    /// The number of the other entity in ``Schema/tables``.
    @usableFromInline package let target: Int
    package let link: Link
    /// The reference of a to-one.
    @usableFromInline package let reference: Int?
    /// The reference of a has-one or of a to-many that is a view.
    @usableFromInline package let inverse: Int?
    /// Whether a column keeps the members' order.
    package let isOrdered: Bool

    package init(_ name: String, _ target: Int, _ link: Link, _ schema: Schema) {
        self.name = name
        self.target = target
        self.link = link
        reference = if case .reference(let number) = link { number } else { nil }
        inverse = if case .inverse(let number) = link { number } else { nil }
        isOrdered =
            switch link {
            case .inverse(let number): schema.references[number].orderColumn != nil
            case .join(let number, true): schema.joins[number].orderColumn != nil
            case .join(let number, false): schema.joins[number].inverseOrderColumn != nil
            case .reference, .through, .matched: false
            }
    }
}
