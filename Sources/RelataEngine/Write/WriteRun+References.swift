import RelataCore

extension WriteRun {
    /// Sets a stored object's reference, and counts the change in its revision; does nothing if it is set.
    ///
    /// - Parameter isPlaced: Whether the object gets a position in the target's list afterwards.
    package func setReference(
        _ reference: Reference, of key: KeyValue, to target: KeyValue?, isPlaced: Bool = false
    ) throws {
        let table = schema.tables[reference.source]
        let columns = reference.columns.map(rowSQL.quote)
        let values = target?.values ?? reference.columns.map { _ in .null }
        let bump = rowSQL.touch(table, parameter: columns.count + key.values.count + 1)
        // Its old place may be another's in the list that it joins.
        let place =
            isPlaced
            ? schema.uniquePlaces[reference.index].map {
                ", \(rowSQL.quote(table.columns[$0].name)) = \(nextStandIn())"
            } ?? "" : ""
        let isObject = rowSQL.matches(table.keyColumnNames, from: columns.count + 1)
        let isSet = columns.enumerated().map {
            "\($0.element)\(rowSQL.dialect.isSame)\(rowSQL.dialect.parameter($0.offset + 1))"
        }.joined(separator: " AND ")
        let sql =
            "UPDATE \(rowSQL.quote(table.sqlName)) SET "
            + columns.enumerated().map { "\($1) = \(rowSQL.dialect.parameter($0 + 1))" }.joined(separator: ", ")
            + bump.sql + place + " WHERE \(isObject) AND NOT (\(isSet))"
        let parameters = (values + key.values + (bump.needsNow ? [table.stampValue(now)] : [])).map(Parameter.value)
        let object = ObjectReference(entity: table.name, key: key)
        try noteOwner(of: reference, from: key)
        if reference.isUnique, let target { try LinkWriter(run: self).free(reference, from: target, except: [key]) }
        touch(table.index, key)
        do {
            if try connection.run(SQLStatement(sql, parameters)) > 0 {
                connection.recorder?.record(
                    .update, table.index, key, properties: [reference.property] + table.stampProperties)
                return
            }
            // It is set already, it is deleted, or a trigger ignores the change.
            let stored = try connection.value(
                SQLStatement(
                    "SELECT CASE WHEN \(isSet) THEN 1 ELSE 0 END FROM \(rowSQL.quote(table.sqlName)) WHERE \(isObject)",
                    (values + key.values).map(Parameter.value)))
            guard let stored else { throw RelataError.notFound(object) }
            if stored != .integer(1) { throw RelataError.ignoredUpdate(of: key, in: table) }
        } catch {
            throw try ConstraintErrors(connection, schema: schema).translate(error, object: object, table: table) {
                values
            }
        }
    }

    /// Records the list of an object, if its length matters.
    func noteOwner(of reference: Reference, from key: KeyValue) throws {
        guard reference.minimumCount != nil || reference.maximumCount != nil else { return }
        let (table, target) = (schema.tables[reference.source], schema.tables[reference.target])
        let sql =
            "SELECT \(rowSQL.dialect.list(reference.columns)) FROM \(rowSQL.quote(table.sqlName)) WHERE "
            + rowSQL.matches(table.keyColumnNames, from: 1)
        let owners = try connection.values(
            SQLStatement(sql, key.values.map(Parameter.value)), types: target.keyColumns.map { target.columns[$0].type }
        )
        guard let owner = owners.first, !owner.contains(.null) else { return }
        counted.noteOwner(KeyValue(owner), of: reference, in: schema)
    }
}
