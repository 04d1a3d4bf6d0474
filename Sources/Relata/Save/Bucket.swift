import Foundation

/// The objects of one model in a save, as a session sees them without knowing the type.
protocol AnyBucket: AnyObject {
    var table: Table { get }
    func visit(row: Int, node: Int, session: SaveSession) throws
    func resolveKeyReferences(session: SaveSession) throws
    func validate(into failures: inout [ValidationFailure])
    func noteUnset(node: Int, row: Int, reference: Int)
    func checkUnset(session: SaveSession) throws
    func write(row: Int, node: Int, session: SaveSession) throws
    func checkReferences(row: Int, session: SaveSession) throws
    func keyValue(row: Int) -> KeyValue?
    func override(row: Int, reference: Int, owner: NodeKey)
    /// The objects that others refer to by key alone: key, referring node and reference.
    func referredKeys() -> [(key: KeyValue, node: Int, reference: Int)]
    func finishModel(_ row: Int, session: SaveSession) -> any Model
}

/// The objects of one model in a save.
final class Bucket<M: Model>: AnyBucket {
    let table: Table
    private(set) var objects: [M] = []
    private var roles: [SaveRole] = []
    private var nodes: [Int] = []
    private var rows: [M.Key: Int] = [:]
    /// Linked objects without a key, by identity: a copy of the same link is the same object.
    private var rowsOfBoxes: [ObjectIdentifier: Int] = [:]
    /// The content of linked objects without a key, to notice one that was linked twice.
    private var unsavedContents: Set<[Value]> = []
    /// The same of the given objects, gathered when the first such link is found.
    private var givenContents: Set<[Value]>?
    private var overrides: [Int: [ColumnOverride]] = [:]
    /// References by key alone, to find out at the end whether the object is in the session.
    private var keyReferences: [(key: M.Key, node: Int, reference: Int)] = []
    private var resolved = 0
    private var unset: [(node: Int, row: Int, reference: Int)] = []
    private var finished: [Int: M] = [:]

    init(_ table: Table) { self.table = table }

    // MARK: Gathering

    /// Adds an object given to the call and returns its node.
    func add(_ object: M, as role: SaveRole, session: SaveSession) throws -> Int {
        if let key = object.primaryKey {
            if let row = rows[key] {
                guard objects[row] == object else { throw twice(object) }
                if role == .insert, roles[row] == .insert { throw RelataError.alreadyExists(object.reference()) }
                // Linked before it was given: now it is written for itself.
                if roles[row] == .link { roles[row] = role }
                return nodes[row]
            }
            rows[key] = objects.count
        } else if role == .update {
            throw RelataError.invalidUse("a \(M.entityName) without a key can't be updated: insert it, or use save")
        }
        return append(object, role, session)
    }

    /// Adds an object that another links to and returns its node.
    func link(_ box: LinkedObject<M>, session: SaveSession) throws -> Int {
        let object = box.value
        if let key = object.primaryKey {
            if let row = rows[key] {
                try merge(object, into: row, session)
                return nodes[row]
            }
            rows[key] = objects.count
        } else {
            let identity = ObjectIdentifier(box)
            if let row = rowsOfBoxes[identity] { return nodes[row] }
            let content = try object.columnValues(table)
            guard try !isGiven(content), unsavedContents.insert(content).inserted else {
                throw RelataError.invalidUse(
                    "the same new \(M.entityName) is linked from two places, or given and linked, and would be inserted twice: save it first, or copy one link to both places"
                )
            }
            rowsOfBoxes[identity] = objects.count
        }
        return append(object, .link, session)
    }

    /// A copy of an object that is in the session already. Only its columns and edits must be the same: what it has
    /// loaded isn't written.
    private func merge(_ object: M, into row: Int, _ session: SaveSession) throws {
        if objects[row] == object { return }
        guard try objects[row].columnValues(table) == object.columnValues(table) else { throw twice(object) }
        // A copy from before the last edits, such as a new child's link back to its parent.
        if try object.hasOnlyEdits(of: objects[row]) { return }
        guard roles[row] == .link, try !objects[row].hasEdits() else { throw twice(object) }
        objects[row] = object
        session.visitAgain(nodes[row])
    }

    /// Whether an object without a key was given with that content. All objects are given before any link is visited.
    private func isGiven(_ content: [Value]) throws -> Bool {
        if givenContents == nil {
            givenContents = []
            for (row, object) in objects.enumerated() where roles[row] != .link && object.primaryKey == nil {
                givenContents?.insert(try object.columnValues(table))
            }
        }
        return givenContents?.contains(content) == true
    }

    private func append(_ object: M, _ role: SaveRole, _ session: SaveSession) -> Int {
        objects.append(object)
        roles.append(role)
        let node = session.makeNode(self, row: objects.count - 1)
        nodes.append(node)
        return node
    }

    private func twice(_ object: M) -> RelataError {
        .invalidUse(
            "\(object.reference()) is in the batch twice with different content: save one of them, and link to it by its id"
        )
    }

    func visit(row: Int, node: Int, session: SaveSession) throws {
        guard !session.catalog.links[table.index].isEmpty else { return }
        var visitor = LinkVisitor(
            .gathering(LinkGatherer(session: session, node: node, row: row, table: table.index)))
        try objects[row].visitLinks(&visitor)
    }

    func refer(toKey key: M.Key, from node: Int, reference: Int) { keyReferences.append((key, node, reference)) }

    func resolveKeyReferences(session: SaveSession) throws {
        guard !objects.isEmpty else { return }
        defer { resolved = keyReferences.count }
        for (key, node, reference) in keyReferences[resolved...] {
            guard let row = rows[key] else { continue }
            session.addEdge(from: node, to: nodes[row], reference: reference, isKeyKnown: true)
        }
    }

