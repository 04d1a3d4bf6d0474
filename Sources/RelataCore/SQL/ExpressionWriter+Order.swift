/// The order, and the condition that starts a page after a position in it.
extension ExpressionWriter {
    /// One key of an order in SQL.
    struct OrderTerm {
        let sql: String
        let type: AttributeType?
        /// The type of a place's values.
        let boundType: AttributeType?
        let isNullable: Bool
        let isAscending: Bool
        let nullsFirst: Bool

        init(_ term: Term, sql: String, isAscending: Bool = true, nullsFirst: Bool? = nil) {
            self.sql = sql
            type = term.type
            boundType = term.boundType
            isNullable = term.isNullable
            self.isAscending = isAscending
            self.nullsFirst = nullsFirst ?? isAscending
        }

        /// The order by another name of its value.
        init(_ term: OrderTerm, sql: String) {
            self.sql = sql
            type = term.type
            boundType = term.boundType
            isNullable = term.isNullable
            isAscending = term.isAscending
            nullsFirst = term.nullsFirst
        }

        /// A position in an ordered relationship: an object without a position comes last.
        init(position: Term) { self.init(position, sql: position.sql, nullsFirst: false) }
    }

    /// The keys of an order in SQL.
    mutating func order(_ sort: [SortTerm]) throws(RelataError) -> [OrderTerm] {
        var order: [OrderTerm] = []
        for key in sort {
            if key.node.isConstant { throw .invalidUse("a constant isn't an order: sort by a property") }
            for term in terms(try operand(key.node)) {
                guard term.type != .json else {
                    throw .invalidUse("\(describe(term)) is a JSON value, which has no order: sort by something else")
                }
                var sql = try comparable(term, term.type == .text || term.type == nil ? key.options : [])
                if let locale = key.locale, term.type == .text || term.type == nil {
                    sql += " COLLATE " + dialect.collation(try TextLocale(identifier: locale))
                }
                order.append(OrderTerm(term, sql: sql, isAscending: key.isAscending, nullsFirst: key.nullsFirst))
            }
        }
        return order
    }

    /// Adds terms that make an order total, if needed.
    mutating func complete(_ order: inout [OrderTerm], by ties: [Term]) {
        guard !ties.allSatisfy({ tie in order.contains { $0.sql == tie.sql } }) else { return }
        for tie in ties { order.append(OrderTerm(tie, sql: tie.sql)) }
    }

    /// `a DESC NULLS LAST, b`.
    func orderClause(_ order: [OrderTerm]) -> String {
        var text = ""
        for term in order {
            if !text.isEmpty { text.append(", ") }
            text.append(term.sql)
            if !term.isAscending { text.append(" DESC") }
            // Only written if the engine's default differs, so that an index can serve the order.
            if term.isNullable, term.nullsFirst != (dialect.sortsNullsFirst == term.isAscending) {
                text.append(term.nullsFirst ? " NULLS FIRST" : " NULLS LAST")
            }
        }
        return text
    }

    /// Appends that a row follows a position: `a > 1 OR a = 1 AND (b > 2 OR …)`, with a bound on the first key that an
    /// index serves.
    mutating func after(_ place: PagePosition, _ order: [OrderTerm]) throws(RelataError) {
        guard place.values.count == order.count else {
            throw .invalidUse(
                "the place has \(place.values.count) values, and the query sorts by \(order.count): "
                    + "continue with the query that the page came from")
        }
        try after(place.values[...], order[...])
    }

    private mutating func after(
        _ values: ArraySlice<Value>, _ order: ArraySlice<OrderTerm>
    ) throws(RelataError) {
        guard let term = order.first, let value = values.first else { return sql.append(dialect.never) }
        let isLast = order.count == 1
        if value.isNull {
            if term.nullsFirst { sql.append(isLast ? "\(term.sql) IS NOT NULL" : "(\(term.sql) IS NOT NULL OR ") }
            if isLast { return term.nullsFirst ? () : sql.append(dialect.never) }
            if !term.nullsFirst { sql.append("(") }
            sql.append("\(term.sql) IS NULL AND ")
            try after(values.dropFirst(), order.dropFirst())
            return sql.append(")")
        }
        let parameter = bind(value, as: term.boundType)
        let comparison = term.isAscending ? ">" : "<"
        let hasNullsAfter = term.isNullable && !term.nullsFirst
        if !isLast, !hasNullsAfter { sql.append("(\(term.sql) \(comparison)= \(parameter) AND ") }
        if !isLast || hasNullsAfter { sql.append("(") }
        sql.append("\(term.sql) \(comparison) \(parameter)")
        if hasNullsAfter { sql.append(" OR \(term.sql) IS NULL") }
        if !isLast {
            sql.append(" OR \(term.sql) = \(parameter) AND ")
            try after(values.dropFirst(), order.dropFirst())
        }
        if !isLast || hasNullsAfter { sql.append(")") }
        if !isLast, !hasNullsAfter { sql.append(")") }
    }
}
