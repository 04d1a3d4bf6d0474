import RelataCore

/// Dangling references.
extension IntegrityCheck {
    mutating func checkTargets(of reference: Reference) throws(RelataError) {
        guard reference.isEnforced else { return }  // its rule lets it dangle
        let source = schema.tables[reference.source]
        let target = schema.tables[reference.target]
        let dangles = dangling(reference.columns, target, reference.comparison)
        let stored = dangling(reference.columns, target, reference.comparison, isStored: true)
        let key = source.keyColumnNames
        let (count, samples) = try list(
            "SELECT \(list(key, of: "x")), \(list(reference.columns, of: "x")) FROM \(source.rows(dialect)) AS x "
                + "WHERE \(dangles)", keyTypes(source) + keyTypes(target)
        ) { "\(object($0, source)) → \(KeyValue(Array($0[key.count...])))" }
        guard count > 0 else { return }
        let table = source.stored(dialect)
        let unset = reference.columns.map { "\(quote($0)) = NULL" }.joined(separator: ", ")
        let fix =
            reference.isOptional
            ? "unset \(count == 1 ? "it" : "them"): UPDATE \(table) AS x SET \(unset) WHERE \(stored)"
            : "or delete \(count == 1 ? "the object" : "the objects"): DELETE FROM \(table) AS x WHERE \(stored)"
        add(
            .danglingReference, "\(source.name).\(reference.property)", count,
            "\(count) \(count == 1 ? "reference" : "references") to \(target.name) \(count == 1 ? "leads" : "lead") "
                + "nowhere (\(sampled(samples, of: count)))",
            fix: "save the missing objects, " + (reference.isOptional ? "or " : "") + fix,
            repair: unsetting(reference, where: stored, count))
    }

    /// Unsets dangling references, as the deletion of their targets would have; `nil` for required ones, and for
    /// objects that would have been deleted with their targets.
    private func unsetting(_ reference: Reference, where condition: String, _ count: Int) -> IntegrityRepair? {
        guard reference.isOptional, reference.onTargetDelete != .cascade else { return nil }
        let source = schema.tables[reference.source]
        var changes = reference.columns.map { "\(quote($0)) = NULL" }
        if reference.isOrderStored, let position = reference.orderColumn {
            changes.append("\(quote(position)) = NULL")
        }
        if let revision = source.entity.revision.flatMap(source.entity.attribute)?.column {
            changes.append("\(quote(revision)) = \(quote(revision)) + 1")
        }
        var stamp: DateEncoding?
        if let updated = source.entity.updatedAt.flatMap(source.entity.attribute),
            case .date(let encoding) = updated.type
        {
            stamp = encoding
            changes.append("\(quote(updated.column)) = \(dialect.parameter(1, as: updated.type))")
        }
        let sql =
            "UPDATE \(source.stored(dialect)) AS x SET \(changes.joined(separator: ", ")) WHERE \(condition)"
        return IntegrityRepair(
            "unset \(count == 1 ? "it" : "them")", [IntegrityRepair.Step(sql, stamp: stamp)])
    }

    mutating func checkTargets(of join: Join) throws(RelataError) {
        for isSource in [true, false] {
            let (columns, target) = (
                join.columns(isSource: isSource).own, schema.tables[join.entity(isSource: isSource)]
            )
            let dangles = dangling(columns, target, join.comparison(isSource: isSource))
            let stored = dangling(columns, target, join.comparison(isSource: isSource), isStored: true)
            let (count, samples) = try list(
                "SELECT \(list(columns, of: "x")) FROM \(join.joinedFrom?.rows ?? quote(join.table)) AS x WHERE \(dangles)",
                keyTypes(target)
            ) { object($0, target) }
            guard count > 0 else { continue }
            let summary = "delete \(count == 1 ? "it" : "them")"
            let sql = "DELETE FROM \(join.stored(dialect)) AS x WHERE \(stored)"
            add(
                .danglingReference, "\(schema.tables[join.source].name).\(join.property)", count,
                "\(count) \(count == 1 ? "row" : "rows") of \(join.table) \(count == 1 ? "leads" : "lead") nowhere "
                    + "(\(sampled(samples, of: count)))",
                fix: "\(summary): \(sql)", repair: IntegrityRepair(summary, [IntegrityRepair.Step(sql)]))
        }
    }

