/// Edges of a graph: the related objects of many objects at once.
extension QueryCompiler {
    /// The objects at the other end of a relationship of many owners: one statement for any number of owners.
    ///
    /// Each row begins with the key of its owner, as it is in `owners`, followed by the entity's columns. An object
    /// that several owners share has a row for each. Rows are in the plan's order, or otherwise in the relationship's.
    ///
    /// - Parameters:
    ///   - plan: A query over the objects at the other end. Its limit and offset count rows of all owners together.
    ///   - entity: The owners' entity.
    ///   - relationship: The owners' relationship.
    ///   - owners: The owners' keys; for a to-one the keys that the owners hold in it. Each should be given once. `nil`
    ///     for all existing ones: the table at the other end is read in any order, and rows include their owner's key.
    ///   - chosen: The columns of each object.
    ///   - limit: The largest number of objects for each owner.
    ///   - tellsRows: Whether rows begin with the owner's place in the list, from 1, instead of its key.
    ///   - sortsRows: Whether rows are always sorted. Otherwise they may be in any order, and end with columns for the
    ///     object's position among those of its owner, a position or a key or both: see ``CompiledQuery/placeColumns``.
    ///     Sorting the few objects of an owner is fast, sorting all rows together isn't.
    ///   - toOnes: The parts of a row that belong to each to-one whose object may be left unset if an earlier row had
    ///     it; see ``CompiledQuery/knownKeys``.
    ///   - tellsOnce: Whether links and objects may come in separate rows, because an object that many owners share
    ///     must be read only once; see ``CompiledQuery/objectRows``.
    ///   - ownerCount: The number of owners, if they are all existing ones. If there are fewer objects, all of them may
    ///     be read for their links.
    ///   - recursion: Whether the targets are themselves owners, and to what depth. The relationship must lead back to
    ///     its own entity, and rows include their owner's key.
    package func edge(
        _ plan: QueryPlan, from entity: String, along relationship: String, of owners: KeyList?,
        columns chosen: SelectedColumns = .all, limit: Int? = nil, tellsRows: Bool = false, sortsRows: Bool = true,
        sharing toOnes: [Range<Int>] = [], tellsOnce: Bool = false, ownerCount: Int? = nil,
        following recursion: IncludePlan.Recursion? = nil
    ) throws(RelataError) -> CompiledQuery {
        let tellsRows = tellsRows && owners != nil
        if let limit, tellsRows, let owners, case .inverse(let number)? = schema[entity]?.links[relationship],
            schema.references[number].comparison == .equal
        {
            return try edge(plan, along: schema.references[number], of: owners, columns: chosen, limit: limit)
        }
        var query = try QueryWriter(self, plan, from: entity, along: relationship, of: owners, recursion)
        let owner = tellsRows ? "k.rowid" : query.owner.joined(separator: ", ")
        let ownerTypes: [AttributeType?] = tellsRows ? [.integer] : query.ownerTypes
        if tellsOnce, limit == nil, plan.isWhole, plan.sort.isEmpty, ownerTypes.count == 1,
            let compiled = try query.linksAndObjects(
                owner, ownerTypes[0], isWhole: owners == nil, ownerCount: ownerCount)
        {
            return compiled
        }
        if limit == nil { try query.skipKnown(toOnes, of: chosen) }
        var (columns, types) = try query.columns(chosen)
        var order = try query.order(isTotal: true)
        let parts = query.partColumns.map { $0 + ownerTypes.count }
        guard let limit else {
            let place = sortsRows || !plan.sort.isEmpty ? nil : query.place(order, isWhole: owners == nil)
            if let place {
                for term in place {
                    columns.append(", \(term.sql)")
                    types.append(term.type)
                }
                order = []
            }
            let sql = try query.finish("SELECT \(owner), \(columns)", order: order)
            return CompiledQuery(
                statement: query.statement(sql), columnTypes: ownerTypes + types, placeColumns: place?.count ?? 0,
                partColumns: parts, knownKeys: query.knownKeys)
        }
        // The last column numbers an owner's objects; readers skip it.
        let number =
            "ROW_NUMBER() OVER (PARTITION BY \(owner) ORDER BY \(query.writer.orderClause(order))) AS relata_number"
        let inner = try query.finish("SELECT \(owner), \(columns), \(number)", order: [])
        let last = query.writer.bind(.integer(Int64(limit)), as: .integer)
        return CompiledQuery(
            statement: query.statement(
                "SELECT * FROM (\(inner)) AS relata_rows WHERE relata_number <= \(last) ORDER BY relata_number"),
            columnTypes: ownerTypes + types + [.integer], partColumns: parts)
    }

