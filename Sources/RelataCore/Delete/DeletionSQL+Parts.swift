/// The parts of a deletion's statements.
extension DeletionSQL {
    /// A statement's parameters so far. A list that occurs twice is bound once.
    struct Builder {
        let dialect: Dialect
        var parameters: [Parameter]
        var lists: [Int: Int] = [:]

        mutating func bind(_ value: Value, as type: AttributeType) -> String {
            dialect.parameter(number(of: .value(value)), holding: value, as: type)
        }

        mutating func number(of parameter: Parameter) -> Int {
            parameters.append(parameter)
            return parameters.count
        }

        mutating func rows(_ keys: KeyList, of table: Table) -> String {
            let number = lists[table.index] ?? number(of: keys.parameter)
            lists[table.index] = number
            return dialect.rows(ofParameter: number, types: table.keyTypes)
        }
    }

    /// The parameters of a query for the roots come first, because its text counts them from 1.
    func builder() -> Builder {
        if case .query(let query) = roots, lists[graph.root] == nil {
            return Builder(dialect: dialect, parameters: query.parameters)
        }
        return Builder(dialect: dialect, parameters: [])
    }

    /// The doomed keys of an entity as a subquery.
    func doomed(_ entity: Int, _ builder: inout Builder) -> String {
        lists[entity].map { builder.rows($0, of: schema.tables[entity]) } ?? "(\(selection(of: entity, &builder)))"
    }

    func selection(of entity: Int, _ builder: inout Builder) -> String {
        "SELECT \(list(key(of: entity), "x")) FROM \(table(entity)) AS x WHERE \(isDoomed(entity, &builder))"
    }

    /// The condition that holds for the doomed rows `x` of an entity.
    func isDoomed(_ entity: Int, _ builder: inout Builder) -> String {
        if let list = lists[entity] {
            return "\(dialect.tuple(key(of: entity), of: "x")) IN \(builder.rows(list, of: schema.tables[entity]))"
        }
        if entity == graph.root { return rootCondition(&builder) }
        // An entity that isn't listed has one cascade that ends at it.
        return graph.cascades(to: entity).first.map { reached(along: $0, &builder) } ?? dialect.never
    }

    func rootCondition(_ builder: inout Builder) -> String {
        let keys = key(of: graph.root)
        let asked =
            switch roots {
            case .keys(let given): builder.rows(KeyList(given, width: keys.count), of: schema.tables[graph.root])
            case .query(let query): "(\(query.sql))"
            }
        return "\(dialect.tuple(keys, of: "x")) IN \(asked)"
    }

    /// The condition that holds for the rows `x` at the end of an edge from doomed objects.
    func reached(along edge: DeletionEdge, _ builder: inout Builder) -> String {
        switch edge.path {
        case .referring(let number): return refersToDoomed("x", schema.foreignKeys[number], &builder)
        case .referred, .join:
            let doomed = doomed(edge.from, &builder)
            let step = step(of: edge)
            return "\(dialect.tuple(key(of: edge.to), of: "x")) IN (SELECT \(list(step.far, "y")) "
                + "FROM \(step.rows) AS y WHERE \(dialect.tuple(step.near, of: "y")) IN \(doomed))"
        }
    }

    /// The condition as a step of a recursive query, from one doomed object to the next. The order of the tables is
    /// forced: there is one doomed object at a time.
    ///
    /// - Parameter links: Further tables of the statement, to which those are added that the step needs.
    func step(along edge: DeletionEdge, _ closure: ClosureColumns, _ links: inout [String]) -> String {
        let keys = key(of: edge.from)
        let columns = closure.names(of: edge.from)
        let found = dialect.repeatsRecursion ? "relata_doomed CROSS JOIN " : ""
        let head = "SELECT \(row(edge.to, closure)) FROM \(found)"
        let next = "\(table(edge.to)) AS x WHERE relata_doomed.entity = \(edge.from) AND "
        guard case .referring(let number) = edge.path else {
            var step = step(of: edge)
            if case .join(let number, _) = edge.path, !schema.joins[number].comparesAsDeclared {
                // Read once, and not for each object.
                let name = "relata_link\(links.count)"
                links.append("\(name) AS MATERIALIZED (SELECT * FROM \(step.rows) AS j)")
                step.rows = name
            }
            return head + "\(step.rows) AS y CROSS JOIN " + next
                + "\(dialect.areSame(step.near, of: "y", columns, of: "relata_doomed")) AND \(dialect.areSame(key(of: edge.to), of: "x", step.far, of: "y"))"
        }
        let foreignKey = schema.foreignKeys[number]
        if foreignKey.comparison == .equal {
            if foreignKey.targetColumns == keys {
                return head + next + dialect.areSame(referring(foreignKey), of: "x", columns, of: "relata_doomed")
            }
            return head + "\(table(edge.from)) AS t CROSS JOIN " + next
                + "\(dialect.areSame(keys, of: "t", columns, of: "relata_doomed")) AND \(refers("x", to: "t", foreignKey))"
        }
        // Rows that refer can't be looked up by an index: all pairs are read once.
        let others = key(of: edge.to)
        let near = keys.indices.map { "a\($0)" }
        let far = closure.names.indices.map { "b\($0)" }
        let pairs =
            keys.map { dialect.unaffiliated("t.\(dialect.quote($0))") }
            + closure.values(edge.to, others.map { dialect.unaffiliated("x.\(dialect.quote($0))") }, dialect)
        let name = "relata_link\(links.count)"
        links.append(
            "\(name)(\((near + far).joined(separator: ", "))) AS MATERIALIZED (SELECT \(pairs.joined(separator: ", ")) "
                + "FROM \(table(edge.to)) AS x CROSS JOIN \(table(edge.from)) AS t "
                + "WHERE \(refers("x", to: "t", foreignKey)))")
        return "SELECT \(edge.to), \(far.joined(separator: ", ")) FROM \(found)\(name) "
            + "WHERE relata_doomed.entity = \(edge.from) AND \(dialect.areSame(near, of: name, columns, of: "relata_doomed"))"
    }

