/// A link to any number of objects: the inverse of a to-one (`inverse:`), or a many-to-many with a join table that the
/// store manages.
///
/// It is empty until it is loaded. Edits are kept in the value and written by `save`; each states a result (a member,
/// no member, right after another), so repeating one changes nothing.
///
/// An object is identified by its key. Without one, because the database hasn't assigned it yet, each `add`, `insert`
/// and `set` adds a separate object, because two lines of an invoice may be equal; `remove` and `place` mean the first
/// equal one.
///
/// ```swift
/// book.authors.add(leGuin)
/// book.authors.remove(id: ghostwriter)
/// book = try await store.save(book)
/// ```
@frozen
public struct ToMany<Target: Model>: Sendable {
    /// The objects, with the edits done.
    @usableFromInline var content: [Target]?
    /// The edits in the order in which they were made: `content` shows their result, and a save writes them.
    @usableFromInline var edits: [LinkEdit<Target>]
    /// The edits' names for the members without a key: those of ``content``, in its order. Empty without edits.
    @usableFromInline var unsaved: [LinkedObject<Target>]

    /// A link that isn't loaded and has no edits.
    @inlinable
    public init() { self.init(loaded: nil) }

    /// A link to these objects: in a new value, the same as ``set(_:)``.
    public init(_ objects: [Target]) {
        self.init(loaded: nil)
        set(objects)
    }

    @inlinable
    init(loaded: [Target]?) {
        content = loaded
        edits = []
        unsaved = []
    }

    /// A loaded link on which edits that wait for a save are done.
    @usableFromInline
    init(loaded: [Target], edits: [LinkEdit<Target>]) {
        self.init(loaded: loaded)
        make(edits)
    }

    // MARK: Reading

    /// Whether the objects are here.
    public var isLoaded: Bool { content != nil }

    /// The objects, in the relationship's order, with the edits made since.
    ///
    /// - Throws: ``RelataError/notLoaded(entity:property:)`` if they aren't loaded.
    public var objects: [Target] {
        get throws {
            guard let content else { throw RelataError.notLoaded(entity: Target.entityName, property: "to-many") }
            return content
        }
    }

    /// The objects if they are loaded, else `nil`: for key paths and user interfaces.
    public var loaded: [Target]? { content }

    /// Whether there are unsaved edits.
    public var hasEdits: Bool { !edits.isEmpty }

    // MARK: Editing

    /// Adds an object. A new object is inserted with the save; in an ordered list it is last.
    ///
    /// A new object whose key the database assigns is added again each time.
    public mutating func add(_ object: Target) { make([.add(.object(LinkedObject(object)))]) }

    /// Makes objects members.
    public mutating func add(_ objects: some Sequence<Target>) {
        make(objects.map { .add(.object(LinkedObject($0))) })
    }

    /// Adds the object with that key. A loaded list is no longer complete then, unless it has the object already.
    public mutating func add(id: Target.Key) { make([.add(.key(id))]) }

    /// Removes an object from the list; the object itself stays. A new one that was added before isn't inserted.
    public mutating func remove(_ object: Target) { remove(CollectionOfOne(object)) }

    /// Makes objects no members.
    public mutating func remove(_ objects: some Sequence<Target>) {
        nameUnsaved()
        var unsaved = unsaved
        make(
            objects.compactMap { object in
                if let key = object.primaryKey { return .remove(.key(key)) }
                guard let index = unsaved.firstIndex(where: { $0.value == object }) else { return nil }
                return .remove(.object(unsaved.remove(at: index)))
            })
    }

    /// Removes the object with that key from the list.
    public mutating func remove(id: Target.Key) { make([.remove(.key(id))]) }

    /// Sets the members, in this order.
    public mutating func set(_ objects: some Sequence<Target>) {
        edits = []
        make([.set(objects.map { .object(LinkedObject($0)) })])
    }

    /// Sets the members by their keys, in this order.
    public mutating func set(ids: some Sequence<Target.Key>) {
        edits = []
        make([.set(ids.map { .key($0) })])
    }

    /// Adds an object right after another, or first for `nil`. For ordered lists.
    public mutating func place(_ object: Target, after other: Target?) {
        nameUnsaved()
        let target = target(object)
        make([.place(target, after: other.map { isSame($0, object) ? target : self.target($0) }?.named)])
    }

    /// Places the object with that key right after another, or first for `nil`. For ordered lists.
    public mutating func place(id: Target.Key, after other: Target.Key?) {
        make([.place(.key(id), after: other.map { .key($0) })])
    }

    /// Adds an object at a position among the loaded objects. For ordered lists.
    ///
    /// - Throws: ``RelataError/notLoaded(entity:property:)`` if the objects aren't loaded,
    ///   ``RelataError/invalidUse(_:)`` for a place outside the list.
    public mutating func insert(_ object: Target, at index: Int) throws {
        nameUnsaved()
        try put(.object(LinkedObject(object)), at: index)
    }

    /// Moves an object to its final position. For ordered lists.
    ///
    /// - Throws: The errors of ``insert(_:at:)``.
    public mutating func move(from source: Int, to destination: Int) throws {
        let objects = try objects
        guard objects.indices.contains(source) else { throw outside(source, objects.count) }
        nameUnsaved()
        try put(target(objects[source], at: source), at: destination)
    }

    private mutating func put(_ target: LinkTarget<Target>, at index: Int) throws {
        let objects = try objects
        let own = self.index(of: target)
        let count = own == nil ? objects.count : objects.count - 1
        guard (0...count).contains(index) else { throw outside(index, count) }
        // Its own place doesn't count.
        let before = if let own, own < index { index } else { index - 1 }
        make([.place(target, after: before < 0 ? nil : self.target(objects[before], at: before).named)])
    }

    private func outside(_ index: Int, _ count: Int) -> RelataError {
        .invalidUse("\(index) is outside the list of \(count) \(Target.entityName) objects")
    }

    /// Adds edits, and applies them to the loaded objects.
    private mutating func make(_ edits: [LinkEdit<Target>]) {
        nameUnsaved()
        self.edits += edits
        apply(edits)
    }

    /// Gives keyless objects of a list, such as one from JSON, an identity for edits.
    private mutating func nameUnsaved() {
        guard edits.isEmpty, unsaved.isEmpty, let content else { return }
        unsaved = content.compactMap { $0.primaryKey == nil ? LinkedObject($0) : nil }
    }
}

extension ToMany: Equatable {
    /// Links with equal contents are equal: the loaded objects, and the edits.
    public static func == (left: ToMany, right: ToMany) -> Bool {
        left.content == right.content && left.edits == right.edits
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
