/// A link to any number of objects: the view of the other side's key (`inverse:`), or a many-to-many whose join table
/// the store keeps.
///
/// It holds nothing until it is loaded. Edits are kept in the value and written by `save`; each says what an object
/// shall be (a member, no member, right after another), so doing one twice changes nothing.
///
/// ```swift
/// book.authors.add(leGuin)
/// book.authors.remove(id: ghostwriter)
/// book = try await store.save(book)
/// ```
@frozen
public struct ToMany<Target: Model>: Sendable, Equatable {
    @usableFromInline var content: [Target]?
    @usableFromInline var edits: [LinkEdit<Target>]

    /// A link that isn't loaded and has no edits.
    @inlinable
    public init() {
        content = nil
        edits = []
    }

    /// A link to these objects: as a new value's, the same as ``set(_:)``.
    public init(_ objects: [Target]) {
        content = objects
        edits = [.set(objects.map { .object(LinkedObject($0)) })]
    }

    @inlinable
    init(loaded: [Target]?) {
        content = loaded
        edits = []
    }

    /// A loaded link on which edits that wait for a save are done.
    @usableFromInline
    init(loaded: [Target], edits: [LinkEdit<Target>]) {
        self.init(loaded: loaded)
        for edit in edits {
            switch edit {
            case .add(.object(let box)): add(box.value)
            case .add(.key(let key)): add(id: key)
            case .remove(.object(let box)): remove(box.value)
            case .remove(.key(let key)): remove(id: key)
            case .place(.object(let box), let after) where after?.object != nil || after == nil:
                place(box.value, after: after?.object?.value)
            case .set(let targets) where targets.allSatisfy({ $0.object != nil }):
                set(targets.compactMap { $0.object?.value })
            case .place, .set: content = nil  // by keys alone: where the objects stand isn't known here
            }
        }
        // As they were made, not as they were done again.
        self.edits = edits
    }

    // MARK: Reading

    /// Whether the objects are here.
    public var isLoaded: Bool { content != nil }

    /// The objects, in the relationship's order, with the edits made since.
    ///
    /// - Throws: ``RelataError/notLoaded(entity:property:)`` if they aren't loaded.
    public var objects: [Target] {
        get throws {
            guard let content else { throw notLoaded }
            return content
        }
    }

    /// The objects if they are loaded, else `nil`: for key paths and user interfaces.
    public var loaded: [Target]? { content }

    /// Whether there are edits that no save has written.
    public var hasEdits: Bool { !edits.isEmpty }

    private var notLoaded: RelataError { .notLoaded(entity: Target.entityName, property: "to-many") }

    // MARK: Editing

    /// Makes an object a member. A new object is inserted with the save; an ordered list gets it at its end.
    public mutating func add(_ object: Target) {
        edits.append(.add(.object(LinkedObject(object))))
        if content != nil, index(of: object) == nil { content?.append(object) }
    }

    /// Makes objects members.
    public mutating func add(_ objects: some Sequence<Target>) {
        let objects = Array(objects)
        edits += objects.map { .add(.object(LinkedObject($0))) }
        guard var content else { return }
        self.content = nil  // so that the array isn't copied
        var keys = Set(content.compactMap(\.ownKey))
        for object in objects {
            if let key = object.ownKey {
                if keys.insert(key).inserted { content.append(object) }
            } else if !content.contains(object) {
                content.append(object)
            }
        }
        self.content = content
    }

    /// Makes the object with that key a member. A list that was loaded no longer is, unless it has the object already:
    /// the object isn't here.
    public mutating func add(id: Target.Key) {
        edits.append(.add(.key(id)))
        if index(of: id) == nil { content = nil }
    }

    /// Makes an object no member; the object itself stays.
    public mutating func remove(_ object: Target) {
        withdraw(object)
        if object.primaryKey != nil { edits.append(.remove(.object(LinkedObject(object)))) }
        if let index = index(of: object) { content?.remove(at: index) }
    }

    /// Makes objects no members.
    public mutating func remove(_ objects: some Sequence<Target>) {
        let objects = Array(objects)
        guard content == nil, edits.allSatisfy(\.objects.isEmpty), objects.allSatisfy({ $0.primaryKey != nil }) else {
            for object in objects { remove(object) }
            return
        }
        edits += objects.map { .remove(.object(LinkedObject($0))) }
    }