    /// As ``edge(_:from:along:of:columns:limit:tellsRows:sortsRows:sharing:tellsOnce:following:)`` with a limit, if the
    /// objects hold the key: the first objects are looked up owner by owner, which is several times faster than
    /// numbering the objects of all owners.
    private func edge(
        _ plan: QueryPlan, along reference: Reference, of owners: KeyList, columns chosen: SelectedColumns,
        limit: Int
    ) throws(RelataError) -> CompiledQuery {
        var query = try QueryWriter(self, QueryPlan(entity: plan.entity, sort: plan.sort))
        let target = schema.tables[reference.target]
        let list = query.writer.bind(table: owners.parameter, types: target.keyTypes)
        try query.requireSeen(owners.columns("k"), of: target)
        if dialect == .sqlite { query.writer.frames[0] = "\(list) AS k CROSS JOIN " + query.writer.frames[0] }
        let (columns, types) = try query.columns(chosen)
        _ = query.setOrder(of: reference)
        let order = try query.order(isTotal: true)

        var first = plan
        first.limit = limit
        var inner = try QueryWriter(self, first, earlierParameters: query.writer.parameters.count)
        let alias = inner.setOrder(of: reference)
        let key = owners.columns("k").map(dialect.unaffiliated)
        try inner.require { (writer) throws(RelataError) in
            writer.sql.append(writer.pairwise(writer.columns(alias, reference.columns), key))
        }
        let keys = inner.writer.columns(alias, inner.table.keyColumnNames).joined(separator: ", ")
        let firstKeys = try inner.finish("SELECT \(keys)", order: try inner.order(isTotal: true))
        let own = query.writer.columns(
            query.writer.alias(of: query.writer.scopes[0].position), inner.table.keyColumnNames)
        switch dialect {
        case .sqlite:
            try query.require { (writer) throws(RelataError) in
                writer.sql.append("\(writer.tuple(own)) IN (\(firstKeys))")
            }
        case .postgres:
            // A subquery that depends on the owner would run for each of its pairs with an object.
            let names = own.indices.map { "k\($0)" }
            let first = names.map { "relata_first.\($0)" }
            query.writer.frames[0] =
                "\(list) AS k CROSS JOIN LATERAL (\(firstKeys)) AS relata_first(\(names.joined(separator: ", "))) CROSS JOIN "
                + query.writer.frames[0]
            try query.require { (writer) throws(RelataError) in writer.sql.append(writer.pairwise(own, first)) }
        }
        let sql = try query.finish("SELECT k.rowid, \(columns)", order: order)
        return CompiledQuery(
            statement: SQLStatement(sql, query.writer.parameters + inner.writer.parameters),
            columnTypes: [.integer] + types, partColumns: query.partColumns.map { $0 + 1 })
    }
}

extension QueryWriter {
    /// Begins with the rows of a relationship of many objects, whose keys are a list called `k`, or of all objects.
    fileprivate init(
        _ compiler: QueryCompiler, _ plan: QueryPlan, from entity: String, along relationship: String,
        of owners: KeyList?, _ recursion: IncludePlan.Recursion?
    ) throws(RelataError) {
        guard let source = compiler.schema[entity], let link = source.links[relationship],
            let target = source.entity.relationship(relationship).flatMap({ compiler.schema[$0.target] }),
            plan.entity == target.name
        else {
            throw .invalidUse("\(entity).\(relationship) isn't a relationship to \(plan.entity)")
        }
        writer = ExpressionWriter(schema: compiler.schema, dialect: compiler.dialect, access: compiler.access)
        self.plan = plan
        table = target
        ownerTypes = link.isReference ? target.keyTypes : source.keyTypes
        let entered: ExpressionWriter.Entered
        if let owners {
            let list = writer.bind(table: owners.parameter, types: link.isReference ? target.keyTypes : source.keyTypes)
            writer.frames.append(
                (recursion.map { writer.owners(list, owners.width, link, source, $0) } ?? list) + " AS k")
            owner = owners.columns("k")
            let key = owner.map { writer.dialect.unaffiliated($0) }
            entered = writer.enter(link, ownerKey: key, frame: 0, isFirst: false)
        } else {
            writer.frames.append("")
            entered = writer.enter(link, ownerKey: [], frame: 0, isFirst: true)
            owner = entered.near
        }
        switch link {
        case .reference: hasOneAnOwner = true
        case .inverse(let number): isOrderStored = writer.schema.references[number].isOrderStored
        case .join: isOrderStored = !entered.order.isEmpty
        case .through, .matched: break
        }
        // A to-one's value is a key of the target, which is visible if its row is.
        if !link.isReference { try requireSeen(owner, of: source) }
        writer.scopes.append((0, entered.position))
        relationOrder = entered.order.map { ExpressionWriter.Term(sql: $0, type: .integer, isNullable: true) }
        between = entered.between.map { ExpressionWriter.Term(sql: $0, type: nil, isNullable: false) }
        if let condition = plan.condition, condition != .and([]) {
            try require { (writer) throws(RelataError) in try writer.condition(condition, isInside: true) }
        }
    }

