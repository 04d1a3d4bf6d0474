import RelataCore
import RelataEngine

/// Loads relationships of fetched objects: one statement for each relationship, for any number of objects, and each
/// object at its other end decoded once.
struct IncludeLoader {
    let transaction: ReadTransaction

    private var catalog: ModelCatalog { transaction.catalog }

    /// Fills the links of objects of one model.
    ///
    /// - Parameter areAll: Whether they are all objects of the model, so that whole tables may be read for them.
    func load<Owner: Model>(_ includes: [IncludePlan], into objects: inout [Owner], areAll: Bool = false) throws {
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
                // An invalid include is an error, even without results.
                try check(include.children, of: target)
                continue
            }
            if include.recursion != nil {
                loader.loaded[index] = try TreeLoader<Owner>(transaction: transaction, index: index, include: include)
                    .members(of: objects)
                continue
            }
            loader.loaded[index] = try members(
                of: include, at: index, owners: objects, areAll: areAll, target: target)
        }
        Owner.loadLinks(of: &objects, from: &loader)
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
                "\(name) is followed to all levels, so it can't have a filter or limit: remove them")
        }
    }

    private func members<Owner: Model, Target: Model>(
        of include: IncludePlan, at index: Int, owners: [Owner], areAll: Bool, target: Target.Type
    ) throws -> AnyMembers {
        let table = try catalog.table(Owner.self)
        let link = catalog.links[table.index][index].link
        let toOne: ToOneKeys<Target>? = link.isReference ? try ToOneKeys(index, of: owners) : nil
        let edge = Edge<Owner, Target>(
            link: link, include: include, keys: try toOne?.list() ?? KeyList(of: owners))
        // Rows of hidden owners aren't needed.
        var isWhole =
            areAll && catalog.schema.isTotal(link) && include.limit == nil && edge.keys.width == 1
            && !transaction.access.guards(table)
        var loop = try read(edge, isWhole: isWhole)
        if loop.rows.hasStranger {
            isWhole = false
            loop = try read(edge, isWhole: false)
        }
        var objects = loop.objects
        let lists =
            toOne.map { loop.rows.lists(ofRows: $0.rows, keys: $0.keys.count) }
            ?? loop.rows.lists(owners: owners.count)
        let areAll = if case .inverse = link { isWhole && include.requiredCondition == nil } else { false }
        try load(include.children, into: &objects, areAll: areAll)
        return Members(
            objects: objects, lists: lists, isToOne: toOne != nil,
            absence: include.requiredCondition == nil ? .missing : .excluded)
    }

    /// A relationship of many objects.
    private struct Edge<Owner: Model, Target: Model> {
        let link: Link
        let include: IncludePlan
        /// The owners' keys; for a to-one those that they hold in it.
        let keys: KeyList
    }

    /// Reads the objects at the other end.
    ///
    /// - Parameter isWhole: Whether the whole table is read instead of looking up each key: for all objects, that reads
    ///   the same rows in half the time.
    private func read<Owner: Model, Target: Model>(
        _ edge: Edge<Owner, Target>, isWhole: Bool
    ) throws -> ReadLoop<Target> {
        let include = edge.include
        // A many-to-many reaches an object once for each owner; its key shows whether it was read already.
        let isShared =
            switch edge.link {
            case .join, .through: true
            case .reference, .inverse, .matched: false
            }
        let keyColumn = isShared ? try catalog.table(Target.self).contiguousKeyColumn : nil
        let compiled = try transaction.compiler.edge(
            QueryPlan(entity: Target.entityName, condition: include.requiredCondition, sort: include.sort),
            from: Owner.entityName, along: include.relationship, of: isWhole ? nil : edge.keys,
            limit: include.limit, tellsRows: true, sortsRows: false, tellsOnce: isShared,
            ownerCount: edge.keys.count)
        let numbers = isWhole ? OwnerNumbers(keys: edge.keys, type: compiled.columnTypes[0]) : OwnerNumbers()
        return try transaction.read(compiled.statement) { statement in
            try ReadLoop(statement, edge: compiled, owner: .number, numbers: numbers, keyColumn: keyColumn)
        }
    }
}

extension Table {
    /// The first column of the key, if the key's columns are consecutive and in order.
    var contiguousKeyColumn: Int? {
        guard let first = keyColumns.first, keyColumns == Array(first..<first + keyColumns.count) else { return nil }
        return first
    }
}
