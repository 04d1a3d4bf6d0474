import RelataCore

/// References that lead nowhere.
extension IntegrityCheck {
    mutating func checkTargets(of reference: Reference) throws(RelataError) {
        guard reference.isEnforced else { return }  // its rule lets it dangle
        let source = schema.tables[reference.source]
        let target = schema.tables[reference.target]
        let dangles = dangling(reference.columns, target)
        let key = source.keyColumnNames
        let (count, samples) = try list(
            "SELECT \(list(key, of: "x")), \(list(reference.columns, of: "x")) FROM \(quote(source.sqlName)) AS x "
                + "WHERE \(dangles)", keyTypes(source) + keyTypes(target)
        ) { "\(object($0, source)) → \(KeyValue(Array($0[key.count...])))" }
        guard count > 0 else { return }
        let table = quote(source.sqlName)
        let unset = reference.columns.map { "\(quote($0)) = NULL" }.joined(separator: ", ")
        let mend =
            reference.isOptional
            ? "unset \(count == 1 ? "it" : "them"): UPDATE \(table) AS x SET \(unset) WHERE \(dangles)"
            : "or delete \(count == 1 ? "the object" : "the objects"): DELETE FROM \(table) AS x WHERE \(dangles)"
        add(
            .danglingReference, "\(source.name).\(reference.property)", count,
            "\(count) \(count == 1 ? "reference" : "references") to \(target.name) \(count == 1 ? "leads" : "lead") "
                + "nowhere (\(sampled(samples, of: count)))",
            mend: "save what is missing, " + (reference.isOptional ? "or " : "") + mend)
    }

    mutating func checkTargets(of join: Join) throws(RelataError) {
        for (columns, number) in [(join.sourceColumns, join.source), (join.targetColumns, join.target)] {
            let target = schema.tables[number]
            let dangles = dangling(columns, target)
            let (count, samples) = try list(
                "SELECT \(list(columns, of: "x")) FROM \(quote(join.table)) AS x WHERE \(dangles)", keyTypes(target)
            ) { object($0, target) }
            guard count > 0 else { continue }
            add(
                .danglingReference, "\(schema.tables[join.source].name).\(join.property)", count,
                "\(count) \(count == 1 ? "row" : "rows") of \(join.table) \(count == 1 ? "leads" : "lead") nowhere "
                    + "(\(sampled(samples, of: count)))",
                mend: "delete \(count == 1 ? "it" : "them"): DELETE FROM \(quote(join.table)) AS x WHERE \(dangles)")
        }
    }

    /// Whether the row `x` refers to an object that isn't there.
    private func dangling(_ columns: [String], _ target: Table) -> String {
        "\(dialect.areSet(columns, of: "x")) AND NOT EXISTS (SELECT 1 FROM \(quote(target.sqlName)) AS t "
            + "WHERE \(dialect.areSame(target.keyColumnNames, of: "t", columns, of: "x")))"
    }

    /// Foreign keys that are no relationship, because they don't point at a primary key.
    mutating func checkOtherForeignKeys() throws(RelataError) {
        var known: Set<[String]> = []
        for reference in schema.references {
            known.insert(Self.name(schema.tables[reference.source].sqlName, reference.columns))
        }
        for join in schema.joins {
            known.insert(Self.name(join.table, join.sourceColumns))
            known.insert(Self.name(join.table, join.targetColumns))
        }
        for table in try Introspection.tables(of: connection) {
            for key in table.foreignKeys where !known.contains(Self.name(table.name, key.columns)) {
                try check(key, of: table)
            }
        }
    }

    private mutating func check(_ key: ForeignKeyDescription, of table: TableDescription) throws(RelataError) {
        let subject = "\(table.name).\(key.columns.joined(separator: ", "))"
        let isThere = try connection.value(
            SQLStatement(
                "SELECT 1 FROM temp.pragma_table_list WHERE schema = 'main' AND name = ?1 COLLATE NOCASE",
                [.value(.text(key.target))]))
        // Without columns the key points at a primary key, which a table need not have.
        if isThere != nil, key.targetColumns.count != key.columns.count { return }
        let dangles =
            dialect.areSet(key.columns, of: "x")
            + (isThere == nil
                ? ""
                : " AND NOT EXISTS (SELECT 1 FROM \(quote(key.target)) AS t "
                    + "WHERE \(dialect.areSame(key.targetColumns, of: "t", key.columns, of: "x")))")
        let (count, samples) = try list(
            "SELECT \(list(key.columns, of: "x")) FROM \(quote(table.name)) AS x WHERE \(dangles)", []
        ) { KeyValue($0).description }
        guard count > 0 else { return }
        add(
            .danglingReference, subject, count,
            "\(count) \(count == 1 ? "row refers" : "rows refer") to \(key.target), where there is no such row"
                + " (\(sampled(samples, of: count)))",
            mend: isThere == nil
                ? "make the table \(key.target), or drop the foreign key"
                : "insert what is missing, or change the rows that SELECT * FROM \(quote(table.name)) AS x "
                    + "WHERE \(dangles) shows")
    }

    private static func name(_ table: String, _ columns: [String]) -> [String] {
        [table.lowercased()] + columns.map { $0.lowercased() }.sorted()
    }
}
