/// Gathers what one object links to: nested objects join the session, references become edges of the order, edits
/// become operations.
struct LinkGatherer {
    let session: SaveSession
    let node: Int
    let row: Int
    let table: Int

    private func link(_ index: Int) -> CatalogLink { session.catalog.links[table][index] }

    /// A to-one that is set, or required.
    func visit<Target>(_ toOne: ToOne<Target>, at index: Int) throws {
        let link = link(index)
        guard case .reference(let reference) = link.link else { return }
        if let box = toOne.box {
            try visit(box, link, reference)
        } else if let key = toOne.key {
            session.bucket(Target.self, table: link.target).refer(toKey: key, from: node, reference: reference)
        } else {
            session.noteUnset(node: node, row: row, reference: reference)
        }
    }

    /// The edits of a to-many, or of a has-one.
    func visit<Target>(_ toMany: ToMany<Target>, at index: Int) throws {
        if toMany.edits.isEmpty { return }
        let link = link(index)
        for edit in toMany.edits {
            let change: LinkOperation.Change? =
                switch edit {
                case .add(let target): .add(try member(target, link))
                case .remove(let target): try target.key.map { .remove(try Target.keyValue($0)) }
                case .place(let target, let after):
                    .place(try member(target, link), after: try after.map { try other($0, link) })
                case .set(let targets): .set(try targets.map { try member($0, link) })
                }
            if let change { session.addOperation(LinkOperation(owner: node, link: link, change: change)) }
        }
    }

    private func visit<Target>(_ box: LinkedObject<Target>, _ link: CatalogLink, _ reference: Int) throws {
        if box.isStored { return }
        let target = try session.bucket(Target.self, table: link.target).link(box, session: session)
        let isKeyKnown = box.value.primaryKey != nil
        session.addEdge(from: node, to: target, reference: reference, isKeyKnown: isKeyKnown)
        if !isKeyKnown { session.bucketOf(node).override(row: row, reference: reference, owner: .node(target)) }
    }

    /// A member that an edit names; a new one of a one-to-many is inserted with its key set.
    private func member<Target>(_ target: LinkTarget<Target>, _ link: CatalogLink) throws -> NodeKey {
        let key = try other(target, link)
        if case .inverse(let reference) = link.link, case .node(let child) = key {
            session.bucketOf(child).override(row: session.nodes[child].row, reference: reference, owner: .node(node))
            session.touch(node: child)
            session.addEdge(from: child, to: node, reference: reference, isKeyKnown: session.keyKnown(node))
        }
        return key
    }

    private func other<Target>(_ target: LinkTarget<Target>, _ link: CatalogLink) throws -> NodeKey {
        switch target {
        case .key(let key): return .key(try Target.keyValue(key))
        case .object(let box):
            if box.isStored, let key = box.value.primaryKey { return .key(try Target.keyValue(key)) }
            return .node(try session.bucket(Target.self, table: link.target).link(box, session: session))
        }
    }
}
