/// Compiles queries into SQL: the only place for it, for typed queries, the predicate format and the tool.
///
/// A to-one on a path becomes a join that is shared by all uses of the path; a to-many becomes a subquery, so that it
/// never multiplies rows. Constants are always bound.
///
/// A constant takes the form of the other operand: against a date it is an integer of microseconds since 1970 (or the
/// date as its column stores it), against a UUID `.uuid`, against a decimal text or a number.
package struct QueryCompiler: Sendable {
    /// The entities.
    package let schema: Schema
    /// The rows that the statements see.
    package let access: Access
    /// The dialect of the SQL.
    package let dialect: Dialect

    /// A compiler for the entities of a schema.
    ///
    /// - Parameter access: The access of the transaction or store. It has no default, so that no caller forgets it.
    package init(schema: Schema, access: Access, dialect: Dialect = .sqlite) {
        self.schema = schema
        self.access = access
        self.dialect = dialect
    }

    /// The objects of a query, or chosen columns of them, in order. The order is total: the primary key comes last. A
    /// query of all objects without an order, a limit or an offset yields them in their physical order.
    ///
    /// - Parameters:
    ///   - place: The end of the page before; `nil` for the first page.
    ///   - tellsPlace: Whether the columns with a row's position in the order are added at the end.
    ///   - toOnes: The parts of a row that belong to each to-one whose object may be left unset if an earlier row had
    ///     it; see ``CompiledQuery/knownKeys``.
    /// - Throws: ``RelataError/invalidUse(_:)`` for names that the schema doesn't have and types that don't fit.
    package func select(
        _ plan: QueryPlan, columns: SelectedColumns = .all, after place: PagePosition? = nil, tellsPlace: Bool = false,
        sharing toOnes: [Range<Int>] = []
    ) throws(RelataError) -> CompiledQuery {
        var query = try QueryWriter(self, plan, beginsAtPlace: place != nil || tellsPlace)
        try query.skipKnown(toOnes, of: columns)
        var (text, types) = try query.columns(columns)
        let isDistinct = plan.isDistinct && columns != .all
        // Without an order, reading the table in its physical order is much faster than by an index on the key.
        let needsOrder =
            !plan.sort.isEmpty || plan.search != nil || plan.relatedTo != nil || plan.limit != nil || plan.offset != nil
            || place != nil
            || tellsPlace
        let order = needsOrder ? try query.order(isTotal: !isDistinct) : []
        if isDistinct, dialect.isStrict, !order.isEmpty {
            let sql = try query.finishDistinct(text, order: order)
            return CompiledQuery(
                statement: query.statement(sql), columnTypes: types, partColumns: query.partColumns,
                accessParameters: query.writer.accessParameters)
        }
        if isDistinct, place != nil || tellsPlace {
            throw .invalidUse("distinct columns can't be read in pages by place: use limit and offset")
        }
        let orderName = place != nil || tellsPlace ? plan.orderName : nil
        if let known = place?.order, known != orderName {
            throw .invalidUse(
                "the place belongs to another order: continue with the query that the page came from, or begin with its "
                    + "first page")
        }
        if let place { try query.require { (writer) throws(RelataError) in try writer.after(place, order) } }
        if tellsPlace {
            for term in order {
                text.append(", \(term.sql)")
                types.append(term.type)
            }
        }
        let sql = try query.finish(isDistinct ? "SELECT DISTINCT " + text : "SELECT " + text, order: order)
        return CompiledQuery(
            statement: query.statement(sql), columnTypes: types, placeColumns: tellsPlace ? order.count : 0,
            placeOrder: orderName, partColumns: query.partColumns, knownKeys: query.knownKeys,
            accessParameters: query.writer.accessParameters)
    }

    /// The number of rows that a query yields.
    package func count(_ plan: QueryPlan) throws(RelataError) -> SQLStatement {
        var query = try QueryWriter(self, plan)
        guard plan.limit != nil || plan.offset != nil else {
            let sql = try query.finish("SELECT COUNT(*)", order: [])
            return query.statement(sql)
        }
        let sql = try query.finish("SELECT 1", order: [])
        return query.statement("SELECT COUNT(*) FROM (\(sql)) AS t")
    }

    /// Whether a query yields a row: 1 or 0.
    package func exists(_ plan: QueryPlan) throws(RelataError) -> SQLStatement {
        var query = try QueryWriter(self, plan)
        let sql = try query.finish("SELECT 1", order: [])
        return query.statement("SELECT EXISTS (\(sql))")
    }

    /// The primary keys of a query's objects.
    ///
    /// - Parameters:
    ///   - isOrdered: Whether in order; a subquery inside `IN` needs none, unless it is limited.
    ///   - earlierParameters: The number of parameters the statement has before this text, if it is put into another.
    package func keys(
        _ plan: QueryPlan, isOrdered: Bool = true, earlierParameters: Int = 0
    ) throws(RelataError) -> CompiledQuery {
        var query = try QueryWriter(self, plan, earlierParameters: earlierParameters)
        let (text, types) = try query.columns(.expressions([.property(scope: 0, path: [])]))
        let needsOrder = isOrdered || plan.limit != nil || plan.offset != nil
        let order = needsOrder ? try query.order(isTotal: true) : []
        let sql = try query.finish("SELECT " + text, order: order)
        return CompiledQuery(statement: query.statement(sql), columnTypes: types)
    }

    /// Those of some primary keys of an entity whose objects the access sees.
    package func keys(of entity: String, among keys: [KeyValue]) throws(RelataError) -> CompiledQuery {
        try self.keys(
            QueryPlan(entity: entity, condition: .keyIn(.property(scope: 0, path: []), keys)), isOrdered: false)
    }

    /// One row for each group of a query's objects that agree in some expressions; limit and offset count groups.
    ///
    /// - Parameters:
    ///   - groups: The grouping.
    ///   - columns: The columns of a row: expressions of `groups`, and aggregates of the group
    ///     (``ExpressionNode/groupAggregate(_:of:isDistinct:)``).
    ///   - having: The condition on a group.
    package func grouped(
        _ plan: QueryPlan, by groups: [ExpressionNode], columns: [ExpressionNode], having: ExpressionNode? = nil
    ) throws(RelataError) -> CompiledQuery {
        for node in columns + [having].compactMap(\.self) {
            if let stray = node.stray(groups) {
                throw .invalidUse(
                    "\(stray) differs within a group: group by it, or take an aggregate such as its maximum")
            }
        }
        for term in plan.sort {
            if let stray = term.node.stray(groups) {
                throw .invalidUse(
                    "groups can't be sorted by \(stray), which differs within a group: sort by the grouped values, or by an aggregate such as its maximum; sort before grouped only together with a limit"
                )
            }
        }
        var query = try QueryWriter(self, plan)
        let by = try query.group(by: groups)
        query.writer.groups = .direct
        let (text, types) = try query.columns(.expressions(columns))
        var order = try query.order(isTotal: false)
        if !order.isEmpty || plan.limit != nil || plan.offset != nil {
            // Groups that are equal in the order are sorted by their grouping, so that their order is total.
            for node in groups { query.writer.complete(&order, by: query.writer.terms(try query.writer.operand(node))) }
        }
        var group = groups.isEmpty ? "" : " GROUP BY " + by
        if let having {
            let condition = try query.writer.written { (writer) throws(RelataError) in try writer.condition(having) }
            group += " HAVING " + condition
        }
        query.writer.groups = .none
        let sql = try query.finish("SELECT " + text, order: order, group: group)
        return CompiledQuery(statement: query.statement(sql), columnTypes: types)
    }

    /// One row with aggregates of all of a query's objects; limit and offset apply before.
    package func totals(_ plan: QueryPlan, _ figures: [ExpressionNode]) throws(RelataError) -> CompiledQuery {
        for node in figures {
            if let stray = node.stray([]) {
                throw .invalidUse("\(stray) differs among the objects: take an aggregate of it")
            }
        }
        var query = try QueryWriter(self, plan)
        let isLimited = plan.limit != nil || plan.offset != nil
        query.writer.groups = isLimited ? .subquery([]) : .direct
        let (text, types) = try query.columns(.expressions(figures))
        guard isLimited, case .subquery(let values) = query.writer.groups else {
            let sql = try query.finish("SELECT " + text, order: [])
            return CompiledQuery(statement: query.statement(sql), columnTypes: types)
        }
        query.writer.groups = .none
        let order = try query.order(isTotal: true)
        let inner = values.enumerated().map { "\($1) AS v\($0)" }.joined(separator: ", ")
        let sql = try query.finish("SELECT " + (inner.isEmpty ? "1" : inner), order: order)
        return CompiledQuery(
            statement: query.statement("SELECT \(text) FROM (\(sql)) AS t"), columnTypes: types)
    }

    /// Checks a condition as compiling a query would.
    ///
    /// - Parameter scopes: The entities of the objects in the expression, by the number of their scope.
    func check(_ condition: ExpressionNode, scopes: [(number: Int, table: Table)]) throws(RelataError) {
        var writer = ExpressionWriter(schema: schema, dialect: dialect, access: access)
        for scope in scopes { _ = writer.start(scope.table, scope: scope.number) }
        try writer.condition(condition)
    }
}

extension ExpressionNode {
    /// The first property outside of an aggregate that is neither in `groups` nor a property of an object that is the
    /// same for the whole group.
    fileprivate func stray(_ groups: [ExpressionNode]) -> String? {
        if groups.contains(self) { return nil }
        switch self {
        case .property(let scope, let path):
            let isOfLinked = groups.contains {
                if case .property(scope, let link) = $0 { path.starts(with: link) } else { false }
            }
            if isOfLinked { return nil }
            return path.isEmpty ? "the object" : path.joined(separator: ".")
        case .groupAggregate: return nil
        default:
            for part in parts {
                if let stray = part.stray(groups) { return stray }
            }
            return nil
        }
    }
}
