import RelataCore

/// Checks of the declarations about keys, uniqueness, counts and order.
extension IntegrityCheck {
    // MARK: Keys and uniqueness

    /// SQLite lets a primary key be `NULL`, unless it is the rowid.
    mutating func checkKey(of table: Table) throws(RelataError) {
        guard !table.entity.isKeyAssigned, table.entity.source?.kind.isTable != false else { return }
        let missing = table.keyColumnNames.map { "\(quote($0)) IS NULL" }.joined(separator: " OR ")
        let (count, _) = try list("SELECT 1 FROM \(table.rows(dialect)) AS x WHERE \(missing)", []) { _ in "" }
        guard count > 0 else { return }
        add(
            .missingKey, "\(table.name).\(table.entity.key.joined(separator: ", "))", count,
            "\(count) \(count == 1 ? "object has" : "objects have") no key",
            fix: "give each its own key, or delete them: DELETE FROM \(table.stored(dialect)) WHERE \(missing)")
    }

    mutating func checkUniques(of table: Table) throws(RelataError) {
        let toOnes = schema.references.filter { $0.source == table.index && $0.isUnique }.map { [$0.property] }
        var seen: Set<[String]> = [table.entity.key]
        for properties in table.entity.uniques + toOnes where seen.insert(properties).inserted {
            let columns = properties.flatMap(table.columnIndexes(of:))
            let names = columns.map { table.columns[$0].name }
            let (count, samples) = try list(
                "SELECT \(list(names, of: "x")), count(*) FROM \(table.rows(dialect)) AS x "
                    + "WHERE \(dialect.areSet(names, of: "x")) GROUP BY \(list(names, of: "x")) HAVING count(*) > 1",
                columns.map { table.columns[$0].type }
            ) { "\(KeyValue(Array($0.dropLast()))): \($0[names.count]) times" }
            guard count > 0 else { continue }
            let subject = "\(table.name).\(properties.joined(separator: ", "))"
            add(
                .duplicate, subject, count,
                "\(count) \(count == 1 ? "value that should be unique is" : "values that should be unique are") "
                    + "there several times (\(sampled(samples, of: count)))",
                fix: "give each object its own value, or delete all but one of those that SELECT * FROM "
                    + "\(table.stored(dialect)) WHERE (\(names.map(quote).joined(separator: ", "))) IN (SELECT "
                    + "\(names.map(quote).joined(separator: ", ")) FROM \(table.stored(dialect)) GROUP BY "
                    + "\(names.map(quote).joined(separator: ", ")) HAVING count(*) > 1) shows")
        }
    }

    // MARK: Counts

    /// One side of a relationship that may hold several objects.
    struct List {
        /// `Author.books`.
        let subject: String
        let owner: Table
        /// The rows that are its members and the table that holds them, both in SQL, and their columns with the owner's
        /// key.
        let rows: String
        let table: String
        let columns: [String]
        /// The columns that identify a row.
        let key: [String]
        var minimum: Int?
        var maximum: Int?
        /// The column that orders it.
        var order: String?
        /// The position of rows that were never placed in this list; `NULL` if there is none.
        var unplaced: Int?
    }

    /// The view of a reference, if it is declared.
    func lists(of reference: Reference) -> [List] {
        guard let inverse = reference.inverse else { return [] }
        let (source, target) = (schema.tables[reference.source], schema.tables[reference.target])
        return [
            List(
                subject: "\(target.name).\(inverse)", owner: target, rows: source.rows(dialect),
                table: source.stored(dialect),
                columns: reference.columns,
                key: source.keyColumnNames, minimum: reference.minimumCount, maximum: reference.maximumCount,
                // The model's own attribute is set by the app, and equal values are ordered by key.
                order: reference.isOrderStored ? reference.orderColumn : nil)
        ]
    }

    /// Both sides of a many-to-many, if they are declared.
    func lists(of join: Join) -> [List] {
        let (source, target) = (schema.tables[join.source], schema.tables[join.target])
        let key = join.sourceColumns + join.targetColumns
        let rows = schema.rows(of: join, dialect)
        let first = List(
            subject: "\(source.name).\(join.property)", owner: source, rows: rows, table: join.stored(dialect),
            columns: join.sourceColumns, key: key, minimum: join.minimumCount, maximum: join.maximumCount,
            order: join.orderColumn, unplaced: 0)
        guard let inverse = join.inverse else { return [first] }
        let second = List(
            subject: "\(target.name).\(inverse)", owner: target, rows: rows, table: join.stored(dialect),
            columns: join.targetColumns, key: key, minimum: join.inverseMinimumCount, maximum: join.inverseMaximumCount,
            order: join.inverseOrderColumn, unplaced: 0)
        return [first, second]
    }

