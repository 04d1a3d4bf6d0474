import Foundation

/// One save: the objects that are given and those they link to, from being gathered to being written.
///
/// Objects are numbered as *nodes* and kept, typed, in one ``Bucket`` for each model. Gathering visits links and notes
/// which node needs which; then everything is validated, put in order by ``SaveOrder`` and written, and the edits on
/// links follow.
final class SaveSession {
    let connection: Connection
    let catalog: ModelCatalog
    /// The stamp of all objects, as exact as a date column keeps it.
    let now: Date
    var buckets: [(any AnyBucket)?]
    /// For each node its table and its row in that table's bucket.
    private(set) var nodes: [(bucket: any AnyBucket, table: Int, row: Int)] = []
    private var edges: [SaveOrder.Edge] = []
    private var edgeReferences: [Int] = []
    private(set) var operations: [LinkOperation] = []
    /// The nodes that have edits on links.
    private(set) var editedNodes: Set<Int> = []
    /// Nodes whose links wait to be visited.
    private var unvisited: ArraySlice<Int> = []
    /// References whose key is known only after the rows that need it were written.
    private var lateKeys: [(node: Int, reference: Int, owner: NodeKey)] = []
    /// Rows that edits on links have changed.
    private var touched: [Int: Set<KeyValue>] = [:]
    private var touchedNodes: Set<Int> = []
    /// Owners whose counts may have changed: relationship name and key, by table.
    var counted = CountCheck()

    init(connection: Connection, catalog: ModelCatalog) {
        self.connection = connection
        self.catalog = catalog
        now = DateText.microseconds(of: Date()).map { DateText.date(microseconds: $0) } ?? Date()
        buckets = Array(repeating: nil, count: catalog.schema.tables.count)
    }

    // MARK: Gathering

    /// The bucket of a model.
    func bucket<M: Model>(_ model: M.Type, table index: Int) -> Bucket<M> {
        if let existing = buckets[index] as? Bucket<M> { return existing }
        let bucket = Bucket<M>(catalog.schema.tables[index])
        buckets[index] = bucket
        return bucket
    }

    /// Adds an object that was given to the call.
    @discardableResult
    func add<M: Model>(_ object: M, as role: SaveRole) throws -> Int {
        let bucket = bucket(M.self, table: try catalog.table(M.self).index)
        let node = try bucket.add(object, as: role, session: self)
        return node
    }

    func makeNode(_ bucket: any AnyBucket, row: Int) -> Int {
        nodes.append((bucket, bucket.table.index, row))
        unvisited.append(nodes.count - 1)
        return nodes.count - 1
    }

    /// Visits the links of a node whose object was replaced by one that has edits.
    func visitAgain(_ node: Int) { if !unvisited.contains(node) { unvisited.append(node) } }

    /// Notes that one node refers to another. A key that is known can be written first, its check deferred; one that
    /// isn't can only if the reference may be unset meanwhile.
    func addEdge(from source: Int, to target: Int, reference: Int, isKeyKnown: Bool) {
        let isBreakable = isKeyKnown || catalog.schema.references[reference].isOptional
        edges.append(SaveOrder.Edge(source: source, target: target, isBreakable: isBreakable))
        edgeReferences.append(reference)
    }

    /// Notes an edit on a link.
    func addOperation(_ operation: LinkOperation) {
        operations.append(operation)
        editedNodes.insert(operation.owner)
    }

    func noteUnset(node: Int, row: Int, reference: Int) {
        bucketOf(node).noteUnset(node: node, row: row, reference: reference)
    }

    func keyKnown(_ node: Int) -> Bool { bucketOf(node).keyValue(row: nodes[node].row) != nil }

    func bucketOf(_ node: Int) -> any AnyBucket { nodes[node].bucket }

    func keyValue(_ key: NodeKey) -> KeyValue? {
        switch key {
        case .key(let key): key
        case .node(let node): bucketOf(node).keyValue(row: nodes[node].row)
        }
    }

    // MARK: Writing

    /// Visits all links: finds nested objects, references and edits. Nothing more happens the second time.
    func gather() throws {
        while let node = unvisited.popFirst() {
            try bucketOf(node).visit(row: nodes[node].row, node: node, session: self)
        }
        for bucket in buckets { try bucket?.resolveKeyReferences(session: self) }
    }

    /// Checks all objects against their limits and their own rules.
    func validate() throws {
        var failures: [ValidationFailure] = []
        for bucket in buckets { bucket?.validate(into: &failures) }
        if !failures.isEmpty { throw RelataError.validation(failures) }
        for bucket in buckets { try bucket?.checkUnset(session: self) }
    }

