/// The objects to be deleted.
package enum DeletionRoots: Hashable, Sendable {
    /// The objects with these keys; missing ones are skipped.
    case keys([KeyValue])
    /// The objects whose key columns the query selects.
    case query(SQLStatement)
}

/// Writes the statements of one deletion. Each handles all rows of its kind at once, so that their number depends on
/// the schema alone.
package struct DeletionSQL: Sendable {
    /// The tables that the deletion can reach.
    package let graph: DeletionGraph
    /// The objects asked for.
    package let roots: DeletionRoots
    /// The doomed keys by entity, if they are known already. The statements find the others by a query.
    package var lists: [Int: KeyList] = [:]
    let dialect: Dialect

    /// Starts with no key known.
    package init(_ graph: DeletionGraph, roots: DeletionRoots, dialect: Dialect) {
        self.graph = graph
        self.roots = roots
        self.dialect = dialect
    }

    var schema: Schema { graph.schema }

    /// Whether an entity is known to lose no objects.
    package func isEmpty(_ entity: Int) -> Bool { !graph.contains(entity) || lists[entity]?.isEmpty == true }

    /// Selects the doomed keys of a group of ``DeletionGraph/groups``: first the entity's number, then the key's
    /// columns; see ``places(of:)``.
    package func closure(of group: [Int]) -> SQLStatement { closure(of: group, along: inner(group)[...], from: nil) }

    /// The positions of an entity's key columns in the result of ``closure(of:)``, the entity's number being column 0.
    /// On PostgreSQL, keys of different types have separate columns.
    package func places(of group: [Int]) -> [Int: [Int]] {
        ClosureColumns(of: group, in: schema, dialect).places.mapValues { $0.map { $0 + 1 } }
    }

    /// The cascades within a group, in parts that are small enough for one statement each.
    package func parts(of group: [Int]) -> [ArraySlice<DeletionEdge>] {
        let edges = inner(group)
        return stride(from: 0, to: edges.count, by: Self.maximumTerms).map {
            edges[$0..<min($0 + Self.maximumTerms, edges.count)]
        }
    }

    /// The number of queries that one statement combines; SQLite accepts 500.
    private static let maximumTerms = 200

    private func inner(_ group: [Int]) -> [DeletionEdge] {
        let members = Set(group)
        return group.flatMap { graph.cascades(to: $0) }.filter { members.contains($0.from) }
    }

    /// The closure along some of the cascades within the group, from the known keys, or from outside.
    package func closure(
        of group: [Int], along edges: ArraySlice<DeletionEdge>, from known: [Int: KeyList]?
    ) -> SQLStatement {
        // From known keys, the roots aren't queried again.
        var builder = known == nil ? builder() : Builder(dialect: dialect, parameters: [])
        let columns = ClosureColumns(of: group, in: schema, dialect)
        var seeds: [String] = []
        for entity in group {
            if let known {
                guard let keys = known[entity], !keys.isEmpty else { continue }
                let row = columns.row(entity, (0..<keys.width).map { "c\($0)" }, dialect)
                let list = builder.rows(keys, of: schema.tables[entity])
                seeds.append("SELECT \(row) FROM \(list) AS relata_list")
                continue
            }
            if entity == graph.root {
                let condition = rootCondition(&builder)
                seeds.append("SELECT \(row(entity, columns)) FROM \(table(entity)) AS x WHERE \(condition)")
            }
            for edge in graph.cascades(to: entity) where !group.contains(edge.from) && !isEmpty(edge.from) {
                let condition = reached(along: edge, &builder)
                seeds.append("SELECT \(row(entity, columns)) FROM \(table(entity)) AS x WHERE \(condition)")
            }
        }
        guard !seeds.isEmpty else { return SQLStatement("SELECT 0 WHERE \(dialect.never)", []) }
        let start = Self.union(seeds)
        if edges.isEmpty { return SQLStatement(start, builder.parameters) }
        var links: [String] = []
        let steps = edges.map { step(along: $0, columns, &links) }
        let names = columns.names.joined(separator: ", ")
        // If a recursive query may name the rows found so far only once, all steps share one name.
        let terms =
            dialect.repeatsRecursion
            ? ([start] + steps).joined(separator: " UNION ")
            : "\(start) UNION SELECT relata_step.* FROM relata_doomed CROSS JOIN LATERAL "
                + "(\(steps.joined(separator: " UNION ALL "))) AS relata_step"
        let tables = (links + ["relata_doomed(entity, \(names)) AS (\(terms))"]).joined(separator: ", ")
        return SQLStatement(
            "WITH RECURSIVE \(tables) SELECT entity, \(names) FROM relata_doomed", builder.parameters)
    }

    /// The rows of several queries, each once.
    private static func union(_ queries: [String]) -> String {
        if queries.count <= maximumTerms { return queries.joined(separator: " UNION ") }
        let parts = stride(from: 0, to: queries.count, by: maximumTerms).map {
            "SELECT * FROM (\(queries[$0..<min($0 + maximumTerms, queries.count)].joined(separator: " UNION "))) AS relata_part"
        }
        return union(parts)
    }

    /// Selects the blockers of one relationship: the blocker's key, then the key of the doomed object.
    package func blockers(_ edge: DeletionEdge) -> SQLStatement {
        var builder = builder()
        let condition = isDoomed(edge.from, &builder)
        let other = key(of: edge.to)
        // From one doomed object to the next: collecting the keys of all in a list first would take longer.
        var source = "\(table(edge.from)) AS x JOIN "
        switch edge.path {
        case .referring(let number):
            source += "\(table(edge.to)) AS o ON \(refers("o", to: "x", schema.foreignKeys[number]))"
        case .referred(let number):
            let columns = schema.foreignKeys[number].columns
            source += "\(table(edge.to)) AS o ON \(dialect.areSame(other, of: "o", columns, of: "x"))"
        case .join(let number, let isSource):
            let (near, far) = schema.joins[number].columns(isSource: isSource)
            source +=
                "\(schema.rows(of: schema.joins[number], dialect)) AS s "
                + "ON \(dialect.areSame(near, of: "s", key(of: edge.from), of: "x")) "
                + "JOIN \(table(edge.to)) AS o ON \(dialect.areSame(other, of: "o", far, of: "s"))"
        }
        let spared = graph.contains(edge.to) ? " AND " + stays("o", of: edge.to, &builder) : ""
        return SQLStatement(
            "SELECT \(list(other, "o")), \(list(key(of: edge.from), "x")) FROM \(source) WHERE \(condition)\(spared)",
            builder.parameters)
    }

    /// Selects the rows whose deletion can't be planned: the key of the referring row, then the key of the row that it
    /// refers to.
    package func conflicts(_ conflict: DeletionConflict) -> SQLStatement {
        var builder = builder()
        let key = schema.foreignKeys[conflict.key]
        let columns = "SELECT \(list(self.key(of: key.source), "o")), \(list(self.key(of: key.target), "x"))"
        let (source, target) = ("\(table(key.source)) AS o", "\(table(key.target)) AS x")
        switch conflict.reason {
        case .exceptions:
            let isDoomed = isDoomed(key.target, &builder)
            let refers = refers("o", to: "x", key)
            let isChecked = dialect.areSame(key.targetColumns, of: "x", key.columns, of: "o")
            let isFound = zip(key.targetColumns, key.columns).map {
                // SQLite's actions compare the value of the deleted row without affinity, unless it is its rowid.
                let isNumber = schema.tables[key.target].entity.isKeyAssigned && [$0] == self.key(of: key.target)
                return "\(isNumber ? "" : "+")x.\(dialect.quote($0)) = o.\(dialect.quote($1))"
            }.joined(separator: " AND ")
            if key.unsupportedAction == .setsDefault {
                // The default may refer by other rules, whether the row is deleted afterwards or not.
                return SQLStatement(
                    "\(columns) FROM \(source) CROSS JOIN \(target) WHERE (\(refers) OR \(isChecked) OR \(isFound)) "
                        + "AND \(isDoomed)", builder.parameters)
            }
            let (outer, inner) = ("\(source) CROSS JOIN \(target)", "\(target) CROSS JOIN \(source)")
            return SQLStatement(
                "\(columns) FROM \(outer) WHERE \(refers) AND NOT (\(isChecked) AND \(isFound)) AND \(isDoomed)"
                    + " UNION \(columns) FROM \(inner) WHERE \(isDoomed) AND \(isChecked) AND NOT (\(refers))"
                    + " UNION \(columns) FROM \(inner) WHERE \(isDoomed) AND \(isFound) AND NOT (\(refers))",
                builder.parameters)
        case .converted(let column):
            let value = "x.\(dialect.quote(column.name))"
            let other = "CAST(\(value) AS \(column.isNumber ? "NUMERIC" : "TEXT"))"
            let isConverted =
                column.isNumber
                ? "typeof(\(value)) = 'text' AND \(value) = \(other)" : "typeof(\(value)) IN ('integer', 'real')"
            let refers = zip(key.targetColumns, key.columns).map {
                let (own, held) = ("x.\(dialect.quote($0))", "o.\(dialect.quote($1))")
                if !$0.isSameName(as: column.name) { return "\(own) = +\(held)" }
                return "(\(own) = +\(held) OR \(other) = +\(held) OR \(other) = \(held))"
            }.joined(separator: " AND ")
            return SQLStatement(
                "\(columns) FROM \(target) CROSS JOIN \(source) "
                    + "WHERE \(isConverted) AND \(isDoomed(key.target, &builder)) AND \(refers)", builder.parameters)
        case .sharedColumn(let number):
            let isDoomed = isDoomed(key.target, &builder)
            let other = refersToDoomed("o", schema.foreignKeys[number], &builder)
            return SQLStatement(
                "\(columns) FROM \(target) JOIN \(source) ON \(refers("o", to: "x", key)) "
                    + "WHERE \(isDoomed) AND \(other)", builder.parameters)
        case .unsetTarget(let number):
            let unset = schema.foreignKeys[number]
            let condition = refersToDoomed("x", unset, &builder)
            return SQLStatement(
                "\(columns) FROM \(target) JOIN \(source) ON \(refers("o", to: "x", key)) WHERE \(condition)",
                builder.parameters)
        }
    }

    /// Selects the objects that stay with too few members in a list: their keys, and the number of remaining members.
    package func shortages(_ list: CountedList) -> SQLStatement {
        var builder = builder()
        let owner = key(of: list.owner)
        let step = schema.step(along: list.link, from: schema.tables[list.owner], dialect) { table($0.index) }
        let rows = step.rows
        let doomed = doomed(list.member, &builder)
        var condition =
            "\(dialect.tuple(owner, of: "o")) IN (SELECT \(self.list(step.near, "y")) FROM \(rows) AS y "
            + "WHERE \(dialect.tuple(step.far, of: "y")) IN \(doomed))"
        if !isEmpty(list.owner) {
            condition += " AND \(dialect.tuple(owner, of: "o")) NOT IN \(self.doomed(list.owner, &builder))"
        }
        let remaining =
            "(SELECT count(*) FROM \(rows) AS s WHERE \(dialect.areSame(step.near, of: "s", owner, of: "o")) "
            + "AND \(dialect.tuple(step.far, of: "s")) NOT IN \(doomed))"
        let columns = self.list(owner, "o")
        let minimum = builder.bind(.integer(Int64(list.minimum)), as: .integer)
        return SQLStatement(
            "SELECT \(columns), \(remaining) FROM \(table(list.owner)) AS o WHERE \(condition) AND \(remaining) < \(minimum)",
            builder.parameters)
    }

    /// Selects the keys of the objects that stay while the target of one of their foreign keys is deleted.
    package func unset(_ foreignKey: SchemaForeignKey) -> SQLStatement {
        var builder = builder()
        let condition = losesTarget(foreignKey, of: "x", &builder)
        return SQLStatement(
            "SELECT \(list(key(of: foreignKey.source), "x")) FROM \(table(foreignKey.source)) AS x WHERE \(condition)",
            builder.parameters)
    }

    /// Selects the doomed keys of an entity without a known list.
    package func doomed(_ entity: Int) -> SQLStatement {
        var builder = builder()
        return SQLStatement(selection(of: entity, &builder), builder.parameters)
    }

    /// Counts the existing objects of a list.
    package func remaining(_ entity: Int, among keys: KeyList) -> SQLStatement {
        var builder = Builder(dialect: dialect, parameters: [])
        return SQLStatement(
            "SELECT count(*) FROM \(table(entity)) AS x WHERE \(dialect.tuple(key(of: entity), of: "x")) "
                + "IN \(builder.rows(keys, of: schema.tables[entity]))", builder.parameters)
    }

    /// Counts the objects of a list whose foreign key is unset.
    package func unsetCount(_ key: SchemaForeignKey, among keys: KeyList) -> SQLStatement {
        var builder = Builder(dialect: dialect, parameters: [])
        let unset = key.unsetColumns.map { "x.\(dialect.quote($0)) IS NULL" }.joined(separator: " AND ")
        return SQLStatement(
            "SELECT count(*) FROM \(table(key.source)) AS x WHERE \(unset) "
                + "AND \(dialect.tuple(self.key(of: key.source), of: "x")) IN \(builder.rows(keys, of: schema.tables[key.source]))",
            builder.parameters)
    }

    /// Unsets the references of doomed rows, or, if a key is required and leads to the same entity, points them at the
    /// rows themselves; `nil` if neither is possible.
    package func untie(_ foreignKey: SchemaForeignKey) -> SQLStatement? {
        guard schema.isLoose(foreignKey) else { return nil }
        var builder = builder()
        let optional = foreignKey.optionalColumns.map { "\(dialect.quote($0)) = NULL" }
        let changes =
            optional.isEmpty
            ? zip(foreignKey.columns, foreignKey.targetColumns).map { "\(dialect.quote($0)) = \(dialect.quote($1))" }
            : optional
        let condition = isDoomed(foreignKey.source, &builder)
        return SQLStatement(
            "UPDATE \(table(foreignKey.source)) AS x SET \(changes.joined(separator: ", ")) WHERE \(condition)",
            builder.parameters)
    }
}
