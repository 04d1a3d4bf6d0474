import GRDBSQLite

/// Loads relationships of objects that were fetched: one statement for each relationship, whatever the number of
/// objects, and each object at its other end decoded once.
struct IncludeLoader {
    let transaction: ReadTransaction

    private var catalog: ModelCatalog { transaction.catalog }

    /// Fills the links of objects of one model.
    func load<Owner: Model>(_ includes: [IncludePlan], into objects: inout [Owner]) throws {
        if includes.isEmpty { return }
        let table = try catalog.table(Owner.self)
        var loader = LinkLoader(count: catalog.links[table.index].count)
        for include in try IncludePlan.merged(includes) {
            guard let index = catalog.links[table.index].firstIndex(where: { $0.name == include.relationship }) else {
                throw RelataError.invalidUse(
                    "\(Owner.entityName) has no relationship \(include.relationship)"
                        + NameSuggestion.hint(
                            for: include.relationship, among: table.entity.relationships.map(\.name)))
            }
            if let limit = include.limit, limit < 1 {
                throw RelataError.invalidUse(
                    "\(Owner.entityName).\(include.relationship) is included with a limit of \(limit): give at least 1, or leave the include out"
                )
            }
            let target = catalog.types[catalog.links[table.index][index].target]
            if let recursion = include.recursion { try check(recursion, include, Owner.self, target) }
            if objects.isEmpty {
                // An include that makes no sense is an error whatever was found.
                try check(include.children, of: target)
                continue
            }
            if include.recursion != nil {
                loader.loaded[index] = try TreeLoader<Owner>(transaction: transaction, index: index, include: include)
                    .members(of: objects)
                continue
            }
            loader.loaded[index] = try members(of: include, at: index, owners: objects, target: target)
        }
        for index in objects.indices {
            loader.owner = index
            objects[index].loadLinks(from: &loader)
        }
    }

    private func check<Target: Model>(_ includes: [IncludePlan], of target: Target.Type) throws {
        var none: [Target] = []
        try load(includes, into: &none)
    }

    private func check(
        _ recursion: IncludePlan.Recursion, _ include: IncludePlan, _ owner: any Model.Type, _ target: any Model.Type
    ) throws(RelataError) {
        let name = "\(owner.entityName).\(include.relationship)"
        if owner != target {
            throw .invalidUse(
                "\(name) leads to \(target.entityName), not back to its own model: it can't be followed again")
        }
        if let depth = recursion.depth, depth < 1 {
            throw .invalidUse("\(name) is included to a depth of \(depth): give at least 1, or leave the include out")
        }
        if include.condition != nil || include.limit != nil {
            throw .invalidUse(
                "\(name) is followed to all levels, which a filter or limit would tear apart: leave them out")
        }
    }

    private func members<Owner: Model, Target: Model>(
        of include: IncludePlan, at index: Int, owners: [Owner], target: Target.Type
    ) throws -> any LoadedLinks {
        let table = try catalog.table(Owner.self)
        let isToOne = if case .reference = catalog.links[table.index][index].link { true } else { false }
        let keys = try isToOne ? LinkKeys(toOne: index, of: owners, Target.self) : LinkKeys(of: owners)
        let plan = QueryPlan(entity: Target.entityName, condition: include.requiredCondition, sort: include.sort)
        let compiled = try transaction.compiler.edge(
            plan, from: Owner.entityName, along: include.relationship, of: keys.list, limit: include.limit,
            tellsRows: true)
        // A many-to-many reaches an object once for each owner; its key tells whether it was decoded already.
        let isShared =
            switch catalog.links[table.index][index].link {
            case .join, .through: true
            case .reference, .inverse: false
            }
        let targetTable = try catalog.table(Target.self)
        let keyColumn = isShared ? targetTable.contiguousKeyColumn : nil
        var places: [Target.Key: Int32] = [:]
        var objects: [Target] = []
        var pairs: [(owner: Int32, object: Int32)] = []
        try transaction.rows(compiled.statement) { statement in
            let row = Int32(truncatingIfNeeded: sqlite3_column_int64(statement, 0)) - 1
            var place = Int32(objects.count)
            if let keyColumn {
                var reader = RowReader(statement, column: Int32(1 + keyColumn))
                let key = try Target.readKey(from: &reader)
                if let known = places[key] { place = known } else { places[key] = place }
            }
            if place == objects.count {
                var reader = RowReader(statement, column: 1)
                objects.append(try ReadTransaction.reading(Target.self) { try Target(from: &reader) })
            }
            keys.forEachOwner(ofRow: row) { pairs.append(($0, place)) }
        }
        try load(include.children, into: &objects)
        return Members(objects: objects, pairs: pairs, owners: owners.count, isToOne: isToOne)
    }
}

extension Table {
    /// The first column of the key, where the key's columns stand together in order.
    var contiguousKeyColumn: Int? {
        guard let first = keyColumns.first, keyColumns == Array(first..<first + keyColumns.count) else { return nil }
        return first
    }
}