    /// Whether a row refers to another by a foreign key.
    func refers(_ source: String, to target: String, _ key: SchemaForeignKey) -> String {
        key.comparison == .equal
            ? dialect.areSame(referring(key), of: source, key.targetColumns, of: target)
            : dialect.matches(key.targetColumns, of: target, referring(key), of: source)
    }

    /// The columns of a foreign key as they are compared.
    private func referring(_ key: SchemaForeignKey) -> [String] { schema.tables[key.source].referring(key.columns) }

    /// Whether a row refers to a doomed one by a foreign key: looked up in their list if the comparison allows it,
    /// otherwise from the row.
    func refersToDoomed(_ alias: String, _ key: SchemaForeignKey, _ builder: inout Builder) -> String {
        let doomed = doomed(key.target, &builder)
        let keys = self.key(of: key.target)
        guard key.comparison == .equal else {
            return "EXISTS (SELECT 1 FROM \(table(key.target)) AS t WHERE \(refers(alias, to: "t", key)) "
                + "AND \(dialect.tuple(keys, of: "t")) IN \(doomed))"
        }
        let columns = dialect.tuple(referring(key), of: alias)
        if key.targetColumns == keys { return "\(columns) IN \(doomed)" }
        return "\(columns) IN (SELECT \(list(key.targetColumns, "t")) FROM \(table(key.target)) AS t "
            + "WHERE \(dialect.tuple(keys, of: "t")) IN \(doomed))"
    }

    /// Whether a row stays while the target of one of its foreign keys is deleted. If several keys in the same columns
    /// become unset, it belongs to the first.
    func losesTarget(_ key: SchemaForeignKey, of alias: String, _ builder: inout Builder) -> String {
        var condition = refersToDoomed(alias, key, &builder)
        for number in graph.nullified where number < key.index {
            let other = schema.foreignKeys[number]
            if key.isUnset(with: other) { condition += " AND NOT (\(refersToDoomed(alias, other, &builder)))" }
        }
        guard !isEmpty(key.source) else { return condition }
        return condition + " AND " + stays(alias, of: key.source, &builder)
    }

    /// The condition that a row of an entity isn't doomed. A row without a key isn't: its deletion would be refused.
    func stays(_ alias: String, of entity: Int, _ builder: inout Builder) -> String {
        // Whether NULL is in a list is neither true nor false.
        "(\(dialect.tuple(key(of: entity), of: alias)) IN \(doomed(entity, &builder))) IS NOT TRUE"
    }

    /// The rows that lead from the doomed objects of an edge to those at its other end.
    func step(of edge: DeletionEdge) -> (rows: String, near: [String], far: [String]) {
        switch edge.path {
        case .referring(let number):
            return (table(edge.to), schema.foreignKeys[number].columns, key(of: edge.to))
        case .referred(let number):
            return (table(edge.from), key(of: edge.from), schema.foreignKeys[number].columns)
        case .join(let number, let isSource):
            let (near, far) = schema.joins[number].columns(isSource: isSource)
            return (schema.rows(of: schema.joins[number], dialect), near, far)
        }
    }

    /// A row of a closure: the entity's number and its key. The columns are stripped of their affinity, because
    /// entities with keys of different types may share a recursive query.
    func row(_ entity: Int, _ closure: ClosureColumns) -> String {
        closure.row(entity, key(of: entity).map { dialect.unaffiliated("x.\(dialect.quote($0))") }, dialect)
    }

    func key(of entity: Int) -> [String] { schema.tables[entity].keyColumnNames }
    func table(_ entity: Int) -> String { schema.tables[entity].rows(dialect) }
    func list(_ columns: [String], _ alias: String? = nil) -> String { dialect.list(columns, of: alias) }
}
