import Foundation
import RelataCore

/// One deletion: finds the doomed rows, checks the rules, and deletes or reports.
struct Deletion {
    let connection: Connection
    let fileKeys: FileKeys
    let graph: DeletionGraph
    var sql: DeletionSQL
    var report: DeletionReport
    /// The number of rows the statements should change.
    var expectedChanges = 0
    /// The objects with an unset foreign key.
    var unset: [(key: SchemaForeignKey, objects: KeyList)] = []
    var schema: Schema { graph.schema }

    init(
        of entity: Int, roots: DeletionRoots, schema: Schema, on connection: Connection
    ) throws(RelataError) {
        guard schema.tables.indices.contains(entity) else {
            throw .invalidUse("the schema has no entity number \(entity)")
        }
        self.connection = connection
        fileKeys = try connection.fileKeys(of: schema)
        graph = DeletionGraph(schema: fileKeys.actual, root: entity)
        sql = DeletionSQL(graph, roots: roots, dialect: connection.dialect)
        report = DeletionReport(entity: schema.tables[entity].name)
        if case .keys(let keys) = roots, let key = keys.first(where: { $0.values.count != keyTypes(entity).count }) {
            throw .invalidUse(
                "\(key) isn't a key of \(schema.tables[entity].name), which has \(keyTypes(entity).count) column(s)")
        }
    }

    /// Reads what would happen.
    mutating func plan() throws(RelataError) -> DeletionReport {
        try collect { _ in true }
        try judge()
        for key in graph.nullified.map({ schema.foreignKeys[$0] }) where !sql.isEmpty(key.target) {
            try recordUnset(key, by: sql.unset(key))
        }
        try recordJoinRows(removing: false)
        for entity in graph.order { record(sql.lists[entity] ?? KeyList(), of: entity) }
        if fileKeys.foreign == nil {
            try checkCanBeWritten()
        } else if !report.isDenied {
            try refuseObstacles()
        }
        recordCascades()
        return report
    }

    /// Deletes, or throws and leaves everything unchanged.
    ///
    /// - Parameter isUndoneByCaller: Whether the caller rolls back a failure. Then it needs no savepoint, for which
    ///   SQLite copies each changed page.
    mutating func run(
        _ method: Connection.DeletionMethod, now: Date, isUndoneByCaller: Bool
    ) throws(RelataError) -> DeletionReport {
        // A query for the roots may look at rows that change before its last use, so it is asked once.
        let isQueried = if case .query = sql.roots { true } else { false }
        // The number of deleted rows of tables that others may refer to decides whether an index is worth creating.
        let listed = graph.listed.union(isQueried ? [graph.root] : []).union(fileKeys.unindexed.map(\.target))
        let isForeign = fileKeys.foreign != nil
        try collect { method == .closureFirst || isForeign || listed.contains($0) }
        try judge()
        if !report.blockers.isEmpty { throw .deleteDenied(blockers: report.blockers) }
        if !report.shortages.isEmpty { throw .validation(report.shortages) }
        if !isUndoneByCaller { try connection.execute(SQLStatement("SAVEPOINT relata_delete")) }
        do {
            try isForeign ? writeTogether(now: now) : write(now: now)
            if !isUndoneByCaller { try connection.execute(SQLStatement("RELEASE relata_delete")) }
        } catch {
            if !isUndoneByCaller {
                try? connection.execute(SQLStatement("ROLLBACK TO relata_delete"))
                try? connection.execute(SQLStatement("RELEASE relata_delete"))
            }
            throw error
        }
        recordCascades()
        return report
    }

    // MARK: Finding and judging

    private mutating func collect(_ isListed: (Int) -> Bool) throws(RelataError) {
        for group in graph.groups where group.contains(where: isListed) {
            let parts = sql.parts(of: group)
            var found: [Int: KeyList]
            if parts.count < 2 {
                found = try closure(sql.closure(of: group), of: group)
            } else {
                // More cascades than fit into one statement: they run in parts, until none finds more rows.
                found = try closure(sql.closure(of: group, along: [], from: nil), of: group)
                var count = -1
                while count != found.values.reduce(0, { $0 + $1.count }) {
                    count = found.values.reduce(0) { $0 + $1.count }
                    for part in parts {
                        found = try closure(sql.closure(of: group, along: part, from: found), of: group)
                    }
                }
            }
            for (entity, keys) in found {
                try checkKeys(keys, of: entity)
                sql.lists[entity] = keys
            }
        }
    }

