/// Puts loaded objects into the links of their owners. `Model.loadLinks` shows it each link.
public struct LinkLoader {
    /// What was loaded, by the relationship's number; `nil` for a link that stays as it is.
    var loaded: [(any LoadedLinks)?]
    /// The owner whose links are filled.
    var owner = 0

    init(count: Int) { loaded = Array(repeating: nil, count: count) }

    private func members<Target: Model>(_ type: Target.Type, at index: Int) -> Members<Target>? {
        loaded[index] as? Members<Target>
    }

    /// A required to-one.
    public func load<Target>(_ link: inout ToOne<Target>, at index: Int) {
        guard loaded[index] != nil, let members = members(Target.self, at: index) else { return }
        link = ToOne(key: link.key, box: members.box(of: owner), isMissing: members.isEmpty(owner))
    }

    /// A to-one that may be unset.
    public func load<Target>(_ link: inout ToOne<Target>?, at index: Int) {
        guard loaded[index] != nil, var required = link else { return }
        load(&required, at: index)
        link = required
    }

    /// A has-one.
    public func load<Target>(_ link: inout HasOne<Target>, at index: Int) {
        guard loaded[index] != nil, let members = members(Target.self, at: index) else { return }
        link = HasOne(loaded: members.objects(of: owner).first)
    }

    /// A to-many. Edits that wait for a save stay, and the list shows them done.
    public func load<Target>(_ link: inout ToMany<Target>, at index: Int) {
        guard loaded[index] != nil, let members = members(Target.self, at: index) else { return }
        link = ToMany(loaded: members.objects(of: owner), edits: link.edits)
    }

    /// A through link.
    public func load<Target>(_ link: inout Through<Target>, at index: Int) {
        guard loaded[index] != nil, let members = members(Target.self, at: index) else { return }
        link = Through(loaded: members.objects(of: owner))
    }
}

/// What was loaded for one relationship of many owners, without its type.
protocol LoadedLinks {}

/// What was loaded for one relationship of many owners: each object once, and for each owner which are its.
struct Members<Target: Model>: LoadedLinks {
    /// The objects, each once.
    let objects: [Target]
    /// For a to-one: the objects out of line, shared by all that link to them.
    let boxes: [LinkedObject<Target>]
    /// Where each owner's members begin in `members`, and after the last owner the end.
    private let starts: [Int32]
    private let members: [Int32]

    /// - Parameter pairs: For each row its owner and its object, in the order of each owner's list.
    init(objects: [Target], pairs: [(owner: Int32, object: Int32)], owners: Int, isToOne: Bool) {
        self.objects = objects
        boxes = isToOne ? objects.map { LinkedObject($0, isStored: true) } : []
        // A counting sort: the rows of one owner stay in their order.
        var starts = [Int32](repeating: 0, count: owners + 1)
        for pair in pairs { starts[Int(pair.owner) + 1] += 1 }
        for owner in 0..<owners { starts[owner + 1] += starts[owner] }
        var next = starts
        var members = [Int32](repeating: 0, count: pairs.count)
        for pair in pairs {
            members[Int(next[Int(pair.owner)])] = pair.object
            next[Int(pair.owner)] += 1
        }
        self.starts = starts
        self.members = members
    }

    func isEmpty(_ owner: Int) -> Bool { starts[owner] == starts[owner + 1] }

    func box(of owner: Int) -> LinkedObject<Target>? {
        isEmpty(owner) ? nil : boxes[Int(members[Int(starts[owner])])]
    }

    func objects(of owner: Int) -> [Target] {
        members[Int(starts[owner])..<Int(starts[owner + 1])].map { objects[Int($0)] }
    }
}
