/// Which objects are to be deleted.
public enum DeletionRoots: Hashable, Sendable {
    /// The objects with these keys; those that don't exist are passed over.
    case keys([KeyValue])
    /// The objects whose key columns the query selects.
    case query(SQLStatement)
}

/// Writes the statements of one deletion. Each handles all rows of its kind at once, so that their number depends on
/// the schema alone.
public struct DeletionSQL: Sendable {
    /// What the deletion can reach.
    public let graph: DeletionGraph
    /// The objects asked for.
    public let roots: DeletionRoots
    /// The doomed keys by entity, where they are known already. The statements find the others by a query.
    public var lists: [Int: KeyList] = [:]
    private let dialect: Dialect

    /// Starts with no key known.
    public init(_ graph: DeletionGraph, roots: DeletionRoots, dialect: Dialect) {
        self.graph = graph
        self.roots = roots
        self.dialect = dialect
    }

    private var schema: Schema { graph.schema }

    /// Whether a deletion of an entity is known to remove nothing.
    public func isEmpty(_ entity: Int) -> Bool { !graph.contains(entity) || lists[entity]?.isEmpty == true }

    /// Selects the doomed keys of a group of ``DeletionGraph/groups``: first the entity's number, then the key's columns.
    public func closure(of group: [Int]) -> SQLStatement {
        var builder = builder()
        let width = group.map { schema.tables[$0].keyColumns.count }.max() ?? 1
        var seeds: [String] = []
        var steps: [String] = []
        for entity in group {
            if entity == graph.root {
                let condition = rootCondition(&builder)
                seeds.append("SELECT \(row(entity, width)) FROM \(table(entity)) AS x WHERE \(condition)")
            }
            for edge in graph.cascades(to: entity) {
                if group.contains(edge.from) {
                    steps.append(step(along: edge, width: width))
                } else if !isEmpty(edge.from) {
                    let condition = reached(along: edge, &builder)
                    seeds.append("SELECT \(row(entity, width)) FROM \(table(entity)) AS x WHERE \(condition)")
                }
            }
        }
        guard !seeds.isEmpty else { return SQLStatement("SELECT 0 WHERE 0", []) }
        if steps.isEmpty { return SQLStatement(seeds.joined(separator: " UNION "), builder.parameters) }
        let columns = (0..<width).map { "k\($0)" }.joined(separator: ", ")
        let terms = (seeds + steps).joined(separator: " UNION ")
        return SQLStatement(
            "WITH RECURSIVE relata_doomed(entity, \(columns)) AS (\(terms)) SELECT entity, \(columns) FROM relata_doomed",
            builder.parameters)
    }

    /// Selects what stands in the way by one relationship: the blocker's key, then the key of the doomed object.
    public func blockers(_ edge: DeletionEdge) -> SQLStatement {
        var builder = builder()
        let condition = isDoomed(edge.from, &builder)
        let other = key(of: edge.to)
        let step = step(of: edge)
        // From one doomed object to the next: to put the keys of all into a list first would take longer.
        let rows = edge.isReferring ? "o" : "s"
        var source =
            "\(table(edge.from)) AS x JOIN \(dialect.quote(step.table)) AS \(rows) "
            + "ON \(dialect.areSame(step.near, of: rows, key(of: edge.from), of: "x"))"
        if !edge.isReferring {
            source += " JOIN \(table(edge.to)) AS o ON \(dialect.areSame(other, of: "o", step.far, of: "s"))"
        }
        let spared =
            graph.contains(edge.to)
            ? " AND \(dialect.tuple(other, of: "o")) NOT IN \(doomed(edge.to, &builder))" : ""
        return SQLStatement(
            "SELECT \(list(other, "o")), \(list(key(of: edge.from), "x")) FROM \(source) WHERE \(condition)\(spared)",
            builder.parameters)
    }

    /// Selects the objects that stay with too few members in a list: their keys, and how many remain.
    public func shortages(_ list: CountedList) -> SQLStatement {
        var builder = builder()
        let owner = key(of: list.owner)
        let step = schema.step(along: list.link, from: schema.tables[list.owner])
        let rows = dialect.quote(step.table)
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
        let minimum = builder.bind(.value(.integer(Int64(list.minimum))))
        return SQLStatement(
            "SELECT \(columns), \(remaining) FROM \(table(list.owner)) AS o WHERE \(condition) AND \(remaining) < \(minimum)",
            builder.parameters)
    }

