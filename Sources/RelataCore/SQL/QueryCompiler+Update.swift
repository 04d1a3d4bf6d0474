extension QueryCompiler {
    /// Sets properties of all objects that a query finds.
    ///
    /// - Parameters:
    ///   - returnsKeys: Whether the statement yields the keys of the objects it changed.
    ///   - returned: The columns whose new values follow each key, by their numbers in ``Table/columns``.
    /// - Throws: ``RelataError/invalidUse(_:)`` for a property that can't be set (a key, or a to-many, which is stored
    ///   at the other side) and for values that don't fit it.
    package func update(
        _ plan: QueryPlan, _ assignments: [Assignment], returnsKeys: Bool = false, returned: [Int] = []
    ) throws(RelataError) -> CompiledQuery {
        guard !assignments.isEmpty else { throw .invalidUse("an update of \(plan.entity) needs something to set") }
        var query = try QueryWriter(self, plan)
        let table = query.table
        var names: [String] = []
        var values: [String] = []
        for assignment in assignments {
            let columns = try settable(assignment.property, of: table)
            for (column, value) in zip(columns, try query.writer.values(of: assignment, columns: columns, of: table)) {
                if names.contains(column.name) {
                    throw .invalidUse("\(table.name).\(assignment.property) is set twice")
                }
                names.append(column.name)
                values.append(value)
            }
        }
        let keys = table.keyColumnNames
        var sql = "UPDATE \(dialect.quote(table.sqlName)) AS "
        let isPlain = plan.relatedTo == nil && plan.limit == nil && plan.offset == nil
        if isPlain, query.writer.frames[0] == "\(dialect.quote(table.sqlName)) AS t0" {
            sql += "t0 SET " + list(names, values, of: table, as: "t0")
            if !query.condition.isEmpty { sql += " WHERE " + query.condition }
        } else {
            // The values may come from rows beyond the table, and the order limits which rows are meant.
            guard case .key(let terms, _) = query.writer.object(query.writer.scopes[0].position) else {
                throw .invalidUse("\(table.name) has no key")
            }
            let selected =
                terms.enumerated().map { "\($1.sql) AS k\($0)" } + values.enumerated().map { "\($1) AS v\($0)" }
            let order = isPlain ? [] : try query.order(isTotal: true)
            let source = try query.finish("SELECT " + selected.joined(separator: ", "), order: order)
            sql += "changed SET " + list(names, names.indices.map { "found.v\($0)" }, of: table, as: "changed")
            sql += " FROM (\(source)) AS found WHERE "
            sql += query.writer.pairwise(
                query.writer.columns("changed", keys), keys.indices.map { "found.k\($0)" })
        }
        let columns = returnsKeys ? (table.keyColumns + returned).map { table.columns[$0] } : []
        if returnsKeys { sql += " RETURNING " + dialect.list(columns.map(\.name)) }
        return CompiledQuery(
            statement: query.statement(sql),
            columnTypes: columns.map(\.type))
    }

    /// The list of assignments, with those of places.
    private func list(_ names: [String], _ values: [String], of table: Table, as alias: String) -> String {
        let pairs = Array(zip(names, values))
        return
            (pairs.map { "\(dialect.quote($0)) = \($1)" }
            + schema.places(in: table, setting: pairs, of: alias, dialect)).joined(separator: ", ")
    }

    /// The columns of a property that an update may set.
    private func settable(_ property: String, of table: Table) throws(RelataError) -> [Column] {
        let path = property.split(separator: ".").map(String.init)
        guard path.count < 2 else {
            let owner = schema.entity(at: path.dropLast(), from: table.entity)
            throw .notOwn(
                property, "property", of: table.name,
                "an update sets properties of the objects of its query: set it in an update of "
                    + (owner.map { "\($0.name) objects" } ?? "the objects that have it"))
        }
        let columns = table.columnIndexes(of: property).map { table.columns[$0] }
        guard !columns.isEmpty else {
            guard table.entity.relationship(property) == nil else {
                throw .invalidUse(
                    "\(table.name).\(property) is stored on its other side: set the to-one there, or edit the link")
            }
            throw .invalidUse(
                "\(table.name) has no property \(property)"
                    + NameSuggestion.hint(for: property, among: table.entity.properties.map(\.name)))
        }
        guard !table.entity.key.contains(property) else {
            throw .invalidUse("\(table.name).\(property) is part of the key, which never changes: insert a new object")
        }
        return columns
    }
}

extension Schema {
    /// The entity at the end of a path of relationships; `nil` for an invalid path.
    fileprivate func entity(at path: some Sequence<String>, from entity: Entity) -> Entity? {
        path.reduce(entity) { (entity: Entity?, name) in
            entity?.relationship(name).flatMap { index(of: $0.target) }.map { tables[$0].entity }
        }
    }

