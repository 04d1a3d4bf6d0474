import Foundation
import RelataCore

/// Deletions in a server's database of any program.
///
/// All doomed rows are deleted in one statement, after which the server checks its foreign keys: so the order in which
/// it would follow them doesn't matter. Then its changes are counted and compared with the plan.
extension Deletion {
    /// Refuses a deletion that affects rows whose fate can't be known.
    func refuseObstacles() throws(RelataError) {
        if let reason = obstacles(of: schema.tables[graph.root].sqlName)?.hasNoKeys, !sql.isEmpty(graph.root) {
            throw refused(schema.tables[graph.root].sqlName, reason)
        }
        for entity in graph.order where !sql.isEmpty(entity) {
            let table = schema.tables[entity].sqlName
            if let reason = obstacles(of: table)?.keepsRows { throw refused(table, reason) }
        }
        var moved: Set<Int> = []
        for key in graph.nullified.map({ schema.foreignKeys[$0] }) where !sql.isEmpty(key.target) {
            let table = schema.tables[key.source].sqlName
            guard let obstacles = obstacles(of: table), obstacles.keepsReferences != nil || obstacles.hasNoKeys != nil,
                try !keys(sql.unset(key), of: key.source).isEmpty
            else { continue }
            if let reason = obstacles.keepsReferences { throw refused(table, reason) }
            // After one change, such a row wouldn't be found for the next.
            if let reason = obstacles.hasNoKeys, !moved.insert(key.source).inserted { throw refused(table, reason) }
        }
        for join in graph.joins.map({ schema.joins[$0] }) where !sql.isEmpty(join.source) || !sql.isEmpty(join.target) {
            if let reason = obstacles(of: join.table)?.keepsRows { throw refused(join.table, reason) }
        }
        for table in reached {
            if let reason = obstacles(of: table)?.hidesRows { throw refused(table, reason) }
        }
    }

    /// The tables with rows that may be changed, or block the deletion, because they refer to doomed ones.
    private var reached: [String] {
        let doomed = graph.order.filter { !sql.isEmpty($0) }
        let referring = schema.foreignKeys.filter { $0.isEnforced && !sql.isEmpty($0.target) }.map(\.source)
        let joined = graph.joins.map { schema.joins[$0] }.filter { !sql.isEmpty($0.source) || !sql.isEmpty($0.target) }
        return ((doomed + referring).map { schema.tables[$0].sqlName } + joined.map(\.table)).uniqued()
    }

    private func obstacles(of table: String) -> DeletionObstacles? {
        fileKeys.foreign?[table.foldedName]?.obstacles
    }

    private func refused(_ table: String, _ reason: String) -> RelataError {
        .invalidUse("\(report.entity) can't be deleted: \(table) \(reason)")
    }

    /// Deletes everything, and compares the changes with the plan.
    mutating func writeTogether(now: Date) throws(RelataError) {
        try refuseObstacles()
        let earlier = try connection.driver.rowChanges(connection)
        if earlier == nil, let table = reached.first(where: { !triggerNames(of: $0).isEmpty }) {
            throw refused(
                table,
                "has triggers, and the server doesn't count their changes: set track_counts = on")
        }
        for key in graph.nullified.map({ schema.foreignKeys[$0] }) where !sql.isEmpty(key.target) {
            try unset(key, now: now)
        }
        try recordJoinRows(removing: true)
        let doomed = graph.order.filter { !sql.isEmpty($0) }
        if !doomed.isEmpty { try connection.execute(sql.deleteTogether(doomed)) }
        for entity in doomed { record(sql.lists[entity] ?? KeyList(), of: entity) }
        // Deferred actions, such as deferred triggers, run now, so that they are counted.
        try connection.driver.setReferencesWait(false)
        try verify()
        if let earlier, let counts = try connection.driver.rowChanges(connection) {
            try verify(counts, since: earlier)
        }
    }

    /// Refuses changes of other rows than the planned ones. Rows that triggers add elsewhere, such as those of an
    /// audit, change no existing row.
    private func verify(
        _ counts: [String: RowChanges], since earlier: [String: RowChanges]
    ) throws(RelataError) {
        var planned: [String: RowChanges] = [:]
        for objects in report.deleted {
            if let table = schema[objects.entity] {
                planned[fullName(table.sqlName), default: RowChanges()].deleted += objects.keys.count
            }
        }
        for (key, keys) in unset {
            planned[fullName(schema.tables[key.source].sqlName), default: RowChanges()].updated += keys.count
        }
        for rows in report.removedJoinRows {
            if let join = schema.join(of: rows) {
                planned[fullName(join.table), default: RowChanges()].deleted += rows.sources.count
            }
        }
        for (name, count) in counts.sorted(by: { $0.key < $1.key }) {
            let (changes, plan) = (count.since(earlier[name]), planned[name])
            let isPlanned =
                changes.deleted == plan?.deleted ?? 0 && changes.updated == plan?.updated ?? 0
                && (plan == nil || changes.inserted == 0)
            if !isPlanned { throw changedMore(name, changes, plan ?? RowChanges()) }
        }
    }

    private func triggerNames(of table: String) -> [String] {
        fileKeys.foreign?[table.foldedName]?.triggers ?? []
    }

    private func fullName(_ table: String) -> String {
        fileKeys.foreign?[table.foldedName]?.source?.fullName ?? table
    }

    private func changedMore(_ table: String, _ changes: RowChanges, _ plan: RowChanges) -> RelataError {
        let words = [
            ("deleted", changes.deleted, plan.deleted), ("changed", changes.updated, plan.updated),
            ("added", changes.inserted, plan.inserted),
        ]
        let differences = words.filter { $0.1 != $0.2 }.map { "\($0.1) rows \($0.0) instead of \($0.2)" }
        let tables = Set(graph.order + unset.map(\.key.source)).map { schema.tables[$0].sqlName }
        let triggers = tables.sorted().flatMap { name in
            triggerNames(of: name).map { "\(name).\($0)" }
        }
        return .invalidUse(
            "\(report.entity) can't be deleted: the server changes more than was planned"
                + (triggers.isEmpty ? "" : ", because of triggers (\(triggers.joined(separator: ", ")))")
                + ": of \(table), \(differences.joined(separator: ", ")). Nothing was deleted")
    }
}
