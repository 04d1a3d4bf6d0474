/// Writes one query: the source of its objects, their conditions, their order and their columns.
struct QueryWriter {
    var writer: ExpressionWriter
    var plan: QueryPlan
    let table: Table
    /// The conditions on an object, joined by `AND`.
    private(set) var condition = ""
    /// The order of the relationship whose objects these are, if it has one.
    var relationOrder: [ExpressionWriter.Term] = []
    /// The key of the row between the owner and the object, for a through link.
    var between: [ExpressionWriter.Term] = []
    /// The first column of each chosen part, and the end.
    private(set) var partColumns: [Int] = []
    /// The columns, if equal rows are returned once.
    private(set) var columnTexts: [String] = []
    /// The columns that identify an object's owner.
    var owner: [String] = []
    /// The types of those columns.
    var ownerTypes: [AttributeType] = []
    /// For each to-one the parameter for the keys of objects that need no reading, if it has one.
    private(set) var knownKeys: [Int?] = []
    /// Whether each of many owners has one object at most.
    var hasOneAnOwner = false
    /// Whether the order of the relationship is a position that the store keeps.
    var isOrderStored = false

    init(
        _ compiler: QueryCompiler, _ plan: QueryPlan, earlierParameters: Int = 0, depth: Int = 0,
        beginsAtPlace: Bool = false
    ) throws(RelataError) {
        writer = ExpressionWriter(
            schema: compiler.schema, dialect: compiler.dialect, access: compiler.access,
            earlierParameters: earlierParameters, depth: depth)
        self.plan = plan
        guard let table = compiler.schema[plan.entity] else {
            throw .invalidUse(
                "there is no entity \(plan.entity)"
                    + NameSuggestion.hint(for: plan.entity, among: compiler.schema.tables.map(\.name)))
        }
        self.table = table
        // SQLite would ignore such a limit.
        if let limit = plan.limit, limit < 0 { throw .invalidUse("a limit can't be negative: \(limit)") }
        if let offset = plan.offset, offset < 0 { throw .invalidUse("an offset can't be negative: \(offset)") }
        if let owner = plan.relatedTo {
            guard plan.index == nil else {
                throw .invalidUse(
                    "no index of \(table.name) can be chosen for the objects of \(owner.entity).\(owner.relationship), "
                        + "which are found by their links")
            }
            try relate(to: owner)
        } else {
            _ = writer.start(table, scope: 0, index: plan.index)
        }
        if let search = plan.search {
            let found = try writer.begin(with: search, best: beginsAtPlace ? nil : bestCount(compiler))
            writer.found = found.rows
            add(found.condition)
        }
        if let condition = plan.condition, condition != .and([]) {
            try require { (writer) throws(RelataError) in try writer.condition(condition, isInside: true) }
        }
    }

    /// The number of a search's best matches that are needed, so that no others are evaluated; `nil` if more than their
    /// words decides.
    private func bestCount(_ compiler: QueryCompiler) -> Int? {
        guard let limit = plan.limit, plan.condition == nil, plan.relatedTo == nil, plan.sort.isEmpty,
            plan.index == nil, !plan.isDistinct, !compiler.access.guards(table), !table.entity.mayLackKeys
        else { return nil }
        let (count, isTooMany) = limit.addingReportingOverflow(plan.offset ?? 0)
        return isTooMany ? nil : count
    }

    /// Begins with the rows of a relationship of one object.
    private mutating func relate(to owner: RelatedOwner) throws(RelataError) {
        guard let source = writer.schema[owner.entity] else {
            throw .invalidUse("there is no entity \(owner.entity)")
        }
        guard let link = source.links[owner.relationship],
            let relationship = source.entity.relationship(owner.relationship)
        else {
            throw .invalidUse(
                "\(source.name) has no relationship \(owner.relationship)"
                    + NameSuggestion.hint(for: owner.relationship, among: source.entity.relationships.map(\.name)))
        }
        guard relationship.target == table.entity.name else {
            throw .invalidUse(
                "\(source.name).\(owner.relationship) leads to \(relationship.target), not to \(table.name)")
        }
        let key = try bind(owner.key, of: source)
        if let isSeen = writer.isSeen(key, of: source) { add(isSeen) }
        if owner.isRecursive { return try relate(through: link, from: key, owner, source) }
        if link.isReference || plan.isDistinct && link.isThrough {
            // Each object once: the objects whose key is among the relationship's.
            let own = writer.columns(writer.start(table, scope: 0), table.keyColumnNames)
            let step = step(along: link, from: source)
            add("\(writer.tuple(own)) IN (\(step.sql) WHERE \(writer.pairwise(step.near, key)))")
            return
        }
        writer.frames.append("")
        let frame = writer.frames.count - 1
        let entered = writer.enter(link, ownerKey: key, frame: frame, isFirst: true)
        add(writer.pairwise(entered.near, entered.owner))
        writer.scopes.append((0, entered.position))
        relationOrder = entered.order.map { ExpressionWriter.Term(sql: $0, type: .integer, isNullable: true) }
        between = entered.between.map { ExpressionWriter.Term(sql: $0, type: nil, isNullable: false) }
    }

