import GRDBSQLite

/// Inserts an object or writes it over the one with the same values of a unique set.
struct Upsert {
    let transaction: WriteTransaction
    let names: [String]

    func save<M: Model>(_ object: M) throws -> M {
        let (connection, catalog) = (transaction.connection, transaction.catalog)
        let table = try catalog.table(M.self)
        guard table.entity.uniques.contains(where: { Set($0) == Set(names) }) else {
            throw RelataError.invalidUse(
                "\(M.entityName) doesn't declare \(names.joined(separator: ", ")) unique: add @Attribute(.unique) or #Unique, or save by key"
            )
        }
        let session = SaveSession(connection: connection, catalog: catalog)
        let node = try session.add(object, as: .save)
        try session.gather()
        guard try !session.hasWork(besides: node) else {
            throw RelataError.invalidUse(
                "a \(M.entityName) saved by \(names.joined(separator: ", ")) can't have edits on links or new objects in them: save it, then edit the result"
            )
        }
        try session.validate()
        let columns = names.flatMap { table.columnIndexes(of: $0) }
        let conflict = columns.map { RowSQL.quote(table.columns[$0].name) }.joined(separator: ", ")
        let revision = table.entity.revision.map { table.columnIndexes(of: $0) } ?? []
        var assignments = RowSQL.upserted(table, catalog.schema, Set(columns + revision))
        // The stored row's own count goes on.
        for name in revision.map({ RowSQL.quote(table.columns[$0].name) }) {
            assignments.append("\(name) = \(RowSQL.quote(table.sqlName)).\(name) + 1")
        }
        if assignments.isEmpty { assignments = ["\(conflict) = excluded.\(conflict)"] }
        let sql =
            RowSQL.insert(table) + " ON CONFLICT (\(conflict)) DO UPDATE SET " + assignments.joined(separator: ", ")
            + " RETURNING " + Dialect.sqlite.list(table.keyColumnNames)
        let writer = RowWriter<M>(table: table, connection: connection, session: session)
        let key = try writer.returningKey(object, sql)
        guard let stored = try transaction.fetch(M.self, id: key) else {
            throw RelataError.notFound(object.reference())
        }
        return stored
    }
}