    private func closure(_ statement: SQLStatement, of group: [Int]) throws(RelataError) -> [Int: KeyList] {
        var found = group.map { KeyList(width: keyTypes($0).count) }
        let types = group.map(keyTypes)
        let places = Dictionary(uniqueKeysWithValues: zip(group, group.indices))
        let columns = sql.places(of: group)
        var entity = -1
        var place = 0
        var key: [Int] = []
        try connection.rows(statement) { row in
            let number = Int(row.integer(at: 0))
            if number != entity {
                entity = number
                place = places[number] ?? 0
                key = columns[number] ?? []
            }
            found[place].append(from: row, types[place], at: key)
        }
        return Dictionary(uniqueKeysWithValues: zip(group, found))
    }

    /// SQLite lets a primary key be `NULL`, unless it is the rowid: such an object can't be identified.
    private func checkKeys(_ keys: KeyList, of entity: Int) throws(RelataError) {
        guard !schema.tables[entity].entity.isKeyAssigned, keys.values.contains(.null) else { return }
        let name = schema.tables[entity].name
        throw .invalidUse(
            "\(report.entity) can't be deleted: an object of \(name) that would be deleted with it has no key: "
                + "give it a key first, as the file's check says")
    }

    private mutating func judge() throws(RelataError) {
        try refuseUndeclared()
        try refuseStrays()
        try refuseCircles()
        var blockers = Blockers()
        for conflict in graph.conflicts {
            let key = schema.foreignKeys[conflict.key]
            guard !sql.isEmpty(key.target) || conflict.isAboutSource else { continue }
            try add(
                sql.conflicts(conflict), entity: key.source, "\(schema.tables[key.source].name).\(key.property)",
                blocked: key.target, conflict.reason.description(of: key, in: schema), to: &blockers)
        }
        for edge in graph.denials where !sql.isEmpty(edge.from) {
            try add(
                sql.blockers(edge), entity: edge.to, edge.relationship, blocked: edge.from,
                edge.reason(in: schema), to: &blockers)
        }
        report.blockers = blockers.all
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

    /// The blockers, each once: several foreign keys may lead from one object to another.
    private struct Blockers {
        private(set) var all: [Blocker] = []
        private var known: Set<Blocker> = []

        mutating func add(_ blocker: Blocker) {
            let plain = Blocker(
                object: blocker.object, relationship: blocker.relationship, blocked: blocker.blocked)
            if known.insert(plain).inserted { all.append(blocker) }
        }
    }

    private func add(
        _ statement: SQLStatement, entity: Int, _ relationship: String, blocked: Int, _ reason: String?,
        to blockers: inout Blockers
    ) throws(RelataError) {
        let types = keyTypes(entity) + keyTypes(blocked)
        let split = keyTypes(entity).count
        for values in try connection.values(statement, types: types) {
            let object = ObjectReference(entity: schema.tables[entity].name, key: KeyValue(Array(values[..<split])))
            let target = ObjectReference(entity: schema.tables[blocked].name, key: KeyValue(Array(values[split...])))
            blockers.add(Blocker(object: object, relationship: relationship, blocked: target, reason: reason))
        }
    }

    // MARK: Writing

    private mutating func write(now: Date) throws(RelataError) {
        let earlier = connection.totalChanges
        for key in graph.nullified.map({ schema.foreignKeys[$0] }) where !sql.isEmpty(key.target) {
            try unset(key, now: now)
        }
        try recordJoinRows(removing: true)
        let indexes = try makeIndexes()
        try removeAll()
        for index in indexes { try connection.execute("DROP INDEX \(index)") }
        // Triggers and SQLite's own actions change other rows: then the result is checked against the plan. A trigger
        // may also change a row instead of deleting it. Other engines don't count the changes of their actions.
        let isAsExpected =
            !connection.driver.capabilities.countsActions || connection.totalChanges - earlier == expectedChanges
        if hasTriggers || !isAsExpected { try verify() }
    }

    /// Whether a table that is changed has a trigger.
    var hasTriggers: Bool {
        if fileKeys.triggered.isEmpty { return false }
        let entities = graph.order + unset.map(\.key.source)
        let tables = entities.map { schema.tables[$0].sqlName } + graph.joins.map { schema.joins[$0].table }
        return tables.contains { fileKeys.triggered.contains($0.foldedName) }
    }

    /// Deletes all doomed rows. SQLite checks foreign keys row by row, and follows a native action at most a thousand
    /// levels deep. Both matter on cycles only, where untied rows need neither. They are untied only if SQLite refuses,
    /// because it seldom does, and writing each row before its deletion makes that of a tree 1.6 times as long.
    private mutating func removeAll() throws(RelataError) {
        var remaining = graph.order[...]
        // SQLite counts deferred violations separately from those of deferred keys: a row that dangled before the
        // deferral, and is deleted during it, would count as dangling forever. A cycle that can't be broken may have
        // such rows, and so may one with deferred keys after its rows are unset.
        let mayDangle = !graph.circles.isEmpty || fileKeys.mayDefer && !graph.knots.isEmpty
        var wait = mayDangle ? try ForeignKeyWait(on: connection) : nil
        do throws(RelataError) {
            do throws(RelataError) {
                try remove(&remaining)
            } catch {
                if graph.knots.isEmpty || !canContinue { throw error }
                // Rows that were untied before the wait no longer dangle when it begins.
                do throws(RelataError) {
                    try untie()
                } catch {
                    // A value that others refer to can only be removed while their checks are deferred.
                    guard wait == nil, canContinue,
                        case .database(ConstraintCode.foreignKey, _, _) = error
                    else { throw error }
                    wait = try ForeignKeyWait(on: connection)
                    try untie()
                }
                if wait == nil { wait = try ForeignKeyWait(on: connection) }
                try remove(&remaining)
            }
            try wait?.end()
        } catch {
            let error = explained(error)
            wait?.cancel()
            throw error
        }
    }

    /// Whether the transaction takes further statements after an error. After some errors, such as an interruption,
    /// SQLite has rolled everything back: later statements would be committed separately. A server accepts none.
    var canContinue: Bool { connection.isInTransaction && connection.driver.capabilities.survivesErrors }

    /// Deletes the doomed rows of one entity after another; finished entities aren't among the remaining ones.
    private mutating func remove(_ remaining: inout ArraySlice<Int>) throws(RelataError) {
        while let entity = remaining.first {
            let doomed = try remove(entity)
            expectedChanges += doomed.count
            record(doomed, of: entity)
            remaining.removeFirst()
        }
    }

    /// Whether a cascade of the database deletes the doomed rows of an entity later.
    private func isTakenAlong(_ entity: Int) -> Bool {
        guard connection.driver.capabilities.cascadesFaster, let key = graph.takenAlong[entity] else { return false }
        return fileKeys.cascading.contains(key)
    }

    /// Deletes the doomed rows of an entity, or leaves that to the database, and returns their keys.
    private func remove(_ entity: Int) throws(RelataError) -> KeyList {
        if let list = sql.lists[entity] {
            if !list.isEmpty { try connection.execute(sql.delete(entity)) }
            return list
        }
        if isTakenAlong(entity) {
            var access = StatementAccess()
            access.writes.add(rowsOf: schema.tables[entity].sqlName)
            connection.accesses?.add(access)
            return try keys(sql.doomed(entity), of: entity)
        }
        if connection.driver.capabilities.returnsDeletedKeys {
            return try keys(sql.deleteReturning(entity), of: entity)
        }
        // Read first: SQLite would store returned rows in a temporary table, which takes longer.
        let doomed = try keys(sql.doomed(entity), of: entity)
        try checkKeys(doomed, of: entity)
        if !doomed.isEmpty { try connection.execute(sql.delete(entity)) }
        return doomed
    }
}
