import RelataCore
import RelataEngine
import RelataSQLite

/// Fetches shapes: one statement for the shape's objects, and one for each list in it, for any number of rows.
struct ShapeFetcher {
    let transaction: ReadTransaction

    /// The maximum nesting of shapes in themselves: each level is read inside the one above, on the same stack.
    private static let deepest = 200

    /// The shapes of a query's objects.
    func fetch<Content: Shape>(_ query: Query<Content.RootModel>, as shape: Content.Type) throws -> [Content] {
        try rows(shape, try plan(query, shape)).values
    }

    /// One page of the shapes of a query's objects.
    func page<Content: Shape>(
        _ query: Query<Content.RootModel>, as shape: Content.Type, size: Int, after position: PagePosition?
    ) throws -> Page<Content> {
        let rows = try rows(shape, try plan(query, shape).page(size: size), pageSize: size, after: position)
        return Page(objects: rows.values, next: rows.nextPage)
    }

    private func plan<Content: Shape>(_ query: Query<Content.RootModel>, _ shape: Content.Type) throws -> QueryPlan {
        if !query.includes.isEmpty {
            throw RelataError.invalidUse(
                "a shape lists what is fetched: leave 'including' out of the query, and nest a shape in \(shape)")
        }
        try transaction.refuseUndecodable(query, "a shape")
        return try transaction.plan(query)
    }

    private func rows<Content: Shape>(
        _ shape: Content.Type, _ plan: QueryPlan, pageSize: Int? = nil, after position: PagePosition? = nil
    ) throws -> Rows<Content> {
        var level = ShapeLevel(schema: transaction.catalog.schema, entity: Content.RootModel.entityName)
        try Content.shapeLayout.describe(&level, at: FieldPath())
        level.finish()
        let compiled = try transaction.compiler.select(
            plan, columns: .parts(level.parts), after: position, tellsPlace: pageSize != nil, sharing: level.toOnes)
        // Objects that are related through others may occur twice.
        return try read(
            NestedShape<Content>.self, level, compiled, isRepeated: plan.relatedTo != nil, areAll: plan.isWhole,
            depth: 1, pageSize: pageSize)
    }

    /// Loads a list of many owners.
    func load<Content: ShapeContent>(
        _ list: ShapeList, of content: Content.Type, keys: ShapeKeys, depth: Int
    ) throws -> any LoadedShapes {
        guard !keys.list.isEmpty else {
            return LoadedShapeList<Content.Value>([], lists: MemberLists([]), numbers: keys.numbers)
        }
        guard depth <= Self.deepest else {
            throw RelataError.invalidUse(
                "\(Content.Value.self) contains itself by \(list.owner.name).\(list.plan.relationship), which goes on for more than \(Self.deepest) levels or in a cycle: fetch the objects as a list"
            )
        }
        let target = Content.Target.entityName
        var level = ShapeLevel(schema: transaction.catalog.schema, entity: target)
        try Content.describe(&level, at: FieldPath(), isInRow: false)
        level.finish()
        func rows(isWhole: Bool) throws -> Rows<Content.Value> {
            let compiled = try transaction.compiler.edge(
                QueryPlan(entity: target, condition: list.plan.condition, sort: list.plan.sort), from: list.owner.name,
                along: list.plan.relationship, of: isWhole ? nil : keys.list, columns: .parts(level.parts),
                limit: list.plan.limit, tellsRows: true, sortsRows: false, sharing: level.toOnes)
            return try read(
                content, level, compiled,
                isWhole ? OwnerNumbers(keys: keys.list, type: compiled.columnTypes[0]) : OwnerNumbers(),
                isRepeated: list.isShared, areAll: isWhole && !list.isShared && list.plan.condition == nil, depth: depth
            )
        }
        let isWhole =
            keys.areAll && list.plan.limit == nil && keys.list.width == 1 && level.schema.isTotal(list.link)
            && !transaction.access.guards(list.owner)
        var found = try rows(isWhole: isWhole)
        if found.owners.hasStranger { found = try rows(isWhole: false) }
        return LoadedShapeList(
            found.values, lists: found.owners.lists(owners: keys.list.count), numbers: keys.numbers)
    }

