/// Writes the edits on to-manys and has-ones, after all rows of a save are there.
struct LinkWriter {
    let session: SaveSession

    private var schema: Schema { session.catalog.schema }
    private var connection: Connection { session.connection }

    /// The edits of one link of one object, in their order.
    struct Group {
        let owner: KeyValue
        let link: CatalogLink
        var changes: [LinkOperation.Change] = []
        /// The list as it was before anything was written; only for ordered links.
        var list: OrderedList?
    }

    /// Writes edits in the order they were made.
    func write(_ groups: [Group]) throws {
        for group in groups {
            switch group.link.link {
            case .inverse(let number): try write(group, to: schema.references[number])
            case .join(let number, let isSource): try write(group, to: schema.joins[number], isSource: isSource)
            case .reference, .through: break  // not edited as lists
            }
        }
    }

    private func key(_ key: NodeKey) throws -> KeyValue {
        guard let value = session.keyValue(key) else {
            throw RelataError.invalidUse("a linked object has no key after it was saved")
        }
        return value
    }

    // MARK: One-to-many and one-to-one

    private func write(_ group: Group, to reference: Reference) throws {
        var list = group.list
        var released: Set<KeyValue> = []
        /// The reference of an object of the session was written with its row, unless an edit has released it since.
        func join(_ member: NodeKey) throws {
            let key = try key(member)
            if case .key = member {} else if !released.contains(key) { return }
            released.remove(key)
            try session.setReference(reference, of: key, to: group.owner)
        }
        for change in group.changes {
            switch change {
            case .add(let member):
                try join(member)
                list?.append(try key(member))
            case .place(let member, let after):
                try join(member)
                try list?.place(try key(member), after: try after.map(key), in: group.link.name)
            case .remove(let member):
                try free(reference, from: group.owner, only: member)
                released.insert(member)
                list?.remove(member)
            case .set(let members):
                let keys = try members.map(key)
                try free(reference, from: group.owner, except: keys)
                for member in members { try join(member) }
                list?.set(keys)
            }
        }
        guard let column = reference.orderColumn, let list else { return }
        let table = schema.tables[reference.source]
        for (key, position) in list.changedPositions() {
            let bump = RowSQL.touch(table, parameter: key.values.count + 2)
            try connection.run(
                SQLStatement(
                    "UPDATE \(RowSQL.quote(table.sqlName)) SET \(RowSQL.quote(column)) = ?1\(bump.sql) WHERE "
                        + RowSQL.matches(table.keyColumnNames, from: 2),
                    ([.integer(position)] + key.values + (bump.needsNow ? [table.stampValue(session.now)] : []))
                        .map(Parameter.value)))
        }
    }

    /// Unsets the reference of those that have this target: all, all but some, or one.
    func free(_ reference: Reference, from owner: KeyValue, except: [KeyValue]? = nil, only: KeyValue? = nil) throws {
        let table = schema.tables[reference.source]
        var condition = RowSQL.matches(reference.columns, from: 1)
        var parameters = owner.values.map(Parameter.value)
        if let only {
            condition += " AND " + RowSQL.matches(table.keyColumnNames, from: parameters.count + 1)
            parameters += only.values.map(Parameter.value)
        } else if let except, !except.isEmpty {
            let columns = table.keyColumnNames.map(RowSQL.quote).joined(separator: ", ")
            let list = Dialect.sqlite.rows(ofParameter: parameters.count + 1, columns: table.keyColumns.count)
            condition += " AND (\(columns)) NOT IN \(list)"
            parameters.append(.keys(except))
        }
        guard reference.isOptional else {
            let sql = SQLStatement("SELECT 1 FROM \(RowSQL.quote(table.sqlName)) WHERE \(condition) LIMIT 1", parameters)
            if try connection.value(sql) == nil { return }
            throw RelataError.requiredReference(
                entity: table.name, property: reference.property,
                hint: "a \(table.name) can't be without one: move it to another, or delete it")
        }
        session.counted.noteOwner(owner, of: reference, in: schema)
        let bump = RowSQL.touch(table, parameter: parameters.count + 1)
        if bump.needsNow { parameters.append(.value(table.stampValue(session.now))) }
        let assignments = reference.columns.map { "\(RowSQL.quote($0)) = NULL" }.joined(separator: ", ")
        try connection.run(
            SQLStatement(
                "UPDATE \(RowSQL.quote(table.sqlName)) SET \(assignments)\(bump.sql) WHERE \(condition)", parameters))
    }