    /// Selects the keys of the objects that stay while the target of one of their references goes.
    public func unset(_ reference: Reference) -> SQLStatement {
        var builder = builder()
        let condition = losesTarget(reference, &builder)
        let keys = list(key(of: reference.source))
        return SQLStatement("SELECT \(keys) FROM \(table(reference.source)) WHERE \(condition)", builder.parameters)
    }

    /// Unsets that reference in these objects, which is a change of theirs, and returns their keys.
    ///
    /// - Parameter stamp: the time of the change for an entity that declares one, in its encoding.
    public func unsetting(_ reference: Reference, stamp: Value?) -> SQLStatement {
        var builder = builder()
        let entity = schema.tables[reference.source].entity
        var changes = reference.columns.map { "\(dialect.quote($0)) = NULL" }
        if reference.isOrderStored, let position = reference.orderColumn {
            changes.append("\(dialect.quote(position)) = NULL")
        }
        if let revision = entity.revision.flatMap(entity.attribute)?.column {
            changes.append("\(dialect.quote(revision)) = \(dialect.quote(revision)) + 1")
        }
        if let stamp, let column = entity.updatedAt.flatMap(entity.attribute)?.column {
            changes.append("\(dialect.quote(column)) = \(builder.bind(.value(stamp)))")
        }
        let condition = losesTarget(reference, &builder)
        return SQLStatement(
            "UPDATE \(table(reference.source)) SET \(changes.joined(separator: ", ")) WHERE \(condition) "
                + "RETURNING \(list(key(of: reference.source)))", builder.parameters)
    }

    /// Selects or removes the join rows at one side's doomed objects: the source's key, then the target's. Rows at
    /// doomed sources come first; those at doomed targets are then the rest.
    public func joinRows(_ join: Join, atSource: Bool, removing: Bool) -> SQLStatement {
        var builder = builder()
        let columns = list(join.sourceColumns + join.targetColumns)
        let table = dialect.quote(join.table)
        let (near, entity) = atSource ? (join.sourceColumns, join.source) : (join.targetColumns, join.target)
        var condition = "\(dialect.tuple(near)) IN \(doomed(entity, &builder))"
        if removing {
            return SQLStatement("DELETE FROM \(table) WHERE \(condition) RETURNING \(columns)", builder.parameters)
        }
        if !atSource && !isEmpty(join.source) {
            condition += " AND \(dialect.tuple(join.sourceColumns)) NOT IN \(doomed(join.source, &builder))"
        }
        return SQLStatement("SELECT \(columns) FROM \(table) WHERE \(condition)", builder.parameters)
    }

    /// Selects the doomed keys of an entity whose list isn't known.
    public func doomed(_ entity: Int) -> SQLStatement {
        var builder = builder()
        return SQLStatement(selection(of: entity, &builder), builder.parameters)
    }

    /// Deletes the doomed rows of an entity.
    public func delete(_ entity: Int) -> SQLStatement {
        var builder = builder()
        let condition = isDoomed(entity, &builder)
        return SQLStatement("DELETE FROM \(table(entity)) AS x WHERE \(condition)", builder.parameters)
    }

    /// Makes doomed rows refer to nothing, or where a reference is required and leads to the same entity, to themselves;
    /// `nil` where neither can be.
    public func untie(_ reference: Reference) -> SQLStatement? {
        guard reference.isOptional || reference.source == reference.target else { return nil }
        var builder = builder()
        let changes = zip(reference.columns, key(of: reference.target)).map {
            "\(dialect.quote($0)) = \(reference.isOptional ? "NULL" : dialect.quote($1))"
        }
        let condition = isDoomed(reference.source, &builder)
        return SQLStatement(
            "UPDATE \(table(reference.source)) AS x SET \(changes.joined(separator: ", ")) WHERE \(condition)",
            builder.parameters)
    }

    // MARK: Parts

    /// A statement's parameters so far. A list that occurs twice is bound once.
    private struct Builder {
        let dialect: Dialect
        var parameters: [Parameter]
        var lists: [Int: Int] = [:]

        mutating func bind(_ parameter: Parameter) -> String { dialect.parameter(number(of: parameter)) }

        mutating func number(of parameter: Parameter) -> Int {
            parameters.append(parameter)
            return parameters.count
        }

        mutating func rows(_ keys: KeyList, of entity: Int) -> String {
            let number = lists[entity] ?? number(of: keys.parameter)
            lists[entity] = number
            return dialect.rows(ofParameter: number, columns: keys.width)
        }
    }