    /// Whether there is anything to do but writing one node's columns.
    func hasWork(besides node: Int) throws -> Bool {
        try gather()
        return nodes.count > 1 || !operations.isEmpty
    }

    /// In which order the nodes would be written.
    func plannedOrder() throws -> [Int] {
        try gather()
        return SaveOrder(count: nodes.count, edges: edges)?.order ?? Array(nodes.indices)
    }

    /// The first reference, of the node or of what is saved with it, to one of these objects.
    func firstReference(to objects: Set<ObjectReference>, from node: Int) -> (ObjectReference, property: String)? {
        if objects.isEmpty { return nil }
        let links = catalog.links[nodes[node].table]
        for (number, other) in nodes.enumerated() where number != node {
            guard let key = keyValue(.node(number)) else { continue }
            let object = ObjectReference(entity: bucketOf(number).table.name, key: key)
            if objects.contains(object) {
                return (object, links.first { $0.target == other.table }?.name ?? object.entity)
            }
        }
        for bucket in buckets {
            for (key, source, reference) in bucket?.referredKeys() ?? [] where source == node {
                let reference = catalog.schema.references[reference]
                let object = ObjectReference(entity: catalog.schema.tables[reference.target].name, key: key)
                if objects.contains(object) { return (object, reference.property) }
            }
        }
        return nil
    }

    /// Gathers, validates and writes everything.
    func run() throws {
        try gather()
        try validate()

        let groups = try linkGroups()
        try noteCounts()
        if edges.isEmpty {
            for node in nodes.indices { try write(node) }
        } else {
            guard let plan = SaveOrder(count: nodes.count, edges: edges) else {
                throw RelataError.invalidUse(
                    "objects with keys that the database assigns need each other: make one of the references optional, or save one object first"
                )
            }
            try writeInOrder(plan)
            for late in lateKeys { try writeLateKey(late) }
        }
        try LinkWriter(session: self).write(
            try groups.map { node, group in
                LinkWriter.Group(
                    owner: try writtenKey(node), link: group.link, changes: group.changes, list: group.list)
            })
        if catalog.hasCounts {
            for node in nodes.indices { counted.noteObject(try writtenKey(node), bucketOf(node).table) }
            try noteCounts()
            try counted.check(connection: connection, schema: catalog.schema)
        }
    }

    private func writtenKey(_ node: Int) throws -> KeyValue {
        guard let key = keyValue(.node(node)) else {
            throw RelataError.invalidUse("\(bucketOf(node).table.name) has no key after it was saved")
        }
        return key
    }

    /// Notes whose lists the session's objects are in: called before they are written, and again afterwards.
    private func noteCounts() throws {
        guard catalog.hasCounts else { return }
        for reference in catalog.schema.references {
            for node in nodes where node.table == reference.source {
                guard let key = buckets[node.table]?.keyValue(row: node.row) else { continue }
                try noteOwner(of: reference, from: key)
            }
        }
    }

    /// Notes in whose list an object is, where its length matters.
    private func noteOwner(of reference: Reference, from key: KeyValue) throws {
        guard reference.minimumCount != nil || reference.maximumCount != nil else { return }
        let (table, target) = (catalog.schema.tables[reference.source], catalog.schema.tables[reference.target])
        let sql =
            "SELECT \(Dialect.sqlite.list(reference.columns)) FROM \(RowSQL.quote(table.sqlName)) WHERE "
            + RowSQL.matches(table.keyColumnNames, from: 1)
        let owners = try connection.values(
            SQLStatement(sql, key.values.map(Parameter.value)), types: target.keyColumns.map { target.columns[$0].type }
        )
        guard let owner = owners.first, !owner.contains(.null) else { return }
        counted.noteOwner(KeyValue(owner), of: reference, in: catalog.schema)
    }

    private func write(_ node: Int) throws {
        if node & 0x3ff == 0x3ff, Task.isCancelled { throw CancellationError() }
        try bucketOf(node).write(row: nodes[node].row, node: node, session: self)
    }

    /// Writes all rows. Where some are written before what they refer to, the database's own check waits, and what
    /// dangles in the end is looked for here, where it can be named.
    private func writeInOrder(_ plan: SaveOrder) throws {
        var isDeferred = false
        for number in plan.broken {
            let target = edges[number].target
            if keyKnown(target) {
                isDeferred = true
            } else {
                lateKeys.append((edges[number].source, edgeReferences[number], .node(target)))
            }
        }
        let pragma = SQLStatement("PRAGMA defer_foreign_keys")
        // The caller may have deferred the checks of the whole transaction: then it stays so.
        guard isDeferred, try connection.value(pragma) == .integer(0) else {
            for node in plan.order { try write(node) }
            return
        }
        try connection.execute("PRAGMA defer_foreign_keys = ON")
        // Ending it makes the database forget what it has counted.
        defer { try? connection.execute("PRAGMA defer_foreign_keys = OFF") }
        for node in plan.order { try write(node) }
        for node in nodes { try buckets[node.table]?.checkReferences(row: node.row, session: self) }
    }