    /// Whether the row `x` refers to a missing object.
    ///
    /// - Parameter isStored: Whether the SQL uses the tables themselves, for a person who runs it.
    private func dangling(
        _ columns: [String], _ target: Table, _ comparison: KeyComparison, isStored: Bool = false
    ) -> String {
        let keys = target.keyColumnNames
        let isSame =
            comparison == .equal
            ? dialect.areSame(keys, of: "t", columns, of: "x") : dialect.matches(keys, of: "t", columns, of: "x")
        return
            "\(dialect.areSet(columns, of: "x")) AND NOT EXISTS (SELECT 1 FROM \(isStored ? target.stored(dialect) : target.rows(dialect)) AS t "
            + "WHERE \(isSame))"
    }

    /// Foreign keys that aren't relationships, because they don't point at a primary key or share a column with another.
    mutating func checkOtherForeignKeys() throws(RelataError) {
        var known: Set<[FoldedName]> = []
        for reference in schema.references {
            let (source, target) = (schema.tables[reference.source], schema.tables[reference.target])
            known.insert(Self.name(source.sqlName, reference.columns, target.sqlName, target.keyColumnNames))
        }
        for join in schema.joins {
            let (source, target) = (schema.tables[join.source], schema.tables[join.target])
            known.insert(Self.name(join.table, join.sourceColumns, source.sqlName, source.keyColumnNames))
            known.insert(Self.name(join.table, join.targetColumns, target.sqlName, target.keyColumnNames))
        }
        if let foreign = try connection.foreignTables() { return try checkNativeKeys(of: foreign.tables, known) }
        // Another program's table may have a name that is reserved for Relata: it is checked like others.
        let tables = try connection.driver.tables(named: nil, hidesReserved: false, connection)
        let others = try connection.driver.otherTables(connection)
        for table in tables {
            for key in table.foreignKeys {
                let target = tables.first { $0.name.isSameName(as: key.target) }
                let columns = key.targetColumns.isEmpty ? target?.primaryKey ?? [] : key.targetColumns
                if let target, let fault = Self.fault(of: key, columns, in: target) {
                    addBroken(key, of: table, fault.0, fix: fault.1)
                } else if let target {
                    guard !known.contains(Self.name(table.name, key.columns, target.name, columns)) else { continue }
                    try check(key, of: table, target.name, columns)
                } else if let kind = others.first(where: { $0.key.isSameName(as: key.target) })?.value {
                    addBroken(
                        key, of: table, "it points at \(kind), where SQLite finds no rows",
                        fix: "rebuild the table without the foreign key")
                } else if try !connection.driver.hasTable(key.target, connection) {
                    let count = findings.count
                    try check(key, of: table, nil, [])
                    // SQLite refuses to write such a table even if no row refers to anything.
                    if findings.count == count {
                        addBroken(
                            key, of: table, "there is no such table",
                            fix: "make the table \(key.target), or rebuild \(table.name) without the foreign key")
                    }
                }
            }
        }
    }

    /// The check for a server's tables, which compare their keys by themselves.
    private mutating func checkNativeKeys(
        of tables: [TableDescription], _ known: Set<[FoldedName]>
    ) throws(RelataError) {
        for table in tables {
            for key in table.foreignKeys
            where !known.contains(Self.name(table.name, key.columns, key.target, key.targetColumns)) {
                guard let native = key.native else { continue }
                let columns = native.columns.map { "o.\($0)::text" }.joined(separator: ", ")
                let (count, samples) = try list("SELECT \(columns) FROM \(native.dangling)", []) {
                    KeyValue($0).description
                }
                guard count > 0 else { continue }
                add(
                    .danglingReference, "\(table.name).\(key.columns.joined(separator: ", "))", count,
                    "\(count) \(count == 1 ? "row refers" : "rows refer") to \(key.target), where there is no such row"
                        + " (\(sampled(samples, of: count)))",
                    fix: "insert the missing rows, or change the rows that SELECT * FROM \(native.dangling) shows")
            }
        }
    }

