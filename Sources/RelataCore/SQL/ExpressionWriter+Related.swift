/// Sets of related objects: subqueries over views, join tables and through links.
extension ExpressionWriter {
    /// A subquery over a related set, before its condition is written.
    struct Related {
        let frame: Int
        /// The related object.
        let position: Int
        /// The columns that tie it to the outer row, and the values there that they equal.
        let near: [String]
        let owner: [String]
        /// The condition that ties it.
        let tie: String
        /// Whether the two are equal by the rules of either side.
        let ownerDecides: Bool
    }

    /// Appends whether any, all or none of a related set meet a condition.
    mutating func quantify(
        _ quantifier: Quantifier, _ set: RelatedSet, _ condition: ExpressionNode
    ) throws(RelataError) {
        let related = try open(set, isDistinct: false)
        let text = try inScope(set.innerScope, related) { (writer) throws(RelataError) in
            if quantifier == .all {
                try writer.condition(.not(condition), isInside: true)
            } else if condition != .and([]), condition != .value(.integer(1)) {
                try writer.condition(condition, isInside: true)
            }
        }
        let table = schema.tables[positions[related.position].table]
        if quantifier == .any, related.ownerDecides, schema.pins(condition, scope: set.innerScope, table: table),
            !condition.leaves(scope: set.innerScope)
        {
            sql.append(tuple(related.owner) + " IN (SELECT " + related.near.joined(separator: ", "))
            sql.append(" FROM \(frames[related.frame]) WHERE \(text))")
            return
        }
        sql.append(quantifier == .any ? "EXISTS (SELECT 1" : "NOT EXISTS (SELECT 1")
        sql.append(source(related, text))
        sql.append(")")
    }

    /// An aggregate of a related set, as a scalar subquery.
    mutating func figure(
        _ function: AggregateFunction, _ set: RelatedSet, _ value: ExpressionNode?, _ filter: ExpressionNode?
    ) throws(RelataError) -> Term {
        let related = try open(set, isDistinct: set.isDistinct)
        var term = Term(sql: "COUNT(*)", type: .integer, isNullable: false)
        let text = try inScope(set.innerScope, related) { (writer) throws(RelataError) in
            if let filter { try writer.condition(filter, isInside: true) }
            term = try writer.aggregate(function, value, isDistinct: false)
        }
        term.sql = "(SELECT \(term.sql)\(source(related, text)))"
        term.name = "\(function.rawValue) of \(set.path.joined(separator: "."))"
        return term
    }

    /// An aggregate of the rows of the query itself.
    mutating func groupFigure(
        _ function: AggregateFunction, _ value: ExpressionNode?, isDistinct: Bool
    ) throws(RelataError) -> Term {
        switch groups {
        case .none:
            throw .invalidUse(
                "\(function.rawValue) of a group can be used only in the columns, having or order of a query with groups"
            )
        case .direct:
            groups = .none  // an aggregate of an aggregate makes no sense
            defer { groups = .direct }
            return try aggregate(function, value, isDistinct: isDistinct)
        case .subquery(var columns):
            guard let value else { return try aggregate(function, nil, isDistinct: false) }
            groups = .none
            let term = try term(value)
            columns.append(term.sql)
            groups = .subquery(columns)
            var column = term
            column.sql = "v\(columns.count - 1)"
            return try aggregate(function, of: column, isDistinct: isDistinct)
        }
    }

    private mutating func aggregate(
        _ function: AggregateFunction, _ value: ExpressionNode?, isDistinct: Bool
    ) throws(RelataError) -> Term {
        guard let value else {
            guard function == .count else {
                throw .invalidUse("\(function.rawValue) needs an expression")
            }
            return Term(sql: "COUNT(*)", type: .integer, isNullable: false, name: "count")
        }
        return try aggregate(function, of: try term(value), isDistinct: isDistinct)
    }