    func override(row: Int, reference: Int, owner: NodeKey) {
        overrides[row, default: []].append(ColumnOverride(reference: reference, owner: owner))
    }

    func noteUnset(node: Int, row: Int, reference: Int) { unset.append((node, row, reference)) }

    func checkUnset(session: SaveSession) throws {
        for (_, row, number) in unset where overrides[row]?.contains(where: { $0.reference == number }) != true {
            let reference = session.catalog.schema.references[number]
            throw RelataError.requiredReference(
                entity: table.name, property: reference.property,
                hint: "set it, or add the object to the other side's list")
        }
    }

    func validate(into failures: inout [ValidationFailure]) {
        Validation.check(objects, table, &failures)
    }

    // MARK: Results

    func keyValue(row: Int) -> KeyValue? { objects[row].primaryKey.flatMap { try? M.keyValue($0) } }

    func referredKeys() -> [(key: KeyValue, node: Int, reference: Int)] {
        keyReferences.compactMap { reference in
            (try? M.keyValue(reference.key)).map { ($0, reference.node, reference.reference) }
        }
    }

    func finishModel(_ row: Int, session: SaveSession) -> any Model { finish(row, session: session) }

    func row(key: M.Key) -> Int? { rows[key] }

    func row(of box: LinkedObject<M>) -> Int? {
        rowsOfBoxes[ObjectIdentifier(box)] ?? box.value.primaryKey.flatMap { rows[$0] }
    }

    /// The object as it is saved: key, stamps and linked objects set, edits done.
    func finish(_ row: Int, session: SaveSession) -> M {
        // An object that leads back to itself holds itself as it was given.
        if let done = finished[row] { return done }
        finished[row] = objects[row]
        var state = SavedState(session: session, rowID: nil, isInserted: false, keepsStamps: true)
        state.isReloaded = session.isTouched(nodes[row])
        let result = M(saved: objects[row], &state)
        finished[row] = result
        return result
    }

    // MARK: Writing

    func write(row: Int, node: Int, session: SaveSession) throws {
        let connection = session.connection
        let overrides = overrides[row].map { resolve($0, session) } ?? []
        let writer = RowWriter<M>(table: table, connection: connection, session: session)
        switch roles[row] {
        case .insert: try insert(row, overrides, writer)
        case .save:
            if objects[row].primaryKey == nil || table.entity.revision != nil && writer.revision(of: objects[row]) == 0
            {
                try insert(row, overrides, writer)
            } else if table.entity.revision != nil {
                try writer.update(objects[row], columns: nil, overrides)
                stamp(row, isInserted: false, nil, session)
            } else {
                let isInserted = try writer.save(objects[row], overrides)
                stamp(row, isInserted: isInserted, nil, session)
            }
        case .link:
            if objects[row].primaryKey == nil {
                try insert(row, overrides, writer)
            } else if try writer.insertIfAbsent(objects[row], overrides) {
                stamp(row, isInserted: true, nil, session)
            } else {
                if session.editedNodes.contains(node) {
                    throw RelataError.invalidUse(
                        "\(objects[row].reference()) is stored already and only linked here, so its edits on links would be lost: save it itself"
                    )
                }
                for case (let reference, let key?) in overrides {
                    guard let own = keyValue(row: row) else { continue }
                    try session.setReference(session.catalog.schema.references[reference], of: own, to: key)
                }
            }
        case .match(let columns):
            let sql = RowSQL.match(table, session.catalog.schema, columns: columns)
            let key = try writer.returningKey(objects[row], overrides, sql)
            if let stored = try writer.stored(key) { objects[row] = stored }
            rows[key] = row
        case .update:
            try writer.update(objects[row], columns: nil, overrides)
            stamp(row, isInserted: false, nil, session)
        case .updateColumns([]) where overrides.isEmpty: break
        case .updateColumns(let columns):
            try writer.update(objects[row], columns: columns, overrides)
            stamp(row, isInserted: false, nil, session)
        }
    }

    /// Looks for the targets of a written row.
    func checkReferences(row: Int, session: SaveSession) throws {
        let overrides = overrides[row].map { resolve($0, session) } ?? []
        let writer = RowWriter<M>(table: table, connection: session.connection, session: session)
        let values = try writer.columnValues(objects[row], overrides)
        if let error = try ConstraintErrors(session: session).culprit(table, values) { throw error }
    }

    private func insert(_ row: Int, _ overrides: [(Int, KeyValue?)], _ writer: RowWriter<M>) throws {
        let rowID = try writer.insert(objects[row], overrides)
        let isAssigned = table.entity.isKeyAssigned && objects[row].primaryKey == nil
        stamp(row, isInserted: true, isAssigned ? rowID : nil, writer.session)
    }

    /// Puts key and stamps into the object as soon as its row is written: others may wait for the key.
    private func stamp(_ row: Int, isInserted: Bool, _ rowID: Int64?, _ session: SaveSession) {
        guard rowID != nil || table.entity.hasStamps else { return }
        var state = SavedState(session: session, rowID: rowID, isInserted: isInserted, keepsLinks: true)
        objects[row] = M(saved: objects[row], &state)
        if rowID != nil, let key = objects[row].primaryKey { rows[key] = row }
    }

    /// The keys that other objects give this one; unknown ones are written later.
    private func resolve(_ overrides: [ColumnOverride], _ session: SaveSession) -> [(Int, KeyValue?)] {
        overrides.map { ($0.reference, session.keyValue($0.owner)) }
    }
}

extension Entity {
    /// Whether a save changes attributes by itself.
    var hasStamps: Bool { revision != nil || createdAt != nil || updatedAt != nil }
}
