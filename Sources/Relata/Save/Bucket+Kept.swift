import RelataCore
import RelataEngine

extension Bucket {
    /// Refuses linked objects that are stored with other values than they have here, which a link doesn't write. One
    /// statement reads all of them.
    @usableFromInline
    package func checkWritten(_ run: WriteRun) throws {
        if kept.isEmpty { return }
        let keys = kept.subtracting(confirmed).sorted().compactMap { keyValue(row: $0) }
        if keys.isEmpty { return }
        let columns = comparedColumns(run.schema)
        if let guarded = session.rights, guarded.rights.hidesProperties(of: table.name) {
            // As the caller sees them: the error would tell what is hidden.
            for case let stored? in try guarded.transaction.objects(M.self, keys: keys) {
                guard let row = stored.ownKey.flatMap({ rows[$0] }) else { continue }
                try compare(objects[row], with: stored, columns)
            }
            return
        }
        let rowSQL = run.rowSQL
        let list = rowSQL.dialect.rows(ofParameter: 1, types: table.keyTypes)
        let sql = rowSQL.select(table) + " WHERE (\(rowSQL.dialect.list(table.keyColumnNames))) IN \(list)"
        try run.connection.forEachRow(SQLStatement(sql, [.keys(keys)])) { row in
            var reader = RowReader(row)
            let stored = try ReadTransaction.reading(M.self) { try M(from: &reader) }
            guard let row = stored.ownKey.flatMap({ rows[$0] }) else { return }
            try compare(objects[row], with: stored, columns)
        }
    }

    private func compare(_ object: M, with stored: M, _ columns: [Int]) throws {
        // Equal values may be stored as different texts: a set within a Codable value has no order.
        if object == stored { return }
        let (own, others) = (try object.columnValues(table), try stored.columnValues(table))
        // A copy from before another change is older, and may have no changes of its own.
        for column in table.entity.revision.map(table.columnIndexes) ?? [] where own[column] != others[column] {
            return
        }
        for column in columns where own[column] != others[column] {
            throw RelataError.invalidUse(
                "\(object.reference()) is stored with another \(table.columns[column].property) than the linked object "
                    + "has, which a link doesn't write: link it by its key, ToOne(id:), or save the object in the same call too"
            )
        }
    }

    /// The attributes, without timestamps and positions in lists, which objects don't write themselves. References are
    /// left out: an object that was given before a list included it doesn't have them.
    private func comparedColumns(_ schema: Schema) -> [Int] {
        let stamps = [table.entity.revision, table.entity.createdAt, table.entity.updatedAt]
        let places = schema.references.compactMap { $0.source == tableIndex ? $0.orderColumn : nil }
        return RowSQL.written(table).filter { number in
            let column = table.columns[number]
            return column.reference == nil && !stamps.contains(column.property) && !places.contains(column.name)
        }
    }
}