    /// Begins with all objects that a relationship reaches when it is followed repeatedly. `UNION` keeps each key once,
    /// so that cycles end.
    private mutating func relate(
        through link: Link, from key: [String], _ owner: RelatedOwner, _ source: Table
    ) throws(RelataError) {
        guard source.index == table.index else {
            throw .invalidUse(
                "\(source.name).\(owner.relationship) leads to another entity: it can't be followed again")
        }
        let names = key.indices.map { "k\($0)" }
        let (step, near, far) = step(along: link, from: source)
        let isSet = far.map { $0 + " IS NOT NULL" }.joined(separator: " AND ")
        let own = writer.columns(writer.start(table, scope: 0), table.keyColumnNames)
        add(
            "\(writer.tuple(own)) IN (WITH RECURSIVE relata_reached(\(names.joined(separator: ", "))) AS ("
                + "\(step) WHERE \(writer.pairwise(near, key)) AND \(isSet)"
                + " UNION \(step) JOIN relata_reached ON \(writer.pairwise(near, names.map { "relata_reached.\($0)" })) WHERE \(isSet)"
                + ") SELECT \(names.joined(separator: ", ")) FROM relata_reached)"
                + " AND NOT (\(writer.pairwise(own, key)))")
    }

    /// The keys that a link leads to, up to the condition on the key it leads from.
    private mutating func step(along link: Link, from source: Table) -> (sql: String, near: [String], far: [String]) {
        let step = writer.step(along: link, from: source)
        let far = writer.columns("step", step.far)
        let sql = "SELECT \(far.joined(separator: ", ")) FROM \(step.rows) AS step"
        return (sql, writer.columns("step", step.near), far)
    }

    private mutating func bind(_ key: KeyValue, of table: Table) throws(RelataError) -> [String] {
        guard key.values.count == table.keyColumns.count else {
            throw .invalidUse("\(key) isn't a key of \(table.name), which has \(table.keyColumns.count) parts")
        }
        var parameters: [String] = []
        for (value, index) in zip(key.values, table.keyColumns) {
            let term = ExpressionWriter.Term(
                sql: "", type: table.columns[index].type, isNullable: false, column: (table.index, index))
            parameters.append(try writer.bind(value, like: term))
        }
        return parameters
    }

    // MARK: Parts

    /// Adds a condition that `body` writes.
    mutating func require(
        _ body: (inout ExpressionWriter) throws(RelataError) -> Void
    ) throws(RelataError) {
        add(try writer.written(body))
    }

    private mutating func add(_ text: String) {
        if !condition.isEmpty { condition.append(" AND ") }
        condition.append(text)
    }

    /// The chosen columns and their meanings.
    mutating func columns(_ columns: SelectedColumns) throws(RelataError) -> (String, [AttributeType?]) {
        switch columns {
        case .all: try self.columns(.parts([.object(path: [])]))
        case .expressions(let nodes): try self.columns(.parts(nodes.map { .expression($0) }))
        case .parts(let parts): try self.columns(of: parts)
        }
    }

