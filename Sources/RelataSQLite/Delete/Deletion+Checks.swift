import RelataCore

/// What is looked at so that a plan holds: foreign keys and triggers that the schema doesn't know.
extension Deletion {
    /// Refuses a deletion of rows that others refer to by foreign keys which the schema doesn't know: SQLite would delete
    /// or unset these, or refuse, and no plan would name them.
    func refuseUndeclared() throws(RelataError) {
        let keys = try connection.undeclaredKeys(of: schema).filter { key in
            graph.contains(key.target) && !sql.isEmpty(key.target)
        }
        for key in keys
        where try connection.value(
            sql.referrers(in: key.table, key.columns, to: key.target, key.targetColumns)) != nil
        {
            throw .database(
                code: 787,
                message:
                    "\(report.entity) can't be deleted: \(key.table).\(key.columns.joined(separator: ", ")) refers "
                    + "to \(schema.tables[key.target].name), which the models don't declare: "
                    + "delete these rows first, or declare the relationship", sql: nil)
        }
    }

    /// Has SQLite read the statements of the deletion, which it refuses where a foreign key fits no table or columns.
    func checkCanBeWritten() throws(RelataError) {
        guard !report.isDenied else { return }
        // With a statement SQLite reads all that its own actions reach, so that few need to be looked at.
        var known: Set<Int> = []
        var statements: [SQLStatement] = []
        for entity in graph.groups.joined() where !sql.isEmpty(entity) {
            let isReached = graph.cascades(to: entity).contains { edge in
                edge.from != entity && known.contains(edge.from) && edge.isEnforcedByDatabase
            }
            if !isReached { statements.append(sql.delete(entity)) }
            known.insert(entity)
        }
        for statement in statements {
            do {
                _ = try connection.prepare(statement.sql)
            } catch {
                guard case .database(_, let message, _) = error else { throw error }
                throw .invalidUse(
                    "\(report.entity) can't be deleted, because SQLite can't follow its foreign keys (\(message)): "
                        + "mend what the check of the file says about them")
            }
        }
    }

    /// Refuses what isn't as planned. The deletion is undone then.
    mutating func verify() throws(RelataError) {
        for objects in report.deleted {
            guard let entity = schema.index(of: objects.entity) else { continue }
            sql.lists[entity] = objects.keys
            guard case .integer(let count)? = try connection.value(sql.remaining(entity)), count > 0 else { continue }
            throw try refused(
                "\(count) of \(objects.keys.count) \(objects.entity) would still be there", schema.tables[entity])
        }
        for links in report.nullified {
            guard let entity = schema.index(of: links.entity),
                let key = schema.foreignKeys.first(where: { $0.source == entity && $0.property == links.property })
            else { continue }
            let count = try connection.value(sql.unsetCount(key, among: links.keys))
            if count == .integer(Int64(links.keys.count)) { continue }
            throw try refused("\(links.entity).\(links.property) would not be unset as planned", schema.tables[entity])
        }
    }

    private func refused(_ message: String, _ table: Table) throws(RelataError) -> RelataError {
        let triggers = try connection.values(
            SQLStatement(
                "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE ORDER BY name",
                [.value(.text(table.sqlName))])
        ).map { $0[0].description }
        let names = triggers.isEmpty ? "" : " (\(triggers.joined(separator: ", ")))"
        return .invalidUse(
            "\(report.entity) can't be deleted: a trigger\(names) keeps the deletion from doing what was planned: "
                + "\(message). Nothing was deleted")
    }
}

/// A foreign key of the database that a schema doesn't know.
struct UndeclaredKey {
    /// The table that holds it.
    let table: String
    var columns: [String] = []
    /// The entity it refers to, as a number in ``Schema/tables``.
    let target: Int
    /// The columns it refers to; empty for the primary key.
    var targetColumns: [String] = []
}

extension Connection {
    /// The foreign keys that refer to a schema's tables without being known to it. They are read once for a schema and
    /// connection.
    func undeclaredKeys(of schema: Schema) throws(RelataError) -> [UndeclaredKey] {
        if let undeclared, undeclared.schema === schema { return undeclared.keys }
        var known: Set<[String]> = []
        func name(_ table: String, _ target: String, _ columns: [String]) -> [String] {
            ([table, target] + columns.sorted { $0.lowercased() < $1.lowercased() }).map { $0.lowercased() }
        }
        for key in schema.foreignKeys {
            known.insert(name(schema.tables[key.source].sqlName, schema.tables[key.target].sqlName, key.columns))
        }
        for join in schema.joins {
            known.insert(name(join.table, schema.tables[join.source].sqlName, join.sourceColumns))
            known.insert(name(join.table, schema.tables[join.target].sqlName, join.targetColumns))
        }
        let targets = Dictionary(schema.tables.map { ($0.sqlName.lowercased(), $0.index) }) { first, _ in first }
        var keys: [UndeclaredKey] = []
        var last: (table: String, id: Int64)?
        let list = """
            SELECT m.name, f.id, f."table", f."from", f."to"
            FROM sqlite_master AS m JOIN temp.pragma_foreign_key_list(m.name) AS f
            WHERE m.type = 'table' AND m.sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY m.name, f.id, f.seq
            """
        // SQLite compiles a statement of its own for each table, which changes nothing that others compiled.
        try authorizer.preparing { () throws(RelataError) in
            try rows(SQLStatement(list)) { row in
                guard let target = targets[row.text(at: 2).lowercased()] else { return }
                let (table, id) = (row.text(at: 0), row.integer(at: 1))
                if last?.table != table || last?.id != id {
                    last = (table, id)
                    keys.append(UndeclaredKey(table: table, target: target))
                }
                keys[keys.count - 1].columns.append(row.text(at: 3))
                if !row.isNull(at: 4) { keys[keys.count - 1].targetColumns.append(row.text(at: 4)) }
            }
        }
        keys.removeAll { known.contains(name($0.table, schema.tables[$0.target].sqlName, $0.columns)) }
        for index in keys.indices where keys[index].targetColumns.isEmpty {
            keys[index].targetColumns = schema.tables[keys[index].target].keyColumnNames
        }
        keys.removeAll { $0.columns.count != $0.targetColumns.count }
        undeclared = (schema, keys)
        return keys
    }
}
