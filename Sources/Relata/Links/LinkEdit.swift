/// A change of a to-many that waits in the value until it is saved.
///
/// Edits speak of objects, not of positions, so that they mean the same whatever else was written in between.
@usableFromInline
enum LinkEdit<Target: Model>: Sendable {
    /// Be a member; the last one, if the list is ordered and it wasn't one.
    case add(LinkTarget<Target>)
    /// Be no member.
    case remove(LinkTarget<Target>)
    /// Be a member and stand right after that one; `nil` for first.
    case place(LinkTarget<Target>, after: LinkTarget<Target>?)
    /// Have these members in this order, and no other.
    case set([LinkTarget<Target>])
}

/// One end of an edit: an object, which is inserted if it is new, or a key.
@usableFromInline
enum LinkTarget<Target: Model>: Sendable {
    case object(LinkedObject<Target>)
    case key(Target.Key)

    @inlinable var object: LinkedObject<Target>? {
        if case .object(let object) = self { object } else { nil }
    }

    @inlinable var key: Target.Key? {
        switch self {
        case .object(let object): object.value.primaryKey
        case .key(let key): key
        }
    }
}

extension LinkEdit {
    /// The objects that the edit makes members.
    var objects: [LinkedObject<Target>] {
        switch self {
        case .add(let target), .place(let target, _): target.object.map { [$0] } ?? []
        case .remove: []
        case .set(let targets): targets.compactMap(\.object)
        }
    }
}

extension LinkEdit: Equatable {
    @usableFromInline
    static func == (lhs: LinkEdit, rhs: LinkEdit) -> Bool {
        switch (lhs, rhs) {
        case (.add(let left), .add(let right)), (.remove(let left), .remove(let right)): left == right
        case (.place(let left, let leftAfter), .place(let right, let rightAfter)):
            left == right && leftAfter == rightAfter
        case (.set(let left), .set(let right)): left == right
        default: false
        }
    }
}

extension LinkTarget: Equatable {
    @usableFromInline
    static func == (lhs: LinkTarget, rhs: LinkTarget) -> Bool {
        switch (lhs, rhs) {
        case (.object(let left), .object(let right)): left === right || left.value == right.value
        case (.key(let left), .key(let right)): StoredKey<Target>(left) == StoredKey(right)
        default: false
        }
    }
}