    /// The reason why SQLite can't follow a foreign key, and the remedy.
    private static func fault(
        of key: ForeignKeyDescription, _ columns: [String], in target: TableDescription
    ) -> (String, String)? {
        if columns.count != key.columns.count {
            return (
                columns.isEmpty
                    ? "\(target.name) has no primary key that it could point at"
                    : "it has \(key.columns.count) columns, and its target has \(columns.count)",
                "rebuild the table with a foreign key that names the columns it points at"
            )
        }
        if let missing = columns.first(where: { target.column($0) == nil }) {
            return (
                "it points at \(target.name).\(missing), which doesn't exist",
                "add that column with a unique index, or rebuild the table without the foreign key"
            )
        }
        if !target.canBeReferredTo(by: key) {
            let names = columns.map { Dialect.sqlite.quote($0) }.joined(separator: ", ")
            var name = "\(target.name)_\(columns.joined(separator: "_"))"
            while target.indexes.contains(where: { $0.name.isSameName(as: name) }) { name += "_key" }
            let index = Dialect.sqlite.quote(name)
            return (
                "it points at \(target.name).\(columns.joined(separator: ", ")), "
                    + (target.isUnique(columns)
                        ? "whose unique index compares by another collation than the table" : "which isn't unique"),
                "make it unique: CREATE UNIQUE INDEX \(index) ON \(Dialect.sqlite.quote(target.name)) (\(names))"
            )
        }
        return nil
    }

    private mutating func addBroken(
        _ key: ForeignKeyDescription, of table: TableDescription, _ message: String, fix: String
    ) {
        add(
            .brokenForeignKey, "\(table.name).\(key.columns.joined(separator: ", "))", 1,
            "its foreign key to \(key.target) can't be followed: \(message)", fix: fix)
    }

    /// - Parameter target: The table that it points at; `nil` if it doesn't exist.
    private mutating func check(
        _ key: ForeignKeyDescription, of table: TableDescription, _ target: String?, _ columns: [String]
    ) throws(RelataError) {
        let dangles =
            dialect.areSet(key.columns, of: "x")
            + (target.map {
                " AND NOT EXISTS (SELECT 1 FROM \(quote($0)) AS t WHERE "
                    + dialect.matches(columns, of: "t", key.columns, of: "x") + ")"
            } ?? "")
        let (count, samples) = try list(
            "SELECT \(list(key.columns, of: "x")) FROM \(quote(table.name)) AS x WHERE \(dangles)", []
        ) { KeyValue($0).description }
        guard count > 0 else { return }
        add(
            .danglingReference, "\(table.name).\(key.columns.joined(separator: ", "))", count,
            "\(count) \(count == 1 ? "row refers" : "rows refer") to \(key.target), where there is no such row"
                + " (\(sampled(samples, of: count)))",
            fix: target == nil
                ? "make the table \(key.target), or drop the foreign key"
                : "insert the missing rows, or change the rows that SELECT * FROM \(quote(table.name)) AS x "
                    + "WHERE \(dangles) shows")
    }

    /// The identity of a foreign key: a column may have several, to several columns of one table.
    private static func name(
        _ table: String, _ columns: [String], _ target: String, _ targetColumns: [String]
    ) -> [FoldedName] {
        [table.foldedName, target.foldedName]
            + zip(columns, targetColumns).map { "\($0)\u{0}\($1)".foldedName }.sorted()
    }
}