    // MARK: Rows

    private struct Rows<Value> {
        var values: [Value]
        /// The owner of each value, if rows have it.
        var owners: EdgeRows
        /// The start of the next page.
        var nextPage: PagePosition?
    }

    private func read<Content: ShapeContent>(
        _ content: Content.Type, _ level: ShapeLevel, _ compiled: CompiledQuery,
        _ numbers: OwnerNumbers = OwnerNumbers(), isRepeated: Bool, areAll: Bool, depth: Int, pageSize: Int? = nil
    ) throws -> Rows<Content.Value> {
        let columns = compiled.partColumns
        let keys = level.lists.map { list in
            ShapeKeys(
                columns: columns[list.keyPart]..<columns[list.keyPart + 1], types: compiled.columnTypes,
                isRepeated: isRepeated || list.isOwnerRepeated, areAll: areAll && list.keyPart == 0)
        }
        var ends = [Int32](repeating: 0, count: level.toOnes.isEmpty ? 0 : compiled.columnTypes.count)
        var known = [KeyNumbers?](repeating: nil, count: ends.count)
        for (index, parts) in level.toOnes.enumerated() {
            let first = columns[parts.lowerBound]
            ends[first] = Int32(columns[parts.upperBound])
            if compiled.knownKeys.indices.contains(index), compiled.knownKeys[index] != nil {
                known[first] = KeyNumbers()
            }
        }

        let statement = compiled.statement
        let connection = transaction.connection
        var (rows, filled) = try connection.withQuery(statement.sql) { running, rowCount in
            try connection.bind(statement.parameters, to: running)
            for (parts, parameter) in zip(level.toOnes, compiled.knownKeys) {
                if let parameter { known[columns[parts.lowerBound]]?.bind(to: running, at: parameter) }
            }
            var loop = ShapeLoop<Content.Value>(
                cursor: ShapeCursor(
                    reader: ShapeReader(running, ends: ends, numbers: known), connection: connection,
                    statement: running,
                    firstColumn: Int32(columns.first ?? 0), rows: EdgeRows(compiled, numbers),
                    keys: keys))
            // The number is mostly similar to the last one: with that capacity, nothing needs to grow and be copied.
            loop.reserve(rowCount)
            loop.cursor.page = pageSize.map { PageEnd(size: $0, of: compiled) }
            do {
                try Content.read(&loop)
            } catch RelataError.corruptStore(let message) {
                throw mismatch(message, at: loop.cursor.reader.row, level, columns)
            }
            if loop.values.count < loop.values.capacity / 2 {
                loop.values = loop.values.withUnsafeBufferPointer(Array.init)
            }
            rowCount = loop.values.count
            return (
                Rows(values: loop.values, owners: loop.cursor.rows, nextPage: loop.cursor.page?.next),
                loop.cursor.keys
            )
        }
        if level.lists.isEmpty || rows.values.isEmpty || rows.owners.hasStranger { return rows }
        let lists = try zip(level.lists, filled).map { list, keys in try list.load(self, list, keys, depth + 1) }
        filled = []
        var loader = ShapeLoader(lists)
        Content.fill(&rows.values, from: &loader)
        return rows
    }

    /// The error of a row that can't be read, which names the property.
    private func mismatch(_ message: String, at row: RowReader, _ level: ShapeLevel, _ columns: [Int]) -> RelataError {
        let part = columns.lastIndex { $0 <= Int(row.column) } ?? 0
        let name = level.entity + (level.partNames.indices.contains(part) ? "." + level.partNames[part] : "")
        if !row.isNull {
            // A computed value isn't the store's fault.
            guard level.parts.indices.contains(part), case .expression(let node) = level.parts[part], node.calculates
            else { return .corruptStore("\(name): \(message)") }
            return .unfitting(row.value(as: nil), in: name)
        }
        return .invalidUse(
            "\(name) of a shape is unset in a row, because the object or one on the path to it doesn't exist: make the property's type optional"
        )
    }
}
