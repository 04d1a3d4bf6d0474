/// Conditions. A condition that comes out as `NULL` doesn't hold: wherever that would matter, as under `not`, it is
/// asked whether the condition is true.
extension ExpressionWriter {
    /// Appends a condition; `isInside` another one, it is put in parentheses if needed.
    mutating func condition(_ node: ExpressionNode, isInside: Bool = false) throws(RelataError) {
        try nested(node) { (writer) throws(RelataError) in try writer.write(node, isInside: isInside) }
    }

    private mutating func write(_ node: ExpressionNode, isInside: Bool) throws(RelataError) {
        switch node {
        case .and(let nodes):
            try joined(flatten(nodes, isAnd: true)[...], " AND ", empty: dialect.always, isInside: isInside)
        case .or(let nodes):
            try joined(flatten(nodes, isAnd: false)[...], " OR ", empty: dialect.never, isInside: isInside)
        case .not(let node): try not(node)
        case .comparison(let comparison, .function(.addingTime(let offset), let dates), .value(let value), let options)
        where offset.months == 0 && dates.count == 1 && value.microseconds.flatMap((-offset).added) != nil:
            // The constant moves to the other side, so that an index of the date serves.
            let moved = value.microseconds.flatMap((-offset).added).map { Value.integer($0) } ?? .null
            try write(.comparison(comparison, dates[0], .value(moved), options), isInside: isInside)
        case .comparison(.equal, .property(let scope, let path), .value(.null), _):
            try null(.property(scope: scope, path: path), isNot: false, isInside: isInside)
        case .comparison(.notEqual, .property(let scope, let path), .value(.null), _):
            try null(.property(scope: scope, path: path), isNot: true, isInside: isInside)
        case .comparison(let comparison, let left, let right, let options):
            try compare(comparison, try operand(left), try operand(right), options)
        case .between(let value, let lower, let upper):
            let value = try operand(value)
            if isInside { sql.append("(") }
            try compare(.greaterOrEqual, value, try operand(lower), [])
            sql.append(" AND ")
            try compare(.lessOrEqual, value, try operand(upper), [])
            if isInside { sql.append(")") }
        case .isNull(let node): try null(node, isNot: false, isInside: isInside)
        case .keyIn(let node, let keys): try isOne(of: keys, node)
        case .valueIn(let node, let values, let options): try isOne(of: values, node, options)
        case .text(let search, let text, let pattern, let options): try find(search, text, pattern, options)
        case .found(let search): try requireFound(by: search)
        case .quantified(let quantifier, let set, let condition): try quantify(quantifier, set, condition)
        case .inQuery(let node, let plan, let selection): try isOne(of: plan, selecting: selection, node)
        case .anyElement(let elements, let condition): try anyElement(of: elements, condition)
        case .value(let value):
            guard case .integer(let number) = value else {
                throw .invalidUse("\"\(value)\" isn't a condition: compare it with something")
            }
            sql.append(number != 0 ? dialect.always : dialect.never)
        case .sql(let parts): sql.append("(" + (try raw(parts)) + ")")
        case .invalid(let message): throw .invalidUse(message)
        case .property, .element, .arithmetic, .negated, .function, .aggregate, .groupAggregate, .relevance:
            let term = try term(node)
            guard term.type == .boolean else {
                throw .invalidUse(
                    "\(describe(term)) is \(term.type?.spelled ?? "a value"), not a condition: compare it with something"
                )
            }
            sql.append(term.sql + " = " + dialect.always)
        }
    }

    private mutating func not(_ node: ExpressionNode) throws(RelataError) {
        switch node {
        case .not(let inner): try condition(inner, isInside: true)
        case .isNull(let value): try null(value, isNot: true, isInside: true)
        case .comparison(.equal, let left, let right, let options):
            try condition(.comparison(.notEqual, left, right, options), isInside: true)
        case .comparison(.notEqual, let left, let right, let options):
            try condition(.comparison(.equal, left, right, options), isInside: true)
        case .quantified(.any, let set, let inner): try quantify(.none, set, inner)
        case .quantified(.none, let set, let inner): try quantify(.any, set, inner)
        default:
            sql.append("(")
            try condition(node)
            // Only SQL of the app's own comes out as another number.
            if case .sql = node, !dialect.hasBooleans { sql.append(" <> 0") }
            sql.append(") IS NOT " + dialect.always)
        }
    }

    /// Chains of `and` grow to the left one by one, so they are flattened without recursion.
    private func flatten(_ nodes: [ExpressionNode], isAnd: Bool) -> [ExpressionNode] {
        var flat: [ExpressionNode] = []
        var open = Array(nodes.reversed())
        while let node = open.popLast() {
            switch node {
            case .and(let inner) where isAnd: open.append(contentsOf: inner.reversed())
            case .or(let inner) where !isAnd: open.append(contentsOf: inner.reversed())
            default: flat.append(node)
            }
        }
        return flat
    }

    /// Many conditions are halved into parentheses, because SQLite reads a limited depth and `a AND b AND c` nests.
    private mutating func joined(
        _ nodes: ArraySlice<ExpressionNode>, _ separator: String, empty: String, isInside: Bool
    ) throws(RelataError) {
        guard nodes.count > 1 else {
            guard let only = nodes.first else { return sql.append(empty) }
            switch only {
            // Alone, they leave nothing open.
            case .and, .or: return try write(only, isInside: isInside)
            default: return try condition(only, isInside: isInside)
            }
        }
        if isInside { sql.append("(") }
        if nodes.count > 64 {
            let middle = nodes.startIndex + nodes.count / 2
            try joined(nodes[..<middle], separator, empty: empty, isInside: true)
            sql.append(separator)
            try joined(nodes[middle...], separator, empty: empty, isInside: true)
        } else {
            for (index, node) in nodes.enumerated() {
                if index > 0 { sql.append(separator) }
                try condition(node, isInside: true)
            }
        }
        if isInside { sql.append(")") }
    }

