import Foundation
import RelataCore

/// One deletion: finds what is doomed, judges it, and does or reports what follows.
struct Deletion {
    let connection: Connection
    let graph: DeletionGraph
    var sql: DeletionSQL
    var report: DeletionReport
    var schema: Schema { graph.schema }

    init(
        of entity: Int, roots: DeletionRoots, schema: Schema, on connection: Connection
    ) throws(RelataError) {
        guard schema.tables.indices.contains(entity) else {
            throw .invalidUse("the schema has no entity number \(entity)")
        }
        self.connection = connection
        graph = DeletionGraph(schema: schema, root: entity)
        sql = DeletionSQL(graph, roots: roots, dialect: .sqlite)
        report = DeletionReport(entity: schema.tables[entity].name)
        if case .keys(let keys) = roots, let key = keys.first(where: { $0.values.count != keyTypes(entity).count }) {
            throw .invalidUse(
                "\(key) is no key of \(schema.tables[entity].name), which has \(keyTypes(entity).count) column(s)")
        }
    }

    /// Reads what would happen.
    mutating func plan() throws(RelataError) -> DeletionReport {
        try collect { _ in true }
        try judge()
        for number in graph.nullified where !sql.isEmpty(schema.references[number].target) {
            try recordUnset(schema.references[number], by: sql.unset(schema.references[number]))
        }
        try recordJoinRows(removing: false)
        for entity in graph.order { record(sql.lists[entity] ?? KeyList(), of: entity) }
        recordCascades()
        return report
    }

    /// Does it, or throws and leaves everything as it was.
    ///
    /// - Parameter isUndoneByCaller: Whether the caller undoes all where this fails. Then it needs no savepoint, for
    ///   which SQLite keeps a copy of each page that is changed.
    mutating func run(
        _ method: Connection.DeletionMethod, now: Date, isUndoneByCaller: Bool
    ) throws(RelataError) -> DeletionReport {
        // A query for the roots may look at rows that change before its last use, so it is asked once.
        let isQueried = if case .query = sql.roots { true } else { false }
        let listed = graph.listed.union(isQueried ? [graph.root] : [])
        try collect { method == .closureFirst || listed.contains($0) }
        try judge()
        if !report.blockers.isEmpty { throw .deleteDenied(blockers: report.blockers) }
        if !report.shortages.isEmpty { throw .validation(report.shortages) }
        if !isUndoneByCaller { try connection.execute(SQLStatement("SAVEPOINT relata_delete")) }
        do {
            try write(now: now)
            if !isUndoneByCaller { try connection.execute(SQLStatement("RELEASE relata_delete")) }
        } catch {
            if !isUndoneByCaller {
                try? connection.execute(SQLStatement("ROLLBACK TO relata_delete"))
                try? connection.execute(SQLStatement("RELEASE relata_delete"))
            }
            throw explained(error)
        }
        recordCascades()
        return report
    }

    // MARK: Finding and judging

    private mutating func collect(_ isListed: (Int) -> Bool) throws(RelataError) {
        for group in graph.groups where group.contains(where: isListed) {
            var found = group.map { KeyList(width: keyTypes($0).count) }
            let types = group.map(keyTypes)
            let places = Dictionary(uniqueKeysWithValues: zip(group, group.indices))
            var entity = -1
            var place = 0
            try connection.rows(sql.closure(of: group)) { row in
                let number = Int(row.integer(at: 0))
                if number != entity {
                    entity = number
                    place = places[number] ?? 0
                }
                found[place].append(from: row, types[place], startingAt: 1)
            }
            for (entity, keys) in zip(group, found) { sql.lists[entity] = keys }
        }
    }

    private mutating func judge() throws(RelataError) {
        for edge in graph.denials where !sql.isEmpty(edge.from) {
            let types = keyTypes(edge.to) + keyTypes(edge.from)
            let split = keyTypes(edge.to).count
            for values in try connection.values(sql.blockers(edge), types: types) {
                let object = ObjectReference(
                    entity: schema.tables[edge.to].name, key: KeyValue(Array(values[..<split])))
                let blocked = ObjectReference(
                    entity: schema.tables[edge.from].name, key: KeyValue(Array(values[split...])))
                report.blockers.append(Blocker(object: object, relationship: edge.relationship, blocked: blocked))
            }
        }
        for list in graph.counted where !sql.isEmpty(list.member) {
            let types = keyTypes(list.owner)
            for values in try connection.values(sql.shortages(list), types: types) {
                report.shortages.append(
                    ValidationFailure(
                        entity: schema.tables[list.owner].name, property: list.property,
                        key: KeyValue(Array(values[..<types.count])),
                        message: "must have at least \(list.minimum), and would have \(values[types.count])"))
            }
        }
    }

    // MARK: Writing

    private mutating func write(now: Date) throws(RelataError) {
        for number in graph.nullified where !sql.isEmpty(schema.references[number].target) {
            let reference = schema.references[number]
            let stamp = try stamp(of: schema.tables[reference.source].entity, now)
            try recordUnset(reference, by: sql.unsetting(reference, stamp: stamp))
        }
        try recordJoinRows(removing: true)
        var remaining = graph.order[...]
        do {
            try remove(&remaining)
        } catch {
            // SQLite meets a foreign key row by row, and follows a native action a thousand levels deep at most. Both
            // matter on cycles only, where untied rows need neither.
            // After some errors, such as an interruption, SQLite has rolled all back: what came now would be written alone.
            if graph.knots.isEmpty || !connection.isInTransaction { throw error }
            let wait = try ForeignKeyWait(on: connection)
            do {
                try untie()
                try remove(&remaining)
                try wait.end()
            } catch {
                wait.cancel()
                throw error
            }
        }
    }

    /// Deletes the doomed rows of entity after entity; those that are done are no longer among the remaining ones.
    private mutating func remove(_ remaining: inout ArraySlice<Int>) throws(RelataError) {
        while let entity = remaining.first {
            // Read first: what a deletion returns, SQLite would keep in a table of its own, which takes longer.
            let doomed = if let list = sql.lists[entity] { list } else { try keys(sql.doomed(entity), of: entity) }
            if !doomed.isEmpty { try connection.execute(sql.delete(entity)) }
            record(doomed, of: entity)
            remaining.removeFirst()
        }
    }
}