    private mutating func columns(of parts: [SelectedPart]) throws(RelataError) -> (String, [AttributeType?]) {
        var text = ""
        var types: [AttributeType?] = []
        partColumns = []
        columnTexts = []
        func separate() { if !types.isEmpty { text.append(", ") } }
        for part in parts {
            partColumns.append(types.count)
            switch part {
            case .expression(let node):
                let operand = try writer.operand(node)
                for term in writer.terms(operand) {
                    separate()
                    if plan.isDistinct { columnTexts.append(term.sql) }
                    text.append(term.sql)
                    types.append(term.type)
                }
            case .key(let path), .object(let path):
                let isKey = if case .key = part { true } else { false }
                let position = try writer.row(at: path)
                let table = writer.schema.tables[writer.positions[position].table]
                if isKey, path.isEmpty {
                    for (term, index) in zip(writer.key(of: position), table.keyColumns) {
                        separate()
                        if plan.isDistinct { columnTexts.append(term) }
                        text.append(term)
                        types.append(table.columns[index].type)
                    }
                    continue
                }
                let alias = writer.alias(of: position)
                types.reserveCapacity(types.count + table.columns.count)
                text.reserveCapacity(text.utf8.count + table.columns.count * 16)
                for index in isKey ? table.keyColumns : Array(table.columns.indices) {
                    separate()
                    if plan.isDistinct {
                        columnTexts.append(writer.column(alias, table.columns[index].name))
                    }
                    text.append(alias)
                    text.append(".")
                    writer.dialect.append(quoted: table.columns[index].name, to: &text)
                    types.append(table.columns[index].type)
                }
            }
        }
        partColumns.append(types.count)
        return (text, types)
    }

    /// Joins the objects of to-ones only if they aren't known yet, because a row doesn't need an object that an earlier
    /// row had. This affects to-ones whose part of the row is nothing but their own columns.
    mutating func skipKnown(_ toOnes: [Range<Int>], of columns: SelectedColumns) throws(RelataError) {
        // Rows that differ only in left-out objects would count as different.
        guard case .parts(let parts) = columns, !plan.isDistinct else { return }
        // Only SQLite can receive known keys while the statement runs.
        guard writer.dialect == .sqlite else { return knownKeys = toOnes.map { _ in nil } }
        for range in toOnes {
            guard range.count > 1, case .expression(.property(0, let path)) = parts[range.lowerBound],
                parts[range.lowerBound + 1] == .key(path: path)
            else {
                knownKeys.append(nil)
                continue
            }
            let isReadElsewhere =
                plan.sort.contains { $0.node.leads(through: path) }
                || parts.indices.contains { !range.contains($0) && parts[$0].leads(through: path) }
            knownKeys.append(isReadElsewhere ? nil : joinUnknown(try writer.row(at: path)))
        }
    }

    /// Joins the rows of a position if their keys aren't known, and returns the parameter for the known ones.
    private mutating func joinUnknown(_ position: Int) -> Int? {
        let place = writer.positions[position]
        guard place.alias == nil, let key = place.key, key.count == 1 else { return nil }
        let table = writer.schema.tables[place.table]
        let alias = writer.newAlias()
        writer.positions[position].alias = alias
        writer.join(writer.source(table), alias, isOuter: true, frame: place.frame)
        let known = writer.bind(.null)
        let parameter = writer.parameters.count
        writer.frames[place.frame].append(
            writer.pairwise(
                writer.columns(alias, table.keyColumnNames), ["relata_unknown(\(known), \(key[0]))"]))
        return parameter
    }

    /// The order, to which the key is added if it must be total.
    mutating func order(isTotal: Bool) throws(RelataError) -> [ExpressionWriter.OrderTerm] {
        if plan.sort.isEmpty, let found = writer.found, case .none = writer.groups {
            var order = [ExpressionWriter.OrderTerm(found.relevance, sql: found.relevance.sql, isAscending: false)]
            if let number = found.number {
                order.append(ExpressionWriter.OrderTerm(number, sql: number.sql))
            } else if case .key(let key, _) = writer.object(writer.scopes[0].position), isTotal {
                writer.complete(&order, by: key)
            }
            return order
        }
        var order = try writer.order(plan.sort)
        guard isTotal else { return order }
        let isRelationOrder = plan.sort.isEmpty && !relationOrder.isEmpty
        if isRelationOrder { order = relationOrder.map(ExpressionWriter.OrderTerm.init(position:)) }
        // A through link's own order is (position, key) of the rows between.
        if !(isRelationOrder && !between.isEmpty), case .key(let key, _) = writer.object(writer.scopes[0].position) {
            writer.complete(&order, by: key)
        }
        writer.complete(&order, by: between)
        return order
    }