    /// Excludes links of hidden owners: a caller who knows a key may not see the object.
    fileprivate mutating func requireSeen(_ owner: [String], of table: Table) throws(RelataError) {
        guard writer.access.guards(table) else { return }
        try require { (writer) throws(RelataError) in
            writer.sql.append(writer.isSeen(owner.map(writer.dialect.unaffiliated), of: table) ?? "")
        }
    }

    /// The rows of a relationship whose objects many owners may share, without the objects, followed by each object
    /// once. `nil` if more than the key of an object determines the rows or their order.
    fileprivate mutating func linksAndObjects(
        _ owner: String, _ ownerType: AttributeType?, isWhole: Bool, ownerCount: Int?
    ) throws(RelataError) -> CompiledQuery? {
        let position = writer.positions[writer.scopes[0].position]
        guard position.alias == nil, let key = position.key, key.count == 1,
            var place = place(try order(isTotal: true), isWhole: isWhole)
        else { return nil }
        // The key is there already.
        if let last = place.popLast(), last.sql != key[0] { return nil }
        let own = table.columns.map { "o." + writer.dialect.quote($0.name) }
        let ownTypes: [AttributeType?] = table.columns.map(\.type)
        if writer.dialect == .postgres {
            let places = place.indices.map { "relata_place\($0)" }
            let links = ([owner, key[0]] + place.map(\.sql)).joined(separator: ", ")
            let names = (["relata_owner", "relata_target"] + places).joined(separator: ", ")
            let target = writer.columns("o", table.keyColumnNames)[0]
            // A server sends, and a client reads, each column of each row, so there are as few columns as possible.
            let keyPlace = table.keyColumns[0]
            let linkColumns = own.indices.map { $0 == keyPlace ? "relata_target" : "NULL" }
            // Reading a table twice takes less time than keeping its rows; looking up the links of a list twice
            // doesn't.
            let keeping = isWhole ? "NOT MATERIALIZED" : "MATERIALIZED"
            var text = "WITH relata_links(\(names)) AS \(keeping) (\(try finish("SELECT " + links, order: [])))"
            // A row without an owner is an object.
            let objects =
                " UNION ALL SELECT " + (["NULL"] + own + place.map { _ in "NULL" }).joined(separator: ", ")
                + " FROM \(writer.source(table)) AS o WHERE "
            var (allObjects, condition) = ("", "\(target) IN (SELECT relata_target FROM relata_links)")
            if isWhole, let ownerCount {
                // If there are few objects, finding the linked ones takes longer than reading all. Only one of the two
                // parts runs.
                let count = writer.bind(.integer(Int64(ownerCount)), as: .integer)
                text += ", relata_objects(are_few) AS MATERIALIZED (SELECT count(*) < \(count) FROM (SELECT 1 FROM "
                text += "\(writer.source(table)) AS relata_object LIMIT \(count)) AS relata_some)"
                allObjects = objects + "(SELECT are_few FROM relata_objects)"
                condition = "NOT (SELECT are_few FROM relata_objects) AND " + condition
            }
            text += " SELECT " + (["relata_owner"] + linkColumns + places).joined(separator: ", ")
            text += " FROM relata_links WHERE relata_owner IS NOT NULL" + allObjects + objects + condition
            return CompiledQuery(
                statement: statement(text), columnTypes: [ownerType] + ownTypes + place.map(\.type),
                placeColumns: place.count, partColumns: [1 + keyPlace, 1, 1 + own.count], objectRows: .keys)
        }
        var text = try finish(
            "SELECT " + ([owner, key[0]] + own.map { _ in "NULL" } + place.map(\.sql)).joined(separator: ", "),
            order: [])
        // The links are passed to SQLite while the statement runs.
        let wanted = writer.bind(table: .value(.null), types: table.keyTypes)
        let wantedKeys = writer.parameters.count
        text += " UNION ALL SELECT "
        text += (["NULL", "w.rowid"] + own + place.map { _ in "NULL" }).joined(separator: ", ")
        text += " FROM \(wanted) AS w CROSS JOIN \(writer.source(table)) AS o ON "
        text += writer.pairwise(writer.columns("o", table.keyColumnNames), [writer.dialect.unaffiliated("w.c0")])
        return CompiledQuery(
            statement: statement(text),
            columnTypes: [ownerType, ownTypes[table.keyColumns[0]]] + ownTypes + place.map(\.type),
            placeColumns: place.count, partColumns: [1, 2, 2 + own.count],
            objectRows: .numbers(parameter: wantedKeys))
    }