    /// Additional columns of an update: an object that changes its owner has no position in the new one's list yet, if
    /// the store manages it. It is placed last.
    ///
    /// - Parameter row: The name of the row that is updated, quoted.
    package func places(
        in table: Table, setting columns: [(name: String, value: String)], of row: String, _ dialect: Dialect
    ) -> [String] {
        references.compactMap { reference in
            guard reference.source == table.index, reference.isOrderStored, let order = reference.orderColumn else {
                return nil
            }
            let isSame = columns.filter { reference.columns.contains($0.name) }.map {
                "\(row).\(dialect.quote($0.name))\(dialect.isSame)\($0.value)"
            }
            guard !isSame.isEmpty else { return nil }
            let place = dialect.quote(order)
            return "\(place) = CASE WHEN \(isSame.joined(separator: " AND ")) THEN \(row).\(place) END"
        }
    }
}

extension ExpressionWriter {
    /// The new values of an assignment's columns.
    fileprivate mutating func values(
        of assignment: Assignment, columns: [Column], of table: Table
    ) throws(RelataError) -> [String] {
        let targets = columns.map { column in
            Term(sql: "", type: column.type, isNullable: column.isOptional, name: "\(table.name).\(column.property)")
        }
        switch assignment.value {
        case .key(nil):
            return try zip(targets, columns).map { (term, _) throws(RelataError) in try constant(.null, for: term) }
        case .key(let key?):
            guard key.values.count == columns.count, columns[0].reference != nil else {
                throw .invalidUse("\(key) isn't a key that \(table.name).\(assignment.property) can be set to")
            }
            return try zip(key.values, targets).map { (value, term) throws(RelataError) in
                try constant(value, for: term)
            }
        case .expression(let node):
            switch try operand(node) {
            case .constant(let value) where value.isNull:
                return try targets.map { (term) throws(RelataError) in try constant(.null, for: term) }
            case .constant(let value):
                guard targets.count == 1 else {
                    throw .invalidUse("\(table.name).\(assignment.property) needs a key of \(targets.count) parts")
                }
                return [try constant(value, for: targets[0])]
            case .term(let term):
                guard targets.count == 1 else {
                    throw .invalidUse("\(table.name).\(assignment.property) needs a key of \(targets.count) parts")
                }
                return [try converted(term, to: targets[0])]
            case .key(let terms, let entity):
                let target = columns[0].reference.map { schema.references[$0].target }
                guard terms.count == targets.count, target == nil ? terms.count == 1 : target == entity else {
                    throw .invalidUse(
                        "\(table.name).\(assignment.property) can't be set to an object of \(schema.tables[entity].name)"
                    )
                }
                return try zip(terms, targets).map { (term, target) throws(RelataError) in
                    try converted(term, to: target)
                }
            }
        }
    }

    private mutating func constant(_ value: Value, for target: Term) throws(RelataError) -> String {
        guard !value.isNull || target.isNullable else {
            throw .invalidUse("\(describe(target)) is required: it can't be unset")
        }
        let fitting = try stored(value, like: target)
        if target.type == .integer, case .real(let number) = fitting {
            guard let integer = Int64(exactly: number) else {
                throw .invalidUse("\(describe(target)) is an integer: \(number) would be cut")
            }
            return bind(.integer(integer), as: .integer)
        }
        return bind(fitting, as: target.boundType)
    }

    /// A value in the form of the column it is written to.
    private func converted(_ term: Term, to target: Term) throws(RelataError) -> String {
        guard let from = term.type, let to = target.type, from != to else { return term.sql }
        switch (from, to) {
        case (.integer, .real): return term.sql
        case (.boolean, .integer): return dialect.integer(converting: term.sql)
        case (.integer, .decimal), (.real, .decimal): return dialect.decimal(converting: term.sql)
        case (.json, .text): return "CAST(\(term.sql) AS TEXT)"
        case (.decimal, .real): return dialect.real(converting: term.sql)
        case (.date(let encoding), .date(.microseconds)): return dialect.instant(term.sql, encoding)
        case (.date(let encoding), .date(.seconds)):
            return dialect.seconds(ofInstant: dialect.instant(term.sql, encoding))
        case (.date, .date(.iso8601)):
            throw .invalidUse(
                "\(describe(target)) is stored as ISO 8601 text, and the database computes \(describe(term)) as a number: declare the attribute without .iso8601, or set it object by object"
            )
        case (.uuid, .uuid):
            throw .invalidUse(
                "\(describe(target)) and \(describe(term)) store a UUID differently, one as text and one as bytes: declare both alike, or set it object by object"
            )
        default:
            throw .invalidUse(
                "\(describe(target)) is \(to.spelled) and \(describe(term)) is \(from.spelled): it can't be set to that"
            )
        }
    }
}