    /// The parameters of a query for the roots come first, because its text counts them from 1.
    private func builder() -> Builder {
        if case .query(let query) = roots, lists[graph.root] == nil {
            return Builder(dialect: dialect, parameters: query.parameters)
        }
        return Builder(dialect: dialect, parameters: [])
    }

    /// The doomed keys of an entity as a subquery.
    private func doomed(_ entity: Int, _ builder: inout Builder) -> String {
        lists[entity].map { builder.rows($0, of: entity) } ?? "(\(selection(of: entity, &builder)))"
    }

    private func selection(of entity: Int, _ builder: inout Builder) -> String {
        "SELECT \(list(key(of: entity), "x")) FROM \(table(entity)) AS x WHERE \(isDoomed(entity, &builder))"
    }

    /// The condition that holds for the doomed rows `x` of an entity.
    private func isDoomed(_ entity: Int, _ builder: inout Builder) -> String {
        if let list = lists[entity] {
            return "\(dialect.tuple(key(of: entity), of: "x")) IN \(builder.rows(list, of: entity))"
        }
        if entity == graph.root { return rootCondition(&builder) }
        // An entity that isn't listed has one cascade that ends at it.
        return graph.cascades(to: entity).first.map { reached(along: $0, &builder) } ?? "0"
    }

    private func rootCondition(_ builder: inout Builder) -> String {
        let keys = key(of: graph.root)
        let asked =
            switch roots {
            case .keys(let given): builder.rows(KeyList(given, width: keys.count), of: graph.root)
            case .query(let query): "(\(query.sql))"
            }
        return "\(dialect.tuple(keys, of: "x")) IN \(asked)"
    }

    /// The condition that holds for the rows `x` at the end of an edge from doomed objects.
    private func reached(along edge: DeletionEdge, _ builder: inout Builder) -> String {
        let doomed = doomed(edge.from, &builder)
        let step = step(of: edge)
        if edge.isReferring { return "\(dialect.tuple(step.near, of: "x")) IN \(doomed)" }
        return "\(dialect.tuple(key(of: edge.to), of: "x")) IN (SELECT \(list(step.far, "y")) "
            + "FROM \(dialect.quote(step.table)) AS y WHERE \(dialect.tuple(step.near, of: "y")) IN \(doomed))"
    }

    /// The same as a step of a recursive query, from one doomed object to the next. The order of the tables is forced:
    /// there is one doomed object at a time.
    private func step(along edge: DeletionEdge, width: Int) -> String {
        let columns = (0..<width).map { "k\($0)" }
        let head = "SELECT \(row(edge.to, width)) FROM relata_doomed CROSS JOIN "
        let next = "\(table(edge.to)) AS x WHERE relata_doomed.entity = \(edge.from) AND "
        let step = step(of: edge)
        if edge.isReferring { return head + next + dialect.areSame(step.near, of: "x", columns, of: "relata_doomed") }
        return head + "\(dialect.quote(step.table)) AS y CROSS JOIN " + next
            + "\(dialect.areSame(step.near, of: "y", columns, of: "relata_doomed")) AND \(dialect.areSame(key(of: edge.to), of: "x", step.far, of: "y"))"
    }

    private func losesTarget(_ reference: Reference, _ builder: inout Builder) -> String {
        let condition = "\(dialect.tuple(reference.columns)) IN \(doomed(reference.target, &builder))"
        guard !isEmpty(reference.source) else { return condition }
        return condition
            + " AND \(dialect.tuple(key(of: reference.source))) NOT IN \(doomed(reference.source, &builder))"
    }

    /// The rows that lead from the doomed objects of an edge to those at its other end, which are such rows themselves
    /// where they refer.
    private func step(of edge: DeletionEdge) -> (table: String, near: [String], far: [String]) {
        schema.step(along: edge.link, from: schema.tables[edge.from])
    }

    /// A row of a closure: the entity's number and its key. The sign strips the columns of their affinity, because
    /// entities with keys of different types may share a recursive query.
    private func row(_ entity: Int, _ width: Int) -> String {
        var parts = ["\(entity)"]
        for column in key(of: entity) { parts.append("+x.\(dialect.quote(column))") }
        while parts.count <= width { parts.append("NULL") }
        return parts.joined(separator: ", ")
    }

    private func key(of entity: Int) -> [String] { schema.tables[entity].keyColumnNames }
    private func table(_ entity: Int) -> String { dialect.quote(schema.tables[entity].sqlName) }
    private func list(_ columns: [String], _ alias: String? = nil) -> String { dialect.list(columns, of: alias) }
}