    /// Takes over the order of a reference's view, and returns the alias of the objects.
    fileprivate mutating func setOrder(of reference: Reference) -> String {
        let alias = writer.alias(of: writer.scopes[0].position)
        relationOrder = [reference.orderColumn].compactMap { $0 }.map {
            ExpressionWriter.Term(sql: writer.column(alias, $0), type: .integer, isNullable: true)
        }
        return alias
    }

    /// The terms of a relationship's own order if the reader of the rows can sort by them: a position that the store
    /// manages, and a key that is a number or a UUID. None if an owner has at most one object.
    ///
    /// - Parameter isWhole: Whether a table is read from its beginning to its end, which is in the order of a number
    ///   that is its key.
    fileprivate func place(_ order: [ExpressionWriter.OrderTerm], isWhole: Bool) -> [ExpressionWriter.OrderTerm]? {
        if hasOneAnOwner { return [] }
        guard between.isEmpty, order.count == (isOrderStored ? 2 : 1), let key = order.last else { return nil }
        if isWhole, order.count == 1, key.type == .integer, writer.positions[0].key == nil { return nil }
        return key.type == .integer || key.type == .uuid(.blob) ? order : nil
    }
}

extension ExpressionWriter {
    /// The owners of all levels as a table, each once. `UNION` ends cycles; a level is counted only if it is limited.
    fileprivate mutating func owners(
        _ list: String, _ width: Int, _ link: Link, _ table: Table, _ recursion: IncludePlan.Recursion
    ) -> String {
        let step = step(along: link, from: table)
        let names = (0..<width).map { "c\($0)" }.joined(separator: ", ")
        let far = columns("step", step.far)
        let near = pairwise(columns("step", step.near), (0..<width).map { "relata_tree.c\($0)" })
        var (level, first, next, limit) = ("", "", "", "")
        if let depth = recursion.depth {
            (level, first, next) = (", level", ", 1", ", relata_tree.level + 1")
            limit = " AND relata_tree.level < " + bind(.integer(Int64(depth)), as: .integer)
        }
        let isSet = far.map { $0 + " IS NOT NULL" }.joined(separator: " AND ")
        // Hidden objects are never reached. A step reaches none; the first objects may be any.
        let isSeen =
            link.isReference ? nil : isSeen((0..<width).map { dialect.unaffiliated("relata_list.c\($0)") }, of: table)
        let begin = "SELECT \(names)\(first) FROM \(list) AS relata_list" + (isSeen.map { " WHERE " + $0 } ?? "")
        return
            "(WITH RECURSIVE relata_tree(\(names)\(level)) AS (\(begin) UNION SELECT "
            + far.joined(separator: ", ") + next
            + " FROM relata_tree JOIN \(step.rows) AS step ON \(near)"
            + " WHERE \(isSet)\(limit)) SELECT \(level.isEmpty ? "" : "DISTINCT ")\(names) FROM relata_tree)"
    }
}

extension KeyList {
    /// The columns of the list if it is a table of that name.
    fileprivate func columns(_ alias: String) -> [String] { (0..<width).map { "\(alias).c\($0)" } }
}