    /// Makes the object with that key no member.
    public mutating func remove(id: Target.Key) {
        edits.append(.remove(.key(id)))
        if let index = index(of: id) { content?.remove(at: index) }
    }

    /// Makes these the members, in this order, and no others.
    public mutating func set(_ objects: some Sequence<Target>) {
        let objects = Array(objects)
        edits = [.set(objects.map { .object(LinkedObject($0)) })]
        content = objects
    }

    /// Makes the objects with these keys the members, in this order, and no others.
    public mutating func set(ids: some Sequence<Target.Key>) {
        edits = [.set(ids.map { .key($0) })]
        content = nil
    }

    /// Makes an object a member that stands right after another, or first where that is `nil`. For ordered lists.
    public mutating func place(_ object: Target, after other: Target?) {
        let target = LinkTarget.object(LinkedObject(object))
        edits.append(.place(target, after: other.map { .object(LinkedObject($0)) }))
        guard content != nil else { return }
        if let index = index(of: object) { content?.remove(at: index) }
        insert(object, after: other.map { index(of: $0) })
    }

    /// Makes the object with that key stand right after another, or first where that is `nil`. For ordered lists.
    public mutating func place(id: Target.Key, after other: Target.Key?) {
        edits.append(.place(.key(id), after: other.map { .key($0) }))
        guard let from = index(of: id), let object = content?.remove(at: from) else {
            content = nil
            return
        }
        insert(object, after: other.map { index(of: $0) })
    }

    /// Makes an object a member at a place among the loaded objects. For ordered lists.
    ///
    /// - Throws: ``RelataError/notLoaded(entity:property:)`` if the objects aren't loaded,
    ///   ``RelataError/invalidUse(_:)`` for a place outside the list.
    public mutating func insert(_ object: Target, at index: Int) throws {
        let objects = try objects.filter { !isSame($0, object) }
        guard (0...objects.count).contains(index) else { throw outside(index, objects.count) }
        place(object, after: index == 0 ? nil : objects[index - 1])
    }

    /// Moves an object to a place: the one it has once it is there. For ordered lists.
    ///
    /// - Throws: As ``insert(_:at:)``.
    public mutating func move(from source: Int, to destination: Int) throws {
        let objects = try objects
        guard objects.indices.contains(source) else { throw outside(source, objects.count) }
        try insert(objects[source], at: destination)
    }

    /// After that index; first where there is no other object, last where it isn't among those that are loaded.
    private mutating func insert(_ object: Target, after index: Int??) {
        guard var objects = content else { return }
        content = nil  // so that the array isn't copied
        switch index {
        case nil: objects.insert(object, at: 0)
        case .some(let index): objects.insert(object, at: index.map { $0 + 1 } ?? objects.count)
        }
        content = objects
    }

    /// A new object that was added and is removed again isn't even inserted.
    private mutating func withdraw(_ object: Target) {
        func isIt(_ target: LinkTarget<Target>) -> Bool { target.object.map { isSame($0.value, object) } ?? false }
        guard edits.contains(where: { $0.objects.contains { isSame($0.value, object) } }) else { return }
        // Others may have been placed after it meanwhile.
        let isNeeded = edits.contains { edit in
            if case .place(_, let after?) = edit { isIt(after) } else { false }
        }
        if isNeeded { return }
        edits = edits.compactMap { edit in
            switch edit {
            case .add(let target) where isIt(target), .place(let target, _) where isIt(target): nil
            case .set(let targets): .set(targets.filter { !isIt($0) })
            default: edit
            }
        }
    }

    private func outside(_ index: Int, _ count: Int) -> RelataError {
        .invalidUse("\(index) is outside the list of \(count) \(Target.entityName) objects")
    }

    private func isSame(_ left: Target, _ right: Target) -> Bool {
        left.ownKey.map { $0 == right.ownKey } ?? (left == right)
    }

    private func index(of object: Target) -> Int? { content?.firstIndex { isSame($0, object) } }

    private func index(of key: Target.Key) -> Int? {
        let key = StoredKey<Target>(key)
        return content?.firstIndex { $0.ownKey == key }
    }
}

extension ToMany: Encodable where Target: Encodable {
    /// Writes the objects if they are loaded, else `null`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(content)
    }
}

extension ToMany: Decodable where Target: Decodable {
    /// Reads objects as loaded ones; `null` as a link that isn't loaded.
    public init(from decoder: any Decoder) throws {
        self.init(loaded: try decoder.singleValueContainer().decode([Target]?.self))
    }
}
