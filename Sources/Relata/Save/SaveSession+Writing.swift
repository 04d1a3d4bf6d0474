import RelataCore
import RelataSQLite

extension SaveSession {
    /// Gathers, validates and writes everything.
    func run() throws {
        try write()
        try counted.check(connection: connection, schema: catalog.schema)
    }

    /// The same, but that nobody has looked yet how many objects the lists hold that are noted in ``counted``.
    func write() throws {
        try gather()
        try validate()

        let lists = try orderedLists()
        try noteCounts()
        try writeRows()
        for bucket in buckets { try bucket.checkKept(self) }
        for late in lateKeys { try writeLateKey(late) }
        try LinkWriter(session: self).write(groups, lists)
        if catalog.hasCounts {
            for node in nodes.indices { counted.noteObject(try writtenKey(node), bucketOf(node).table) }
            try noteCounts()
        }
    }

    func writtenKey(_ node: Int) throws -> KeyValue {
        guard let key = keyValue(.node(node)) else {
            throw RelataError.invalidUse("\(bucketOf(node).table.name) has no key after it was saved")
        }
        return key
    }

    /// A key once everything is written.
    func key(_ key: NodeKey) throws -> KeyValue {
        switch key {
        case .key(let key), .dropped(let key): key
        case .node(let node): try writtenKey(node)
        }
    }

    // MARK: Rows

    /// Writes all rows: model by model where the models don't need each other in a circle, else node by node.
    private func writeRows() throws {
        defer {
            wait?.cancel()
            wait = nil
        }
        try writeAll()
        guard let wait, wait.hasDangling else { return }
        // Here it can be named.
        for (bucket, rows) in unchecked {
            for row in rows { try buckets[bucket].checkReferences(row: row, self) }
        }
    }

    /// Has the database check references at the end only, as long as rows are written.
    func deferReferences() throws {
        if wait == nil { wait = try ForeignKeyWait(on: connection) }
    }

    /// Notes rows whose references the database may not have checked.
    func noteWritten(_ rows: Range<Int>, of bucket: Int) {
        if wait != nil { unchecked.append((bucket, rows)) }
    }

    private func writeAll() throws {
        if let order = modelOrder() {
            for number in order { try buckets[number].write(0..<buckets[number].count, self) }
            return
        }
        guard let plan = SaveOrder(count: nodes.count, edges: edges) else {
            throw RelataError.invalidUse(
                "objects with keys that the database assigns need each other: make one of the references optional, or save one object first"
            )
        }
        try write(plan)
    }

    /// In which order the buckets can be written as a whole; `nil` where objects of one refer to each other, or those of
    /// several in a circle.
    private func modelOrder() -> [Int]? {
        var isNeeded = Array(repeating: false, count: buckets.count * buckets.count)
        for edge in edges { isNeeded[nodes[edge.source].bucket * buckets.count + nodes[edge.target].bucket] = true }
        let needs = isNeeded.indices.filter { isNeeded[$0] }.map {
            SaveOrder.Edge(source: $0 / buckets.count, target: $0 % buckets.count, isBreakable: false)
        }
        return SaveOrder(count: buckets.count, edges: needs)?.order
    }

    /// Writes nodes one by one. Where some are written before what they refer to, the database's own check waits.
    private func write(_ plan: SaveOrder) throws {
        for number in plan.broken {
            let target = edges[number].target
            if keyKnown(target) {
                try deferReferences()
            } else {
                lateKeys.append((edges[number].source, edgeReferences[number], .node(target)))
            }
        }
        for (number, node) in plan.order.enumerated() {
            if number & 0x3ff == 0x3ff, Task.isCancelled { throw CancellationError() }
            let row = nodes[node].row
            try bucketOf(node).write(row..<row + 1, self)
        }
    }

    private func writeLateKey(_ late: (node: Int, reference: Int, owner: NodeKey)) throws {
        let reference = catalog.schema.references[late.reference]
        guard let key = keyValue(.node(late.node)), let target = keyValue(late.owner) else { return }
        try setReference(reference, of: key, to: target)
    }

    /// Sets a stored object's reference, and counts the change in its revision; nothing happens where it is set.
    ///
    /// - Parameter isPlaced: Whether the object gets a place in the target's list afterwards.
    func setReference(
        _ reference: Reference, of key: KeyValue, to target: KeyValue?, isPlaced: Bool = false
    ) throws {
        let table = catalog.schema.tables[reference.source]
        let columns = reference.columns.map(RowSQL.quote)
        let values = target?.values ?? reference.columns.map { _ in .null }
        let bump = RowSQL.touch(table, parameter: columns.count + key.values.count + 1)
        // Its old place may be another's in the list that it joins.
        let place =
            isPlaced
            ? catalog.uniquePlaces[reference.index].map {
                ", \(RowSQL.quote(table.columns[$0].name)) = \(nextStandIn())"
            } ?? "" : ""
        let sql =
            "UPDATE \(RowSQL.quote(table.sqlName)) SET "
            + columns.enumerated().map { "\($1) = ?\($0 + 1)" }.joined(separator: ", ") + bump.sql + place
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
            if try !connection.isStored(key, in: table) { throw RelataError.notFound(object) }
        } catch {
            throw try ConstraintErrors(connection, schema: catalog.schema).translate(
                error, object: object, table: table
            ) { values }
        }
    }

    // MARK: Counts

    /// Notes whose lists the session's objects are in: called before they are written, and again afterwards.
    private func noteCounts() throws {
        guard catalog.hasCounts else { return }
        for reference in catalog.schema.references {
            for node in nodes.indices where bucketOf(node).tableIndex == reference.source {
                guard let key = keyValue(.node(node)) else { continue }
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
}
