public import RelataCore

/// Collects the links of objects of one model: nested objects join the session, references become edges of the order,
/// edits become groups of changes.
///
/// Code that depends on the target's type is inlined into the app's module, like all work for each object.
@usableFromInline
final class LinkGatherer {
    @usableFromInline let session: SaveSession
    // One task saves, so the properties that each object uses do without exclusivity checks.
    /// The objects whose links are visited, and those links.
    @exclusivity(unchecked) @usableFromInline private(set) var bucket: any AnyBucket
    @exclusivity(unchecked) @usableFromInline private(set) var links: [PlannedLink]
    /// The object whose links are visited.
    @exclusivity(unchecked) @usableFromInline var node = 0
    @exclusivity(unchecked) @usableFromInline var row = 0

    init(_ session: SaveSession, _ bucket: any AnyBucket) {
        self.session = session
        self.bucket = bucket
        links = session.catalog.links[bucket.tableIndex]
    }

    /// Continues with the objects of a bucket.
    func turn(to bucket: any AnyBucket) {
        if bucket === self.bucket { return }
        self.bucket = bucket
        links = session.catalog.links[bucket.tableIndex]
    }

    /// A to-one that is set, or required.
    @inlinable
    func visit<Target>(_ toOne: ToOne<Target>, at index: Int) throws {
        guard let reference = links[index].reference else { return }
        if let box = toOne.box {
            if box.isStored { return }
            let target = try session.bucket(Target.self, table: links[index].target).link(box, session)
            refer(to: target, reference, isKeyKnown: box.value.primaryKey != nil)
        } else if let key = toOne.key {
            session.bucket(Target.self, table: links[index].target).refer(toKey: key, from: node, reference: reference)
        } else {
            bucket.noteUnset(node: node, row: row, reference: reference)
        }
    }

    /// The edits of a to-many, or of a has-one.
    @inlinable
    func visit<Target>(_ toMany: ToMany<Target>, at index: Int) throws {
        if toMany.edits.isEmpty { return }
        let (targets, reference) = (session.bucket(Target.self, table: links[index].target), links[index].inverse)
        var changes: [LinkChange] = []
        changes.reserveCapacity(toMany.edits.count)
        let removed = RemovedMembers(after: toMany.edits)
        for edit in toMany.edits {
            switch edit {
            case .add(let target): changes.append(.add(try member(target, targets, reference, removed)))
            case .remove(let target):
                // A final member only loses its position in the list.
                let isRemoved = toMany.edits.count == 1 || removed.contains(target)
                changes.append(.remove(try isRemoved ? self.removed(target) : dropped(target)))
            case .place(let target, let after):
                try checkPlace(at: index)
                let member = try member(target, targets, reference, removed)
                changes.append(.place(member, after: try after.map { try anchor($0, targets, removed) }))
            case .set(let members):
                changes.append(.set(try members.map { try member($0, targets, reference, removed) }))
            }
        }
        edit(index, changes)
    }

    /// Only in an ordered list does an object have a position.
    @usableFromInline
    func checkPlace(at index: Int) throws {
        if links[index].isOrdered { return }
        let link = "\(session.catalog.schema.tables[bucket.tableIndex].name).\(links[index].name)"
        throw RelataError.invalidUse(
            "\(link) isn't ordered, so its members have no positions: add the object, or declare the list 'ordered: true'"
        )
    }

    @usableFromInline
    func refer(to target: Int, _ reference: Int, isKeyKnown: Bool) {
        session.addEdge(from: node, to: target, reference: reference, isKeyKnown: isKeyKnown)
        if !isKeyKnown { bucket.override(row: row, reference: reference, owner: .row(target)) }
    }

    @usableFromInline
    func edit(_ index: Int, _ changes: [LinkChange]) {
        if !changes.isEmpty { session.run.plan.add(LinkEdits(owner: .row(node), link: links[index], changes: changes)) }
    }

    /// A member that an edit names; a new one of a one-to-many is inserted with its key set.
    @inlinable
    func member<Target>(
        _ target: LinkTarget<Target>, _ targets: Bucket<Target>, _ reference: Int?, _ removed: RemovedMembers<Target>
    ) throws -> PlannedKey {
        if !removed.isEmpty, removed.contains(target) { return try dropped(target) }
        let key = try node(of: target, targets, isOwned: reference != nil)
        if let reference, case .row(let child) = key { own(child, reference) }
        return key
    }

    @usableFromInline
    func own(_ child: Int, _ reference: Int) {
        session.bucketOf(child).override(row: session.run.plan.rows[child].row, reference: reference, owner: .row(node))
        if let column = session.catalog.schema.uniquePlaces[reference] {
            session.bucketOf(child).standIn(row: session.run.plan.rows[child].row, column: column)
        }
        session.touch(node: child)
        session.addEdge(from: child, to: node, reference: reference, isKeyKnown: session.keyKnown(node))
    }

    /// The object after which an edit places another.
    @usableFromInline
    func anchor<Target>(
        _ target: LinkTarget<Target>, _ targets: Bucket<Target>, _ removed: RemovedMembers<Target>
    ) throws -> PlannedKey {
        removed.contains(target) ? try dropped(target) : try node(of: target, targets)
    }

    /// A member that an edit takes out; one without a key isn't stored.
    @usableFromInline
    func removed<Target>(_ target: LinkTarget<Target>) throws -> PlannedKey {
        try target.key.map { .key(try Target.keyValue($0)) } ?? dropped(target)
    }

    /// An object that another edit removes again, or adds back.
    @usableFromInline
    func dropped<Target>(_ target: LinkTarget<Target>) throws -> PlannedKey {
        if let key = target.key { return .dropped(try Target.keyValue(key)) }
        // No key holds a null.
        let number = target.object.map { Int64(Int(bitPattern: ObjectIdentifier($0))) }
        return .dropped(KeyValue([.null, .integer(number ?? 0)]))
    }

    @inlinable
    func node<Target>(
        of target: LinkTarget<Target>, _ targets: Bucket<Target>, isOwned: Bool = false
    ) throws -> PlannedKey {
        switch target {
        case .key(let key): return .key(try Target.keyValue(key))
        case .object(let box):
            if box.isStored, let key = box.value.primaryKey { return .key(try Target.keyValue(key)) }
            return .row(try targets.link(box, session, isOwned: isOwned))
        }
    }
}