    private func aggregate(
        _ function: AggregateFunction, of term: Term, isDistinct: Bool
    ) throws(RelataError) -> Term {
        let isDecimal = term.type == .decimal
        let argument = (isDistinct ? "DISTINCT " : "") + term.sql
        var result = Term(sql: "", type: term.type, isNullable: true, name: "\(function.rawValue) of \(describe(term))")
        result.keepsIntegers = term.keepsIntegers && function != .average
        switch function {
        case .count:
            result.sql = "COUNT(\(argument))"
            result.type = .integer
            result.isNullable = false
        case .sum:
            try require(term.type?.isNumber == true, term, "sum is for numbers")
            result.sql = dialect.sum(argument, of: term.type, keepsIntegers: term.keepsIntegers)
            result.isNullable = false
        case .average:
            try require(term.type?.isNumber == true, term, "avg is for numbers")
            result.sql = dialect.average(argument, isDecimal: isDecimal)
            result.type = isDecimal ? .decimal : .real
        case .minimum, .maximum:
            let hasOrder = term.type != .json && term.type != .boolean
            try require(hasOrder, term, "\(function.rawValue) is for values that have an order")
            result.isSinglePrecision = term.isSinglePrecision
            result.isJSON = term.isJSON
            result.sql = dialect.extreme(function, term.sql, of: term.isJSON ? .json : term.type)
        }
        return result
    }

    // MARK: Subqueries

    /// Runs `body` with the related object as the scope, and returns the written condition.
    private mutating func inScope(
        _ number: Int, _ related: Related, _ body: (inout Self) throws(RelataError) -> Void
    ) throws(RelataError) -> String {
        scopes.append((number, related.position))
        let outer = groups
        groups = .none
        defer {
            scopes.removeLast()
            groups = outer
        }
        return try written(body)
    }

    /// `FROM … WHERE …` of a subquery whose condition is written, so that its joins are known.
    private func source(_ related: Related, _ condition: String) -> String {
        " FROM " + frames[related.frame] + " WHERE " + related.tie + (condition.isEmpty ? "" : " AND " + condition)
    }

    /// Opens a subquery over a related set. If objects can be reached several times on a path and each counts once, the
    /// subquery is over objects with a key of the path.
    private mutating func open(_ set: RelatedSet, isDistinct: Bool) throws(RelataError) -> Related {
        var owner = try position(of: set.scope)
        guard !set.path.isEmpty else { throw .invalidUse("a related set needs the name of a to-many") }
        var index = 0
        // To-ones at the beginning belong to the outer row; the rest is the set's.
        while index < set.path.count - 1, try !isToMany(set.path[index], of: owner) {
            owner = try follow(set.path[index], from: owner)
            index += 1
        }
        frames.append("")
        let frame = frames.count - 1
        var entered = try enter(set.path[index], from: owner, frame: frame, isFirst: true)
        let (near, key, ownerDecides) = (entered.near, entered.owner, entered.ownerDecides)
        let tie = pairwise(near, key)
        var canRepeat = !entered.between.isEmpty
        for name in set.path[(index + 1)...] {
            entered = try enter(name, from: entered.position, frame: frame, isFirst: false)
            canRepeat = canRepeat || !entered.isInjective
        }
        guard isDistinct, canRepeat else {
            return Related(
                frame: frame, position: entered.position, near: near, owner: key, tie: tie,
                ownerDecides: ownerDecides)
        }
        let table = schema.tables[positions[entered.position].table]
        let keys = self.key(of: entered.position).joined(separator: ", ")
        let alias = newAlias()
        let inner = "SELECT \(keys) FROM \(frames[frame]) WHERE \(tie)"
        frames.append(source(table) + " AS " + alias)
        positions.append(
            Position(
                table: table.index, frame: frames.count - 1, alias: alias, key: nil, isOuter: false, isOptional: false,
                isKeyOptional: false))
        let outer = columns(alias, table.keyColumnNames)
        return Related(
            frame: frames.count - 1, position: positions.count - 1, near: outer, owner: key,
            tie: "\(tuple(outer)) IN (\(inner))", ownerDecides: ownerDecides)
    }

    private func isToMany(_ name: String, of position: Int) throws(RelataError) -> Bool {
        let table = schema.tables[positions[position].table]
        _ = try link(name, of: table)
        return table.isToMany(name)
    }
}
