import RelataCore

/// Checks that make a plan reliable: for foreign keys and triggers that the schema doesn't know.
extension Deletion {
    /// Refuses a deletion of rows that others refer to by foreign keys which the schema doesn't know: SQLite would
    /// delete or unset these, or refuse, and no plan would name them.
    func refuseUndeclared() throws(RelataError) {
        let keys = fileKeys.undeclared.filter { graph.contains($0.target) && !sql.isEmpty($0.target) }
        for key in keys where try isInUse(key) {
            if let reason = key.reason {
                throw .invalidUse(
                    "\(report.entity) can't be deleted: \(key.table).\(key.columns.joined(separator: ", ")) "
                        + "\(key.native == nil ? "may refer" : "refers") to \(schema.tables[key.target].name), and \(reason)"
                )
            }
            throw .database(
                code: 787,
                message:
                    "\(report.entity) can't be deleted: \(key.table).\(key.columns.joined(separator: ", ")) refers "
                    + "to \(schema.tables[key.target].name), which the models don't declare: "
                    + "delete these rows first, or declare the relationship", sql: nil)
        }
    }

    private func isInUse(_ key: UndeclaredKey) throws(RelataError) -> Bool {
        if let native = key.native {
            return try connection.value(sql.referrers(by: native, of: key.owner, to: key.target)) != nil
        }
        if key.reason != nil { return true }
        return try connection.value(
            sql.referrers(in: key.table, key.columns, to: key.target, key.targetColumns)) != nil
    }

    /// Refuses a deletion whose objects SQLite would find in rows of join tables that refer to others.
    func refuseStrays() throws(RelataError) {
        for join in graph.joins.map({ schema.joins[$0] }) {
            for isSource in [true, false] where join.comparison(isSource: isSource).hasExceptions {
                let entity = join.entity(isSource: isSource)
                guard !sql.isEmpty(entity), try connection.value(sql.strays(join, atSource: isSource)) != nil else {
                    continue
                }
                let table = schema.tables[entity]
                let columns = join.columns(isSource: isSource).own.joined(separator: ", ")
                throw .invalidUse(
                    "\(report.entity) can't be deleted: \(join.table).\(columns) holds a key of another \(table.name) "
                        + "in a form that SQLite treats as this one's, because the column's type isn't that of "
                        + "\(table.sqlName).\(table.keyColumnNames.joined(separator: ", ")): give both the same type, or "
                        + "write the keys in the same way")
            }
        }
    }

    /// Lets SQLite compile the statements of the deletion, which fails for a foreign key without matching table or
    /// columns.
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
                    message.contains("foreign key mismatch")
                        ? "\(report.entity) can't be deleted, because SQLite can't follow its foreign keys (\(message)): "
                            + "fix the findings of the file's check about them"
                        : "\(report.entity) can't be deleted, because SQLite can't run it (\(message)): "
                            + "fix or drop the trigger, the index or the column that needs it")
            }
        }
    }

    /// The cause of an error: a trigger that keeps rows which others still refer to, if there is one.
    func explained(_ error: RelataError) -> RelataError {
        guard case .database(ConstraintCode.foreignKey, _, _) = error, !fileKeys.triggered.isEmpty, canContinue
        else { return error }
        for objects in report.deleted {
            if let table = schema[objects.entity], fileKeys.triggered.contains(table.sqlName.foldedName),
                let refusal = try? refusal(ifKept: objects)
            {
                return refusal
            }
        }
        for key in graph.nullified.map({ schema.foreignKeys[$0] }) where !sql.isEmpty(key.target) {
            let table = schema.tables[key.source]
            guard fileKeys.triggered.contains(table.sqlName.foldedName), (try? connection.value(sql.unset(key))) != nil,
                let refusal = try? refused(stillSet: key)
            else { continue }
            return refusal
        }
        return error
    }

    private func refused(stillSet key: SchemaForeignKey) throws(RelataError) -> RelataError {
        let table = schema.tables[key.source]
        return try refused("\(table.name).\(key.property) would not be unset as planned", table)
    }

    /// The error if rows of the plan still exist.
    private func refusal(ifKept objects: DeletedObjects) throws(RelataError) -> RelataError? {
        guard let entity = schema.index(of: objects.entity),
            case .integer(let count)? = try connection.value(sql.remaining(entity, among: objects.keys)), count > 0
        else { return nil }
        return try refused(
            "\(count) of \(objects.keys.count) \(objects.entity) would still be there", schema.tables[entity])
    }

    /// Refuses a result that differs from the plan. The deletion is rolled back then.
    func verify() throws(RelataError) {
        for objects in report.deleted {
            if let refusal = try refusal(ifKept: objects) { throw refusal }
        }
        for (key, keys) in unset
        where fileKeys.foreign?[schema.tables[key.source].sqlName.foldedName]?.obstacles.hasNoKeys == nil {
            // Rows without a key can't be found again.
            let known = keys.count { !$0.values.contains(.null) }
            if try connection.value(sql.unsetCount(key, among: keys)) == .integer(Int64(known)) { continue }
            throw try refused(stillSet: key)
        }
    }

    func refused(_ message: String, _ table: Table) throws(RelataError) -> RelataError {
        let known = fileKeys.foreign?[table.sqlName.foldedName]?.triggers
        let triggers = if let known { known } else { try connection.driver.triggers(of: table.sqlName, connection) }
        let names = triggers.isEmpty ? "" : " (\(triggers.joined(separator: ", ")))"
        return .invalidUse(
            "\(report.entity) can't be deleted: a trigger\(names) prevents the planned deletion: "
                + "\(message). Nothing was deleted")
    }
}
