import RelataCore

extension DeletionRoots {
    /// The objects without the hidden ones.
    func seen(
        of entity: Int, in schema: Schema, under access: Access, _ dialect: Dialect
    ) throws(RelataError) -> DeletionRoots {
        guard schema.tables.indices.contains(entity), access.guards(schema.tables[entity]),
            case .keys(let keys) = self
        else { return self }
        let compiler = QueryCompiler(schema: schema, access: access, dialect: dialect)
        return .query(try compiler.keys(of: schema.tables[entity].name, among: keys).statement)
    }
}

/// Removes the names of hidden objects from a deletion's report, and keeps their numbers. The objects must still exist.
struct SeenReport {
    let connection: Connection
    let schema: Schema
    let access: Access

    func report(_ all: DeletionReport) throws(RelataError) -> DeletionReport {
        guard access.isLimited else { return all }
        var report = all
        for index in report.deleted.indices {
            let keys = try seen(all.deleted[index].keys, of: all.deleted[index].entity)
            report.deleted[index].keys = keys
            report.deleted[index].hiddenCount = all.deleted[index].keys.count - keys.count
        }
        for index in report.nullified.indices {
            let keys = try seen(all.nullified[index].keys, of: all.nullified[index].entity)
            report.nullified[index].keys = keys
            report.nullified[index].hiddenCount = all.nullified[index].keys.count - keys.count
        }
        for index in report.removedJoinRows.indices { try hide(&report.removedJoinRows[index]) }
        report.blockers = try seen(all.blockers)
        report.hiddenBlockerCount = all.blockers.count - report.blockers.count
        for (index, list) in all.shortages.enumerated() {
            guard let key = list.key, try seen(KeyList([key]), of: list.entity).isEmpty else { continue }
            report.shortages[index] = ValidationFailure(
                entity: list.entity, property: list.property, key: nil, message: list.message)
        }
        return report
    }

    private func hide(_ rows: inout RemovedJoinRows) throws(RelataError) {
        guard let join = schema.join(of: rows) else { return }
        let sources = Set(try seen(rows.sources, of: schema.tables[join.source].name))
        let targets = Set(try seen(rows.targets, of: schema.tables[join.target].name))
        let pairs = rows.pairs.filter { sources.contains($0.source) && targets.contains($0.target) }
        rows.hiddenCount = rows.sources.count - pairs.count
        let widths = (rows.sources.width, rows.targets.width)
        (rows.sources, rows.targets) = (KeyList(width: widths.0), KeyList(width: widths.1))
        for pair in pairs {
            rows.sources.append(pair.source)
            rows.targets.append(pair.target)
        }
    }

    private func seen(_ blockers: [Blocker]) throws(RelataError) -> [Blocker] {
        var known: [String: Set<KeyValue>] = [:]
        let objects = blockers.flatMap { [$0.object, $0.blocked] }
        for (entity, references) in Dictionary(grouping: objects, by: \.entity) {
            known[entity] = Set(try seen(KeyList(references.map(\.key)), of: entity))
        }
        return blockers.filter { blocker in
            [blocker.object, blocker.blocked].allSatisfy { known[$0.entity]?.contains($0.key) ?? false }
        }
    }

    /// The keys of an entity's visible objects, in order.
    private func seen(_ keys: KeyList, of entity: String) throws(RelataError) -> KeyList {
        guard let table = schema[entity], access.guards(table), !keys.isEmpty else { return keys }
        let query = try QueryCompiler(schema: schema, access: access, dialect: connection.dialect).keys(
            of: entity, among: Array(keys))
        let seen = Set(try connection.values(query.statement, types: query.columnTypes).map { KeyValue($0) })
        var result = KeyList(width: keys.width)
        for key in keys where seen.contains(key) { result.append(key) }
        return result
    }
}
