import Foundation
import RelataCore

/// Recording the changes of a deletion, and reading keys.
extension Deletion {
    mutating func record(_ keys: KeyList, of entity: Int) {
        if keys.isEmpty { return }
        report.deleted.append(DeletedObjects(entity: schema.tables[entity].name, keys: keys))
    }

    mutating func recordUnset(_ key: SchemaForeignKey, by statement: SQLStatement) throws(RelataError) {
        let keys = try keys(statement, of: key.source)
        if keys.isEmpty { return }
        expectedChanges += keys.count
        unset.append((key, keys))
        report.nullified.append(
            NullifiedLinks(entity: schema.tables[key.source].name, property: key.property, keys: keys))
    }

    /// Unsets a foreign key in the rows that it links to doomed rows.
    ///
    /// - Throws: ``RelataError/invalidUse(_:)`` if the table doesn't allow it: a plan doesn't evaluate conditions of
    ///   other programs.
    mutating func unset(_ key: SchemaForeignKey, now: Date) throws(RelataError) {
        let unsetting = sql.unsetting(key, stamp: try stamp(of: schema.tables[key.source].entity, now))
        do throws(RelataError) {
            if keyTypes(key.source).contains(.real) {
                // SQLite may have turned an integer key that a change returns into a real number.
                try recordUnset(key, by: sql.unset(key))
                try connection.execute(unsetting)
            } else {
                try recordUnset(key, by: unsetting)
            }
        } catch {
            guard case .database(let code, let message, _) = error,
                [ConstraintCode.check, ConstraintCode.unique, ConstraintCode.foreignKey].contains(code)
            else { throw error }
            let table = schema.tables[key.source]
            let refusal =
                "\(report.entity) can't be deleted: \(table.name).\(key.property) would be unset, which \(table.sqlName) "
                + "refuses (\(message))"
            let fix = ": change these objects, or delete them first. Nothing was deleted"
            guard code == ConstraintCode.foreignKey else { throw .invalidUse(refusal + fix) }
            // SQLite looks for the target of a row that refers to itself among the other rows only, if the two values are
            // equal by their collation alone: 'a ' and 'a' by RTRIM.
            let isFile = connection.dialect == .sqlite
            let reason =
                isFile ? ", because one of them refers to itself in another spelling, or others refer to it" : ""
            throw .database(code: code, message: refusal + reason + fix, sql: nil)
        }
    }

    mutating func recordJoinRows(removing: Bool) throws(RelataError) {
        for join in graph.joins.map({ schema.joins[$0] }) {
            let (sourceTypes, targetTypes) = (keyTypes(join.source), keyTypes(join.target))
            var rows = RemovedJoinRows(
                relationship: "\(schema.tables[join.source].name).\(join.property)",
                sources: KeyList(width: sourceTypes.count), targets: KeyList(width: targetTypes.count))
            for atSource in [true, false] where !sql.isEmpty(atSource ? join.source : join.target) {
                // A deletion returns the stored values.
                let tellsKeys = removing && join.comparesAsDeclared
                let statement =
                    tellsKeys ? sql.removal(of: join, atSource: atSource) : sql.joinRows(join, atSource: atSource)
                let earlier = rows.count
                try connection.rows(statement) { row in
                    rows.sources.append(from: row, sourceTypes, startingAt: 0)
                    rows.targets.append(from: row, targetTypes, startingAt: sourceTypes.count)
                }
                if tellsKeys || !removing {
                    expectedChanges += rows.count - earlier
                } else if rows.count > earlier {
                    expectedChanges += try connection.run(sql.removal(of: join, atSource: atSource))
                }
            }
            if !rows.sources.isEmpty { report.removedJoinRows.append(rows) }
        }
    }

    mutating func recordCascades() {
        let losing = Set(report.deleted.map(\.entity))
        for edge in graph.cascades {
            let (from, to) = (schema.tables[edge.from].name, schema.tables[edge.to].name)
            guard losing.contains(from) && losing.contains(to) else { continue }
            report.cascades.append(CascadePath(from: from, relationship: edge.relationship, to: to))
        }
    }

    func keys(_ statement: SQLStatement, of entity: Int) throws(RelataError) -> KeyList {
        let types = keyTypes(entity)
        var keys = KeyList(width: types.count)
        try connection.rows(statement) { row in keys.append(from: row, types, startingAt: 0) }
        return keys
    }

    func keyTypes(_ entity: Int) -> [AttributeType] {
        let table = schema.tables[entity]
        return table.keyColumns.map { table.columns[$0].type }
    }

    /// The time of a change as an entity stores it, if it has one.
    func stamp(of entity: Entity, _ now: Date) throws(RelataError) -> Value? {
        guard case .date(let encoding)? = entity.updatedAt.flatMap(entity.attribute)?.type else { return nil }
        return try DateCoding(encoding).encode(now)
    }
}

extension KeyList {
    /// Adds the key that a row holds from a column on.
    mutating func append(from row: Row, _ types: [AttributeType], startingAt column: Int) {
        for (index, type) in types.enumerated() { append(value: row.value(at: column + index, as: type)) }
    }

    /// Adds the key that a row holds in these columns.
    mutating func append(from row: Row, _ types: [AttributeType], at columns: [Int]) {
        for (column, type) in zip(columns, types) { append(value: row.value(at: column, as: type)) }
    }
}