    // MARK: Comparison

    private mutating func compare(
        _ comparison: ComparisonOperator, _ left: Operand, _ right: Operand, _ options: TextOptions
    ) throws(RelataError) {
        switch (left, right) {
        case (.key(let terms, _), .constant(.null)) where comparison == .equal || comparison == .notEqual:
            sql.append(terms[0].sql + (comparison == .equal ? " IS NULL" : " IS NOT NULL"))
        case (.key(let left, let entity), .key(let right, let other)):
            try compareObjects(comparison, left, entity, right, other)
        case (.constant, .term), (.constant, .key): try compare(comparison.flipped, right, left, options)
        case (.term, .constant(let value)), (.key, .constant(let value)):
            try compare(comparison, try single(left), value, options)
        default: try compare(comparison, try single(left), try single(right), options)
        }
    }

    private mutating func compareObjects(
        _ comparison: ComparisonOperator, _ left: [Term], _ entity: Int, _ right: [Term], _ other: Int
    ) throws(RelataError) {
        guard entity == other else {
            throw .invalidUse(
                "\(schema.tables[entity].name) and \(schema.tables[other].name) are different entities: "
                    + "their objects are never the same")
        }
        guard comparison == .equal || comparison == .notEqual else {
            throw .invalidUse("objects of \(schema.tables[entity].name) have no order: compare one of their attributes")
        }
        if left.count == 1 { return try compare(comparison, left[0], right[0], []) }
        sql.append("(")
        for index in left.indices {
            if index > 0 { sql.append(comparison == .equal ? " AND " : " OR ") }
            try compare(comparison, left[index], right[index], [])
        }
        sql.append(")")
    }

    /// A column against a constant: the form that indexes serve.
    private mutating func compare(
        _ comparison: ComparisonOperator, _ term: Term, _ value: Value, _ options: TextOptions
    ) throws(RelataError) {
        if value.isNull {
            switch comparison {
            case .equal: sql.append(term.sql + " IS NULL")
            case .notEqual: sql.append(term.sql + " IS NOT NULL")
            case .less, .lessOrEqual, .greater, .greaterOrEqual: sql.append(dialect.never)
            }
            return
        }
        try checkComparable(comparison, term)
        var value = try comparable(value, like: term)
        if !options.isEmpty, case .text(let text) = value { value = .text(TextFolding.fold(text, options)) }
        sql.append(try comparable(term, options))
        sql.append(comparison == .notEqual && term.isNullable ? dialect.isDifferent : comparison.sql)
        // SQLite takes the collation from the left side.
        sql.append(bind(value, as: term.boundType))
    }

    private mutating func compare(
        _ comparison: ComparisonOperator, _ left: Term, _ right: Term, _ options: TextOptions
    ) throws(RelataError) {
        try checkComparable(comparison, left)
        try checkComparable(comparison, right)
        let (left, right) = try alike(left, right)
        sql.append(try comparable(left, options))
        switch comparison {
        case .equal where left.isNullable && right.isNullable: sql.append(dialect.isSame)
        case .notEqual where left.isNullable || right.isNullable: sql.append(dialect.isDifferent)
        default: sql.append(comparison.sql)
        }
        sql.append(try comparable(right, options))
    }

    private func checkComparable(_ comparison: ComparisonOperator, _ term: Term) throws(RelataError) {
        if term.type == .json, comparison != .equal, comparison != .notEqual {
            throw .invalidUse("\(describe(term)) is a JSON value, which has no order: compare it with == or !=")
        }
    }

    /// The term in the form for comparisons: decimals by number, text without the ignored differences.
    func comparable(_ term: Term, _ options: TextOptions) throws(RelataError) -> String {
        if term.type == .decimal { return dialect.decimal(term.sql) }
        guard !options.isEmpty else { return term.sql }
        try require(term.type == .text, term, "[c] and [d] are for text")
        return "\(dialect.function("fold"))(\(term.sql), \(options.rawValue))"
    }

    /// The operands of `IS NULL`.
    private mutating func unset(_ node: ExpressionNode) throws(RelataError) -> [String] {
        if case .property(let scope, let path) = node, let held = try heldKey(scope: scope, path: path) {
            return [held]
        }
        return terms(try operand(node)).map(\.sql)
    }

    /// A compound key with an unset column is none, as for foreign keys.
    private mutating func null(_ node: ExpressionNode, isNot: Bool, isInside: Bool) throws(RelataError) {
        let columns = try unset(node)
        let parts = columns.map { $0 + (isNot ? " IS NOT NULL" : " IS NULL") }
        let joined = parts.joined(separator: isNot ? " AND " : " OR ")
        sql.append(parts.count > 1 && isInside ? "(\(joined))" : joined)
    }
}

extension ComparisonOperator {
    /// The operator with its sides swapped.
    var flipped: ComparisonOperator {
        switch self {
        case .equal, .notEqual: self
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        }
    }

    /// The operator in SQL, for values that are set.
    var sql: String {
        switch self {
        case .equal: " = "
        case .notEqual: " <> "
        case .less: " < "
        case .lessOrEqual: " <= "
        case .greater: " > "
        case .greaterOrEqual: " >= "
        }
    }
}