    private func writeLateKey(_ late: (node: Int, reference: Int, owner: NodeKey)) throws {
        let reference = catalog.schema.references[late.reference]
        guard let key = keyValue(.node(late.node)), let target = keyValue(late.owner) else { return }
        try setReference(reference, of: key, to: target)
    }

    /// Sets a stored object's reference, and counts the change in its revision; nothing happens where it is set.
    func setReference(_ reference: Reference, of key: KeyValue, to target: KeyValue?) throws {
        let table = catalog.schema.tables[reference.source]
        let columns = reference.columns.map(RowSQL.quote)
        let values = target?.values ?? reference.columns.map { _ in .null }
        let bump = RowSQL.touch(table, parameter: columns.count + key.values.count + 1)
        let sql =
            "UPDATE \(RowSQL.quote(table.sqlName)) SET "
            + columns.enumerated().map { "\($1) = ?\($0 + 1)" }.joined(separator: ", ") + bump.sql
            + " WHERE " + RowSQL.matches(table.keyColumnNames, from: columns.count + 1)
            + " AND NOT (" + columns.enumerated().map { "\($1) IS ?\($0 + 1)" }.joined(separator: " AND ") + ")"
        let parameters = (values + key.values + (bump.needsNow ? [table.stampValue(now)] : [])).map(Parameter.value)
        let object = ObjectReference(entity: table.name, key: key)
        try noteOwner(of: reference, from: key)
        if reference.isUnique, let target { try LinkWriter(session: self).free(reference, from: target, except: [key]) }
        touch(table.index, key)
        do {
            if try connection.run(SQLStatement(sql, parameters)) > 0 {
                connection.recorder?.record(
                    .update, table.index, key, properties: [reference.property] + table.stampProperties)
                return
            }
            let isThere = SQLStatement(RowSQL.exists(table), key.values.map(Parameter.value))
            if try connection.value(isThere) == nil { throw RelataError.notFound(object) }
        } catch {
            throw try ConstraintErrors(session: self).translate(error, object: object, table: table) { values }
        }
    }

    // MARK: Results

    /// Notes that a row was changed beyond what its object holds.
    func touch(_ table: Int, _ key: KeyValue) { touched[table, default: []].insert(key) }

    /// The same of an object that an edit gives a reference when it is written.
    func touch(node: Int) { touchedNodes.insert(node) }

    func isTouched(_ node: Int) -> Bool {
        if touchedNodes.contains(node) { return true }
        guard let keys = touched[nodes[node].table] else { return false }
        return keyValue(.node(node)).map(keys.contains) ?? false
    }

    /// A row as it is stored now.
    func stored<M: Model>(_ object: M) -> M? {
        guard let table = try? catalog.table(M.self), let key = object.primaryKey else { return nil }
        return try? RowWriter<M>(table: table, connection: connection, session: self).stored(key)
    }

    /// The value of an object that was given, as it is saved.
    func finished<M: Model>(_ node: Int, as model: M.Type) -> M {
        let (_, table, row) = nodes[node]
        return bucket(model, table: table).finish(row, session: self)
    }

    /// The value of an object that was given, as it is saved.
    func finishedModel(_ node: Int) -> any Model { bucketOf(node).finishModel(nodes[node].row, session: self) }

    /// The value of a linked object as it is saved.
    func saved<M: Model>(_ box: LinkedObject<M>) -> M {
        guard let table = try? catalog.table(M.self), let bucket = buckets[table.index] as? Bucket<M>,
            let row = bucket.row(of: box)
        else { return box.value }
        return bucket.finish(row, session: self)
    }

    /// The objects of an edited list as they are saved.
    func saved<M: Model>(_ content: [M], edits: [LinkEdit<M>]) -> [M] {
        guard let table = try? catalog.table(M.self), let bucket = buckets[table.index] as? Bucket<M> else {
            return content
        }
        // Objects without a key yet are found by the edits that brought them, which stand in the same order.
        var unsaved = edits.flatMap(\.objects).filter { $0.value.primaryKey == nil }[...]
        return content.map { object in
            if let key = object.primaryKey {
                return bucket.row(key: key).map { bucket.finish($0, session: self) } ?? object
            }
            guard let index = unsaved.firstIndex(where: { $0.value == object }) else { return object }
            let box = unsaved[index]
            if index == unsaved.startIndex { unsaved.removeFirst() } else { unsaved.remove(at: index) }
            return saved(box)
        }
    }
}
