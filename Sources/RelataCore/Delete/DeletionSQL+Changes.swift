/// The statements that change rows.
extension DeletionSQL {
    /// Unsets a key in the objects that stay while its target is deleted, which changes them, and returns their keys.
    ///
    /// - Parameter stamp: the time of the change for an entity that declares one, in its encoding.
    package func unsetting(_ foreignKey: SchemaForeignKey, stamp: Value?) -> SQLStatement {
        var builder = builder()
        let table = schema.tables[foreignKey.source]
        let entity = table.entity
        var changes = foreignKey.unsetColumns.map { "\(table.storedColumn($0, dialect)) = NULL" }
        if let reference = foreignKey.reference.map({ schema.references[$0] }), reference.isOrderStored,
            let position = reference.orderColumn
        {
            changes.append("\(dialect.quote(position)) = NULL")
        }
        if let revision = entity.revision.flatMap(entity.attribute)?.column {
            changes.append("\(dialect.quote(revision)) = \(dialect.quote(revision)) + 1")
        }
        if let stamp, let updatedAt = entity.updatedAt.flatMap(entity.attribute) {
            changes.append("\(dialect.quote(updatedAt.column)) = \(builder.bind(stamp, as: updatedAt.type))")
        }
        let condition = losesTarget(foreignKey, of: "x", &builder)
        let (set, keys) = (changes.joined(separator: ", "), key(of: foreignKey.source))
        guard let source = entity.source else {
            return SQLStatement(
                "UPDATE \(self.table(foreignKey.source)) AS x SET \(set) WHERE \(condition) RETURNING \(list(keys))",
                builder.parameters)
        }
        return SQLStatement(
            "UPDATE \(source.changed) SET \(set) FROM \(source.rows) AS x WHERE \(source.isChanged("x")) AND (\(condition)) "
                + "RETURNING \(list(keys, "x"))", builder.parameters)
    }

    /// Deletes the doomed rows of an entity.
    package func delete(_ entity: Int) -> SQLStatement {
        var builder = builder()
        let sql = deletion(of: entity, &builder)
        return SQLStatement(sql, builder.parameters)
    }

    private func deletion(of entity: Int, _ builder: inout Builder) -> String {
        let condition = isDoomed(entity, &builder)
        guard let source = schema.tables[entity].entity.source else {
            return "DELETE FROM \(table(entity)) AS x WHERE \(condition)"
        }
        return "DELETE FROM \(source.changed) USING \(source.rows) AS x WHERE \(source.isChanged("x")) AND \(condition)"
    }

    /// Deletes the doomed rows of an entity, and returns their keys.
    package func deleteReturning(_ entity: Int) -> SQLStatement {
        var statement = delete(entity)
        statement.sql += " RETURNING \(list(key(of: entity), "x"))"
        return statement
    }

    /// Deletes the doomed rows of several entities at once, so that the server checks its foreign keys after all
    /// deletions, in any order of references. There is at least one entity, and their lists are known.
    package func deleteTogether(_ entities: [Int]) -> SQLStatement {
        var builder = builder()
        var parts: [String] = []
        for entity in entities { parts.append(deletion(of: entity, &builder)) }
        let last = parts.popLast() ?? ""
        let tables = parts.enumerated().map { "relata_part\($0) AS (\($1))" }
        return SQLStatement(
            (tables.isEmpty ? "" : "WITH " + tables.joined(separator: ", ") + " ") + last, builder.parameters)
    }
}