    /// Writes the grouping of a query.
    mutating func group(by groups: [ExpressionNode]) throws(RelataError) -> String {
        var texts: [String] = []
        for node in groups {
            let operand = try writer.operand(node)
            let terms = writer.terms(operand)
            texts += terms.map(\.sql)
            guard writer.dialect.isStrict else { continue }
            if case .constant = operand {
                writer.grouped.append((node, .term(terms[0])))
            } else {
                writer.grouped.append((node, operand))
            }
        }
        return texts.joined(separator: ", ")
    }

    /// The whole text of a query that returns equal rows once, for an engine that orders such rows only by their
    /// columns: of equal rows the first one counts.
    mutating func finishDistinct(
        _ columns: String, order: [ExpressionWriter.OrderTerm]
    ) throws(RelataError) -> String {
        let places = order.indices.map { "o\($0)" }
        let outer = zip(order, places).map { term, name in
            ExpressionWriter.OrderTerm(term, sql: "relata_rows.\(name)")
        }
        let rows = columnTexts.enumerated().map { "\($1) AS v\($0)" } + zip(order, places).map { "\($0.sql) AS \($1)" }
        let (limit, offset) = (plan.limit, plan.offset)
        (plan.limit, plan.offset) = (nil, nil)
        let numbers = columnTexts.indices.map { String($0 + 1) }.joined(separator: ", ")
        var text = try finish(
            "SELECT DISTINCT ON (\(numbers)) \(rows.joined(separator: ", "))", order: [])
        text += " ORDER BY \(numbers), " + writer.orderClause(order)
        (plan.limit, plan.offset) = (limit, offset)
        let shown = columnTexts.indices.map { "v\($0)" }.joined(separator: ", ")
        text = "SELECT \(shown) FROM (\(text)) AS relata_rows ORDER BY " + writer.orderClause(outer)
        return text + (try part())
    }

    /// The whole text, from `SELECT` to `LIMIT`.
    mutating func finish(
        _ select: String, order: [ExpressionWriter.OrderTerm], group: String = ""
    ) throws(RelataError) -> String {
        try writer.checkSize()
        var text = select
        text.append(" FROM ")
        text.append(writer.frames[0])
        if !condition.isEmpty {
            text.append(" WHERE ")
            text.append(condition)
        }
        text.append(group)
        if !order.isEmpty {
            text.append(" ORDER BY ")
            text.append(writer.orderClause(order))
        }
        text.append(try part())
        return text
    }

    /// The wanted part of the rows: `LIMIT` and `OFFSET`.
    private mutating func part() throws(RelataError) -> String {
        var text = ""
        if let limit = plan.limit {
            guard limit >= 0 else { throw .invalidUse("the limit \(limit) is negative: give a number of rows") }
            text.append(" LIMIT ")
            text.append(writer.bind(.integer(Int64(limit)), as: .integer))
        }
        if let offset = plan.offset {
            guard offset >= 0 else { throw .invalidUse("the offset \(offset) is negative: give a number of rows") }
            if plan.limit == nil { text.append(" LIMIT " + writer.dialect.unlimited) }
            text.append(" OFFSET ")
            text.append(writer.bind(.integer(Int64(offset)), as: .integer))
        }
        return text
    }

    /// The statement, once its text is written: only then are all parameters known.
    func statement(_ sql: String) -> SQLStatement { SQLStatement(sql, writer.parameters) }
}

extension Link {
    fileprivate var isThrough: Bool { if case .through = self { true } else { false } }
}

extension SelectedPart {
    /// Whether something is read of the objects at the end of a path, or beyond.
    fileprivate func leads(through path: [String]) -> Bool {
        switch self {
        case .expression(let node): node.leads(through: path)
        case .key(let own), .object(let own): own.starts(with: path)
        }
    }
}

extension ExpressionNode {
    /// Whether something is read of the objects at the end of a path from the query's own objects, or beyond.
    fileprivate func leads(through path: [String]) -> Bool {
        switch self {
        case .property(0, let own): return own.count > path.count && own.starts(with: path)
        case .quantified(_, let set, _), .aggregate(_, let set, _, _):
            if set.scope == 0, set.path.starts(with: path) { return true }
        // It may use the outer objects in any part.
        case .inQuery: return true
        default: break
        }
        return parts.contains { $0.leads(through: path) }
    }
}
