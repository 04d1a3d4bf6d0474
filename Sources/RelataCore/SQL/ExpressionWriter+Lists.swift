/// Membership in lists of constants, each list one parameter, and in results of another query.
extension ExpressionWriter {
    /// Whether a key or a to-one is one of some keys.
    mutating func isOne(of keys: [KeyValue], _ node: ExpressionNode) throws(RelataError) {
        if node.isConstant {
            throw .invalidUse("a constant is compared with keys: put a key or a to-one on that side")
        }
        let terms = terms(try operand(node))
        guard let first = keys.first else { return sql.append(dialect.never) }
        for key in keys where key.values.count != terms.count {
            throw .invalidUse(
                "\(describe(terms[0])) needs a key of \(terms.count) part\(terms.count == 1 ? "" : "s"), not \(key)")
        }
        let names = terms.map(\.sql)
        if keys.count == 1 {
            if terms.count > 1 { sql.append("(") }
            var parameters: [String] = []
            for (term, value) in zip(terms, first.values) { parameters.append(try bind(value, like: term)) }
            sql.append(pairwise(names, parameters))
            if terms.count > 1 { sql.append(")") }
            return
        }
        sql.append(tuple(names) + " IN ")
        if terms.count == 1 {
            var values: [Value] = []
            values.reserveCapacity(keys.count)
            for key in keys { values.append(try stored(key.values[0], like: terms[0])) }
            sql.append(bind(list: .list(values), types: [.of(values, like: terms[0].boundType)]))
        } else {
            var stored: [KeyValue] = []
            stored.reserveCapacity(keys.count)
            for key in keys {
                var values: [Value] = []
                for (term, value) in zip(terms, key.values) { values.append(try self.stored(value, like: term)) }
                stored.append(KeyValue(values))
            }
            let types = terms.indices.map { column in
                AttributeType.of(stored.lazy.map { $0.values[column] }, like: terms[column].boundType)
            }
            sql.append(bind(list: .keys(stored), types: types))
        }
    }

    /// Whether a value is one of some constants.
    mutating func isOne(of values: [Value], _ node: ExpressionNode, _ options: TextOptions) throws(RelataError) {
        let term: Term
        switch try operand(node) {
        case .constant(let value): term = Term(sql: bind(value), type: nil, isNullable: value.isNull)
        case let operand: term = try single(operand)
        }
        var list: [Value] = []
        list.reserveCapacity(values.count)
        for value in values where !value.isNull {
            let value = try comparable(value, like: term)
            if !options.isEmpty, case .text(let text) = value {
                list.append(.text(TextFolding.fold(text, options)))
            } else {
                list.append(value)
            }
        }
        let hasNull = list.count < values.count
        if list.isEmpty { return sql.append(hasNull ? term.sql + " IS NULL" : dialect.never) }
        if hasNull { sql.append("(") }
        sql.append(try comparable(term, options))
        sql.append(
            list.count == 1
                ? " = " + bind(list[0], as: term.boundType)
                : " IN " + bind(list: .list(list), types: [.of(list, like: term.boundType)]))
        if hasNull { sql.append(" OR \(term.sql) IS NULL)") }
    }

    /// Whether a value, a key or a to-one is among a query's results.
    mutating func isOne(
        of plan: QueryPlan, selecting selection: ExpressionNode?, _ node: ExpressionNode
    ) throws(RelataError) {
        let terms = terms(try operand(node))
        var query = try QueryWriter(
            QueryCompiler(schema: schema, access: access, dialect: dialect), plan,
            earlierParameters: earlierParameters + parameters.count, depth: depth)
        let unfolding = try plan.elements.map { (elements) throws(RelataError) in
            try Unfolding(elements, in: &query.writer)
        }
        let selected = query.writer.terms(try query.writer.operand(selection ?? .property(scope: 0, path: [])))
        guard terms.count == selected.count else {
            throw .invalidUse(
                "\(describe(terms[0])) has \(terms.count) part\(terms.count == 1 ? "" : "s") and what the query yields \(selected.count): they can't be compared"
            )
        }
        var (left, right): ([String], [String]) = ([], [])
        for (term, other) in zip(terms, selected) {
            let (term, other) = try alike(term, other)
            left.append(try comparable(term, []))
            right.append(try comparable(other, []))
        }
        // A subquery needs no order, unless it is cut into parts.
        let order = plan.limit != nil || plan.offset != nil ? try query.order(isTotal: true) : []
        let text: String
        if let unfolding {
            let objects = try query.finish("SELECT \(unfolding.array) AS v", order: order)
            text =
                "SELECT \(right.joined(separator: ", ")) FROM (\(objects)) AS \(unfolding.objects) CROSS JOIN \(unfolding.elements)"
        } else {
            text = try query.finish("SELECT " + right.joined(separator: ", "), order: order)
        }
        parameters += query.writer.parameters
        accessParameters += query.writer.accessParameters
        sql.append("\(tuple(left)) IN (\(text))")
    }
}

/// A subquery's objects unfolded into the elements of an array that each of them has.
private struct Unfolding {
    /// The array, as a column of the objects.
    let array: String
    /// The alias of the objects' rows.
    let objects: String
    /// The rows of the elements, beside those of the objects, and their condition.
    let elements: String

    init(_ selected: SelectedElements, in writer: inout ExpressionWriter) throws(RelataError) {
        let source = try writer.term(selected.set.json)
        array = source.sql
        let place = try writer.bind(place: selected.set.path)
        objects = writer.newAlias()
        let alias = writer.newAlias()
        writer.elements.append((selected.set.scope, alias))
        let json = writer.dialect.jsonSource("\(objects).v", of: source.type)
        var rows = "\(writer.dialect.jsonElements(of: json, at: place)) AS \(alias)"
        if selected.condition != .and([]) {
            let condition = try writer.written { (writer) throws(RelataError) in
                try writer.condition(selected.condition, isInside: true)
            }
            rows += " WHERE \(condition)"
        }
        elements = rows
    }
}
