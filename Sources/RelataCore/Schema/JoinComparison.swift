// The comparison of the keys in a join table with those of their objects.

extension Join {
    /// The columns that hold the key of one side, and those that hold the other's.
    package func columns(isSource: Bool) -> (own: [String], other: [String]) {
        isSource ? (sourceColumns, targetColumns) : (targetColumns, sourceColumns)
    }

    /// The comparison of one side's columns with the key of its objects.
    package func comparison(isSource: Bool) -> KeyComparison { isSource ? sourceComparison : targetComparison }

    /// The entity of one side, as a number in ``Schema/tables``.
    package func entity(isSource: Bool) -> Int { isSource ? source : target }

    /// Whether both sides hold keys that any comparison finds, as in all tables that Relata creates.
    package var comparesAsDeclared: Bool { sourceComparison == .equal && targetComparison == .equal }
}

extension Schema {
    /// The rows of a join table, in SQL: its columns by their names, and the keys just as the objects hold them.
    ///
    /// If the objects' rules compare a side, rows without an object are left out, and rows for the same two objects
    /// count once.
    package func rows(of join: Join, _ dialect: Dialect) -> String {
        let table = join.joinedFrom?.rows ?? dialect.quote(join.table)
        if join.comparesAsDeclared { return table }
        let names = join.sourceColumns + join.targetColumns
        let keys = keys(of: join, isSource: true, dialect) + keys(of: join, isSource: false, dialect)
        let columns = zip(keys, names).map { "\($0) AS \(dialect.quote($1))" }
        let places = [join.orderColumn, join.inverseOrderColumn].compactMap { $0 }.map {
            "min(j.\(dialect.quote($0))) AS \(dialect.quote($0))"
        }
        let sides = [true, false].filter { join.comparison(isSource: $0) != .equal }.map { isSource in
            " JOIN \(target(of: join, isSource: isSource, dialect)) ON \(refers(join, isSource: isSource, "j", dialect))"
        }
        return
            "(SELECT \((columns + places).joined(separator: ", ")) FROM \(table) AS j\(sides.joined()) "
            + "GROUP BY \(keys.joined(separator: ", ")))"
    }

    /// Selects the keys at both sides of a join's rows: as the objects store them, or as the row stores them if the
    /// object doesn't exist.
    ///
    /// The names that ``keys(of:isSource:_:)`` returns are columns of the result.
    func keysInRows(of join: Join, _ dialect: Dialect) -> String {
        var tables = ""
        var columns: [String] = []
        for isSource in [true, false] {
            let held = join.columns(isSource: isSource).own.map { "j.\(dialect.quote($0))" }
            if join.comparison(isSource: isSource) == .equal {
                columns += held
                continue
            }
            tables += " LEFT JOIN \(target(of: join, isSource: isSource, dialect)) "
            tables += "ON \(refers(join, isSource: isSource, "j", dialect))"
            columns += zip(keys(of: join, isSource: isSource, dialect), held).map { "coalesce(\($0), \($1))" }
        }
        return "SELECT DISTINCT \(columns.joined(separator: ", ")) FROM \(dialect.quote(join.table)) AS j\(tables)"
    }

    /// Whether a row of a join table refers to an object of one side, which is called as ``target(of:isSource:_:)``
    /// says.
    package func refers(_ join: Join, isSource: Bool, _ row: String, _ dialect: Dialect) -> String {
        dialect.matches(
            tables[join.entity(isSource: isSource)].keyColumnNames, of: Self.alias(isSource: isSource),
            join.columns(isSource: isSource).own, of: row)
    }

    /// The table of one side of a join with a name for its rows.
    package func target(of join: Join, isSource: Bool, _ dialect: Dialect) -> String {
        "\(tables[join.entity(isSource: isSource)].rows(dialect)) AS \(Self.alias(isSource: isSource))"
    }

    /// The columns of one side's key: the object's own if the two may differ.
    package func keys(of join: Join, isSource: Bool, _ dialect: Dialect) -> [String] {
        let isOwn = join.comparison(isSource: isSource) != .equal
        let columns =
            isOwn ? tables[join.entity(isSource: isSource)].keyColumnNames : join.columns(isSource: isSource).own
        let alias = isOwn ? Self.alias(isSource: isSource) : "j"
        return columns.map { "\(alias).\(dialect.quote($0))" }
    }

    private static func alias(isSource: Bool) -> String { isSource ? "relata_source" : "relata_target" }
}
