/// Puts loaded objects into the links of their owners. `Model.loadLinks` shows it each link.
@_documentation(visibility: internal)
@frozen
public struct LinkLoader {
    /// The loaded objects, by the relationship's number; `nil` for a link that stays unchanged.
    @usableFromInline var loaded: [AnyMembers?]
    /// The owner whose links are filled.
    @usableFromInline var owner = 0

    init(count: Int) { loaded = Array(repeating: nil, count: count) }

    @inlinable
    func members<Target: Model>(_ type: Target.Type, at index: Int) -> Members<Target>? {
        loaded[index] as? Members<Target>
    }

    /// A required to-one.
    @inlinable
    public func load<Target>(_ link: inout ToOne<Target>, at index: Int) {
        guard let members = members(Target.self, at: index) else { return }
        let box = members.box(of: owner)
        link = ToOne(key: link.key, box: box, absence: box == nil ? members.absence : nil)
    }

    /// A to-one that may be unset.
    @inlinable
    public func load<Target>(_ link: inout ToOne<Target>?, at index: Int) {
        guard loaded[index] != nil, var required = link else { return }
        load(&required, at: index)
        link = required
    }

    /// A has-one.
    @inlinable
    public func load<Target>(_ link: inout HasOne<Target>, at index: Int) {
        guard let members = members(Target.self, at: index) else { return }
        link = HasOne(loaded: members.objects(of: owner).first)
    }

    /// A to-many. Edits that wait for a save stay, and the list shows them done.
    @inlinable
    public func load<Target>(_ link: inout ToMany<Target>, at index: Int) {
        guard let members = members(Target.self, at: index) else { return }
        let objects = members.objects(of: owner)
        link = link.edits.isEmpty ? ToMany(loaded: objects) : ToMany(loaded: objects, edits: link.edits)
    }

    /// A through link.
    @inlinable
    public func load<Target>(_ link: inout Through<Target>, at index: Int) {
        guard let members = members(Target.self, at: index) else { return }
        link = Through(loaded: members.objects(of: owner))
    }
}

/// The loaded objects of one relationship of many owners, without their type.
@usableFromInline
class AnyMembers {
    init() {}
}

/// The loaded objects of one relationship of many owners: each object once, and the members of each owner.
@usableFromInline
final class Members<Target: Model>: AnyMembers {
    /// The objects, each once.
    @usableFromInline let objects: [Target]
    /// For a to-one: the objects out of line, shared by all that link to them.
    @usableFromInline let boxes: [LinkedObject<Target>]
    /// The objects of each owner.
    @usableFromInline let lists: MemberLists
    /// The reason why the target of a to-one isn't here.
    @usableFromInline let absence: Absence

    init(objects: [Target], lists: MemberLists, isToOne: Bool, absence: Absence = .missing) {
        self.absence = absence
        self.objects = objects
        boxes = isToOne ? objects.map { LinkedObject($0, isStored: true) } : []
        self.lists = lists
    }

    @inlinable
    func box(of owner: Int) -> LinkedObject<Target>? {
        lists[owner].first.map { boxes[Int(lists.members[$0])] }
    }

    @inlinable
    func objects(of owner: Int) -> [Target] {
        lists[owner].map { objects[Int(lists.members[$0])] }
    }
}
