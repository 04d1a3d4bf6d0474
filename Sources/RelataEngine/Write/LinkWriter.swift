import RelataCore

/// Writes the edits on to-manys and has-ones, after all rows of a save.
package struct LinkWriter {
    private let run: WriteRun

    package init(run: WriteRun) { self.run = run }

    private var schema: Schema { run.schema }
    private var connection: Connection { run.connection }
    private var rowSQL: RowSQL { run.rowSQL }

    /// Writes edits in the order they were made.
    ///
    /// - Parameter lists: The lists of ordered links as they were before anything was written, by the edits' number.
    func write(_ edits: [LinkEdits], _ lists: [Int: OrderedList]) throws {
        // In the order in which they were found.
        var joins: [(link: Link, rows: JoinRows, batch: JoinBatch?)] = []
        for (number, edit) in edits.enumerated() {
            switch edit.link.link {
            case .inverse(let inverse):
                let reference = schema.references[inverse]
                // A deleted object may be a member.
                if reference.isUnique, reference.removeRule == .delete {
                    for join in joins { try join.batch?.write() }
                }
                try write(edit, lists[number], to: reference)
            case .join:
                let known = joins.first { $0.link == edit.link.link }
                guard let rows = known?.rows ?? JoinRows(run, edit.link) else { continue }
                let join = known ?? (edit.link.link, rows, JoinBatch(run, rows))
                if known == nil { joins.append(join) }
                if try join.batch?.take(edit, lists[number]) == true { continue }
                try join.batch?.write()
                try join.rows.write(edit, lists[number])
            case .reference, .through, .matched: break  // not edited as lists
            }
        }
        for join in joins { try join.batch?.write() }
        try deleteRemoved()
    }

    private func write(_ edits: LinkEdits, _ list: OrderedList?, to reference: Reference) throws {
        var list = list
        let owner = try run.key(edits.owner)
        var hasFreed = false
        for change in edits.changes {
            switch change {
            case .add(let member):
                try join(member, reference, owner, hasFreed)
                list?.append(try run.key(member))
            case .place(let member, let after):
                try join(member, reference, owner, hasFreed)
                try list?.place(try run.key(member), after: try after.map(run.key), in: edits.link.name)
            case .remove(let member):
                let key = try run.key(member)
                if !member.isDropped {
                    try free(reference, from: owner, only: key)
                    hasFreed = true
                }
                list?.remove(key)
            case .set(let members):
                try free(reference, from: owner, except: members.filter { !$0.isDropped }.map(run.key))
                hasFreed = true
                for member in members { try join(member, reference, owner, hasFreed) }
                list?.set(try members.map(run.key))
            }
        }
        guard let column = reference.orderColumn, var list else { return }
        let table = schema.tables[reference.source]
        let changes = list.changedPositions()
        if schema.uniquePlaces[reference.index] != nil {
            // First, members release the positions that others get.
            for key in list.holders(of: changes) {
                try place(key, at: run.nextStandIn(), column, of: table, isCounted: false)
            }
        }
        for (key, position) in changes {
            run.touch(table.index, key)
            try place(key, at: position, column, of: table, isCounted: true)
            connection.recorder?.recordPosition(key, column, reference, owner: owner)
        }
    }

    /// Writes an object's place in a list.
    ///
    /// - Parameter isCounted: Whether that is a separate change, which revisions count.
    private func place(
        _ key: KeyValue, at position: Int64, _ column: String, of table: Table, isCounted: Bool
    ) throws {
        let bump = isCounted ? rowSQL.touch(table, parameter: key.values.count + 2) : (sql: "", needsNow: false)
        let values = [.integer(position)] + key.values + (bump.needsNow ? [table.stampValue(run.now)] : [])
        do {
            try connection.run(
                SQLStatement(
                    "UPDATE \(rowSQL.quote(table.sqlName)) SET \(rowSQL.quote(column)) = \(rowSQL.dialect.parameter(1))\(bump.sql) WHERE "
                        + rowSQL.matches(table.keyColumnNames, from: 2), values.map(Parameter.value)))
        } catch {
            let object = ObjectReference(entity: table.name, key: key)
            throw try ConstraintErrors(connection, schema: schema).translate(error, object: object, table: table) { [] }
        }
    }

    /// The reference of an object of the plan was written with its row, unless an edit has freed it since.
    private func join(_ member: PlannedKey, _ reference: Reference, _ owner: KeyValue, _ hasFreed: Bool) throws {
        switch member {
        case .dropped: return
        case .row where !hasFreed: return
        case .key, .row: break
        }
        try run.setReference(reference, of: try run.key(member), to: owner, isPlaced: true)
    }

    /// Unsets the references to a target: all, all except some, or one.
    ///
    /// - Parameter isCounted: Whether that is a change of theirs, which revisions count.
    package func free(
        _ reference: Reference, from owner: KeyValue, except: [KeyValue]? = nil, only: KeyValue? = nil,
        isCounted: Bool = true
    ) throws {
        let table = schema.tables[reference.source]
        var condition = rowSQL.refers(reference, in: schema, from: 1)
        var parameters = owner.values.map(Parameter.value)
        if let only {
            condition += " AND " + rowSQL.matches(table.keyColumnNames, from: parameters.count + 1)
            parameters += only.values.map(Parameter.value)
        } else if let except, !except.isEmpty {
            let columns = table.keyColumnNames.map(rowSQL.quote).joined(separator: ", ")
            let list = rowSQL.dialect.rows(ofParameter: parameters.count + 1, types: table.keyTypes)
            condition += " AND (\(columns)) NOT IN \(list)"
            parameters.append(.keys(except))
        }
        if reference.removeRule == .delete {
            let removed = try keys(of: table, where: condition, parameters)
            run.counted.noteOwner(owner, of: reference, in: schema)
            // The place of a has-one is needed at once; an object that leaves a list may still get another owner.
            if reference.isUnique { return try delete(removed, of: table) }
            run.removed.append((reference.index, owner, removed))
            if schema.uniquePlaces[reference.index] != nil, let column = reference.orderColumn {
                // Their positions are free for those that stay.
                for key in removed { try place(key, at: run.nextStandIn(), column, of: table, isCounted: false) }
            }
            return
        }
        guard reference.isOptional else {
            let sql = SQLStatement(
                "SELECT 1 FROM \(rowSQL.quote(table.sqlName)) WHERE \(condition) LIMIT 1", parameters)
            if try connection.value(sql) == nil { return }
            throw RelataError.requiredReference(
                entity: table.name, property: reference.property,
                hint: "\(table.name.withArticle) can't be without one: move it to another, or delete it")
        }
        run.counted.noteOwner(owner, of: reference, in: schema)
        let bump = isCounted ? rowSQL.touch(table, parameter: parameters.count + 1) : (sql: "", needsNow: false)
        if bump.needsNow { parameters.append(.value(table.stampValue(run.now))) }
        let assignments = reference.columns.map { "\(rowSQL.quote($0)) = NULL" }.joined(separator: ", ")
        let keys = " RETURNING " + table.keyColumnNames.map(rowSQL.quote).joined(separator: ", ")
        let freed = try connection.values(
            SQLStatement(
                "UPDATE \(rowSQL.quote(table.sqlName)) SET \(assignments)\(bump.sql) WHERE \(condition)\(keys)",
                parameters), types: table.keyColumns.map { table.columns[$0].type })
        for key in freed {
            run.touch(table.index, KeyValue(key))
            connection.recorder?.record(
                .update, table.index, KeyValue(key), properties: [reference.property] + table.stampProperties)
        }
    }

    // MARK: Objects without an owner

    /// Deletes the objects that edits removed from lists and that still have the same owner.
    private func deleteRemoved() throws {
        for (number, edits) in Dictionary(grouping: run.removed, by: \.reference).sorted(by: { $0.key < $1.key }) {
            let reference = schema.references[number]
            let table = schema.tables[reference.source]
            let condition =
                rowSQL.refers(reference, in: schema, from: 1) + " AND \(rowSQL.dialect.tuple(table.keyColumnNames)) IN "
                + rowSQL.dialect.rows(ofParameter: reference.columns.count + 1, types: table.keyTypes)
            let orphans = try edits.flatMap { edit in
                try keys(of: table, where: condition, edit.owner.values.map(Parameter.value) + [.keys(edit.keys)])
            }
            try delete(orphans, of: table)
        }
        run.removed = []
    }

    private func keys(
        of table: Table, where condition: String, _ parameters: [Parameter]
    ) throws -> [KeyValue] {
        try connection.values(
            SQLStatement(
                "SELECT \(rowSQL.dialect.list(table.keyColumnNames)) FROM \(rowSQL.quote(table.sqlName)) "
                    + "WHERE \(condition)", parameters), types: table.keyColumns.map { table.columns[$0].type }
        ).map { KeyValue($0) }
    }

    private func delete(_ keys: [KeyValue], of table: Table) throws {
        if keys.isEmpty { return }
        // A rule requires it, and rules don't depend on the caller.
        try connection.delete(
            entity: table.index, roots: .keys(keys), schema: schema, access: .everything, now: run.now,
            isUndoneByCaller: true)
    }
}

extension ChangeRecorder {
    /// Records that an object has a new position in its owner's list: a change of its own property if it declares the
    /// position, of the owner's if the store manages it.
    func recordPosition(_ key: KeyValue, _ column: String, _ reference: Reference, owner: KeyValue) {
        let table = schema.tables[reference.source]
        let position = table.columns.first { $0.name == column }?.property
        let properties = [position].compactMap(\.self) + table.stampProperties
        if !properties.isEmpty { record(.update, table.index, key, properties: properties) }
        if position == nil, let inverse = reference.inverse {
            record(.update, reference.target, owner, properties: [inverse])
        }
    }
}
