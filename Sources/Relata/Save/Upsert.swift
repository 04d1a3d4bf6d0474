import RelataCore
import RelataEngine

/// Inserts an object or writes it over the one with the same values of a unique set.
struct Upsert {
    let transaction: WriteTransaction
    let names: [String]

    func save<M: Model>(_ objects: [M]) throws -> [M] {
        let table = try transaction.catalog.table(M.self)
        if let path = self.names.first(where: { $0.contains(".") }) {
            throw RelataError.notOwn(
                path, "property", of: M.entityName,
                "objects are matched by their own properties: name a unique one, or the to-one that the path begins with"
            )
        }
        let names = names.joined(separator: ", ")
        guard table.entity.uniques.contains(where: { Set($0) == Set(self.names) }) else {
            throw RelataError.invalidUse(
                "\(M.entityName) doesn't declare \(names) unique: add @Attribute(.unique) or #Unique, or save by key")
        }
        try transaction.requireOwner(for: "saving by unique properties", "save or delete the objects themselves")
        guard !transaction.access.guards(table) else {
            throw RelataError.invalidUse(
                "\(M.entityName.withArticle) saved by \(names) could overwrite a hidden one: save it by key"
            )
        }
        let session = transaction.makeSession()
        let columns = self.names.flatMap { table.columnIndexes(of: $0) }
        let nodes = try session.add(objects, as: .match(columns))
        // The owner of an edited list is only known afterwards.
        guard try !objects.contains(where: { try $0.hasEdits() }) else {
            throw RelataError.invalidUse(
                "\(M.entityName.withArticle) saved by \(names) can't have edits on links: save it, then edit the result"
            )
        }
        try session.gather()
        try check(objects, nodes, columns, table, session)
        try transaction.run(session, returning: nodes)
        return session.finished(objects, nodes)
    }

    /// Refuses unset values: they are never equal in a unique set, so each save would insert another object. Also
    /// refuses different objects with the same values, because only one of them can be stored.
    private func check<M: Model>(
        _ objects: [M], _ nodes: [Int], _ columns: [Int], _ table: Table, _ session: SaveSession
    ) throws {
        let bucket = session.bucket(M.self, table: table.index)
        var seen: [[Value]: Int] = [:]
        for (index, object) in objects.enumerated() {
            let given = bucket.overrides[session.run.plan.rows[nodes[index]].row] ?? []
            let later = Set(given.flatMap { transaction.catalog.schema.references[$0.reference].columns })
            let values = try object.columnValues(table)
            let open = columns.filter { values[$0] == .null }
            for column in open where !later.contains(table.columns[column].name) {
                throw RelataError.invalidUse(
                    "\(table.columns[column].property) is unset, and matches no stored \(M.entityName): set it, or use insert"
                )
            }
            guard objects.count > 1, open.isEmpty else { continue }
            let wanted = columns.map { values[$0] }
            if let other = seen.updateValue(index, forKey: wanted), objects[other] != object {
                throw RelataError.invalidUse(
                    "two of the objects have the same \(names.joined(separator: ", ")) "
                        + "(\(wanted.map(\.description).joined(separator: ", "))) and different content: save one of them"
                )
            }
        }
    }
}

extension RowSQL {
    /// Inserts a row or writes it over the one with the same values in these columns, and returns the row's key.
    func match(_ table: Table, _ schema: Schema, columns: [Int]) -> String {
        let conflict = columns.map { quote(table.columns[$0].name) }.joined(separator: ", ")
        let revision = table.entity.revision.map { table.columnIndexes(of: $0) } ?? []
        var assignments = upserted(table, schema, Set(columns + revision))
        // The stored row's own revision continues.
        for name in revision.map({ quote(table.columns[$0].name) }) {
            assignments.append("\(name) = \(quote(table.sqlName)).\(name) + 1")
        }
        if assignments.isEmpty {
            let name = quote(table.columns[columns[0]].name)
            assignments = ["\(name) = excluded.\(name)"]
        }
        return insert(table) + " ON CONFLICT (\(conflict)) DO UPDATE SET " + assignments.joined(separator: ", ")
            + " RETURNING " + dialect.list(table.keyColumnNames)
    }
}