    mutating func checkCounts(of list: List) throws(RelataError) {
        let (owner, minimum, maximum) = (list.owner, list.minimum, list.maximum)
        guard minimum != nil || maximum != nil else { return }
        let key = owner.keyColumnNames
        let number = "count(x.\(quote(list.columns[0])))"
        let bounds = [minimum.map { "\(number) < \($0)" }, maximum.map { "\(number) > \($0)" }].compactMap(\.self)
        let keys = self.list(key, of: "o")
        let (count, samples) = try self.list(
            "SELECT \(keys), \(number) FROM \(owner.rows(dialect)) AS o LEFT JOIN \(list.rows) AS x "
                + "ON \(dialect.areSame(list.columns, of: "x", key, of: "o")) GROUP BY \(keys) "
                + "HAVING \(bounds.joined(separator: " OR "))", keyTypes(owner)
        ) { "\(object($0, owner)) has \($0[key.count])" }
        guard count > 0 else { return }
        let wanted =
            switch (minimum, maximum) {
            case (let minimum?, let maximum?): "\(minimum) to \(maximum) objects are declared"
            case (let minimum?, nil): "at least \(minimum) \(minimum == 1 ? "object is" : "objects are") declared"
            default: "at most \(maximum ?? 0) \(maximum == 1 ? "object is" : "objects are") declared"
            }
        add(
            .count, list.subject, count, "\(wanted), but \(sampled(samples, of: count))",
            fix: "add or remove objects until the counts are right")
    }

    // MARK: Positions

    mutating func checkPositions(of list: List) throws(RelataError) {
        guard let order = list.order else { return }
        let (owner, columns) = (list.owner, list.columns)
        let own = self.list(columns, of: "x")
        let from = "FROM \(list.rows) AS x WHERE \(dialect.areSet(columns, of: "x"))"
        let position = "x.\(quote(order))"
        let missing =
            try list.unplaced == nil
            ? (count: 0, samples: [])
            : self.list("SELECT \(own), count(*) \(from) AND \(position) IS NULL GROUP BY \(own)", keyTypes(owner)) {
                "\(object($0, owner)): \($0[columns.count])"
            }
        let same = try self.list(
            "SELECT \(own), \(position), count(*) \(from) AND \(position) IS NOT NULL"
                + (list.unplaced.map { " AND \(position) <> \($0)" } ?? "")
                + " GROUP BY \(own), \(position) HAVING count(*) > 1", keyTypes(owner)
        ) { "\(object($0, owner)): \($0[columns.count + 1]) at \($0[columns.count])" }
        if missing.count > 0 {
            addPosition(
                list.subject, missing.count,
                "some members have no position (\(sampled(missing.samples, of: missing.count)))",
                numbering: list, where: "\(quote(order)) IS NULL")
        }
        if same.count > 0 {
            addPosition(
                list.subject, same.count,
                "some members have the same position (\(sampled(same.samples, of: same.count)))",
                numbering: list,
                where: "\(quote(order)) IS NOT NULL"
                    + (list.unplaced.map { " AND \(quote(order)) <> \($0)" } ?? "")
                    + " GROUP BY \(columns.map(quote).joined(separator: ", ")), \(quote(order)) HAVING count(*) > 1")
        }
    }

    /// Adds a finding about the order of some lists. They are numbered in the order in which they are read, and others
    /// stay unchanged.
    ///
    /// - Parameter condition: The condition for rows of the table whose list must be numbered.
    private mutating func addPosition(
        _ subject: String, _ count: Int, _ message: String, numbering list: List, where condition: String
    ) {
        guard let order = list.order.map(quote) else { return }
        let owner = list.columns.map(quote).joined(separator: ", ")
        let key = list.key.map(quote).joined(separator: ", ")
        // An object without a position keeps none.
        let placed = list.unplaced == nil ? " AND \(order) IS NOT NULL" : ""
        let sql =
            "UPDATE \(list.table) AS x SET \(order) = n.n FROM (SELECT \(key), \(Relationship.Order.gap) * row_number() "
            + "OVER (PARTITION BY \(owner) ORDER BY \(order) IS NULL, \(order), \(key)) AS n FROM \(list.table) "
            + "WHERE (\(owner)) IN (SELECT \(owner) FROM \(list.table) WHERE \(condition))\(placed)) AS n "
            + "WHERE \(dialect.areSame(list.key, of: "n", list.key, of: "x"))"
        add(
            .position, subject, count, message, fix: "renumber them: \(sql)",
            repair: IntegrityRepair("renumber them", [IntegrityRepair.Step(sql)]))
    }
}
