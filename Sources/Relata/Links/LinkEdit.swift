/// A change of a to-many that waits in the value until it is saved.
///
/// Edits name objects instead of positions, so that they have the same meaning after concurrent writes.
@usableFromInline
enum LinkEdit<Target: Model>: Sendable {
    /// Makes the target a member: the last one, if the list is ordered and the target is new.
    case add(LinkTarget<Target>)
    /// Be no member.
    case remove(LinkTarget<Target>)
    /// Become a member, and come right after that one; `nil` for the first place.
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

    /// The key in its stored form.
    var ownKey: StoredKey<Target>? { key.map { StoredKey($0) } }

    @inlinable var key: Target.Key? {
        switch self {
        case .object(let object): object.value.primaryKey
        case .key(let key): key
        }
    }
}

extension LinkEdit {
    /// The target of an addition.
    var added: LinkTarget<Target>? { if case .add(let target) = self { target } else { nil } }

    /// The target of a removal.
    @usableFromInline var removed: LinkTarget<Target>? { if case .remove(let target) = self { target } else { nil } }
}

extension LinkTarget {
    /// The key alone, if there is one: enough to identify a position.
    var named: LinkTarget { key.map { .key($0) } ?? self }

    /// Whether both mean the same object: equal ones without a key are two.
    func isSame(as other: LinkTarget) -> Bool {
        ownKey == nil ? object === other.object && other.ownKey == nil : ownKey == other.ownKey
    }
}

/// Objects that edits take out of a list.
@usableFromInline
struct RemovedMembers<Target: Model> {
    @usableFromInline private(set) var keys: Set<StoredKey<Target>> = []
    /// The targets without a key.
    @usableFromInline private(set) var boxes: Set<ObjectIdentifier> = []

    init(_ targets: [LinkTarget<Target>]) { for target in targets { insert(target) } }

    /// The objects that edits finally remove, regardless of earlier edits.
    @inlinable
    init(after edits: [LinkEdit<Target>]) {
        self.init()
        if edits.count > 1, edits.contains(where: { $0.removed != nil }) { read(edits) }
    }

    @usableFromInline init() {}

    @inlinable var isEmpty: Bool { keys.isEmpty && boxes.isEmpty }

    @usableFromInline
    func contains(_ key: StoredKey<Target>?, _ box: LinkedObject<Target>?) -> Bool {
        if let key { return keys.contains(key) }
        return box.map { boxes.contains(ObjectIdentifier($0)) } ?? false
    }

    @usableFromInline
    func contains(_ target: LinkTarget<Target>) -> Bool { contains(target.ownKey, target.object) }

    @usableFromInline
    mutating func read(_ edits: [LinkEdit<Target>]) {
        for edit in edits {
            switch edit {
            case .remove(let target): insert(target)
            case .add(let target), .place(let target, _): forget(target)
            case .set(let targets): for target in targets { forget(target) }
            }
        }
    }

    private mutating func insert(_ target: LinkTarget<Target>) {
        if let key = target.ownKey {
            keys.insert(key)
        } else if let box = target.object {
            boxes.insert(ObjectIdentifier(box))
        }
    }

    private mutating func forget(_ target: LinkTarget<Target>) {
        if let key = target.ownKey {
            keys.remove(key)
        } else if let box = target.object {
            boxes.remove(ObjectIdentifier(box))
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