    // MARK: Many-to-many

    private func write(_ group: Group, to join: Join, isSource: Bool) throws {
        let side = JoinSide(join, isSource: isSource)
        var list = group.list
        session.counted.noteSides(of: join, isSource ? group.owner : nil, isSource ? nil : group.owner)
        func add(_ member: KeyValue) throws {
            session.counted.noteSides(of: join, isSource ? nil : member, isSource ? member : nil)
            let columns = (side.own + side.other).map(RowSQL.quote).joined(separator: ", ")
            let values = group.owner.values + member.values
            let sql =
                "INSERT INTO \(RowSQL.quote(join.table)) (\(columns)) VALUES ("
                + values.indices.map { "?\($0 + 1)" }.joined(separator: ", ") + ") ON CONFLICT DO NOTHING"
            do {
                try connection.run(SQLStatement(sql, values.map(Parameter.value)))
            } catch RelataError.database(let code, _, _) where Int32(code) == SQLITE_CONSTRAINT_FOREIGNKEY_ {
                throw RelataError.invalidReference(
                    entity: schema.tables[isSource ? join.source : join.target].name, property: group.link.name, key: member)
            }
        }
        func remove(_ condition: String, _ parameters: [Parameter]) throws {
            try connection.run(
                SQLStatement(
                    "DELETE FROM \(RowSQL.quote(join.table)) WHERE " + RowSQL.matches(side.own, from: 1) + condition,
                    group.owner.values.map(Parameter.value) + parameters))
        }
        let next = group.owner.values.count + 1
        for change in group.changes {
            switch change {
            case .add(let member):
                try add(try key(member))
                list?.append(try key(member))
            case .place(let member, let after):
                try add(try key(member))
                try list?.place(try key(member), after: try after.map(key), in: group.link.name)
            case .remove(let member):
                session.counted.noteSides(of: join, isSource ? nil : member, isSource ? member : nil)
                try remove(" AND " + RowSQL.matches(side.other, from: next), member.values.map(Parameter.value))
                list?.remove(member)
            case .set(let members):
                let keys = try members.map(key)
                let columns = side.other.map(RowSQL.quote).joined(separator: ", ")
                let rows = Dialect.sqlite.rows(ofParameter: next, columns: side.other.count)
                try remove(keys.isEmpty ? "" : " AND (\(columns)) NOT IN \(rows)", keys.isEmpty ? [] : [.keys(keys)])
                for key in keys { try add(key) }
                list?.set(keys)
            }
        }
        guard let column = side.order, let list else { return }
        for (key, position) in list.changedPositions() {
            try connection.run(
                SQLStatement(
                    "UPDATE \(RowSQL.quote(join.table)) SET \(RowSQL.quote(column)) = ?1 WHERE "
                        + RowSQL.matches(side.own + side.other, from: 2),
                    ([.integer(position)] + group.owner.values + key.values).map(Parameter.value)))
        }
    }
}

/// A join table seen from one side.
struct JoinSide {
    let own: [String]
    let other: [String]
    let order: String?

    init(_ join: Join, isSource: Bool) {
        own = isSource ? join.sourceColumns : join.targetColumns
        other = isSource ? join.targetColumns : join.sourceColumns
        order = isSource ? join.orderColumn : join.inverseOrderColumn
    }
}
