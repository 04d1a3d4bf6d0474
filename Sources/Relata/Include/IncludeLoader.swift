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
        var waiting: [(include: IncludePlan, index: Int)] = []
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
            waiting.append((include, index))
        }
        for together in transaction.connection.sentTogether(waiting) {
            let edges = try together.map { include, index in
                try edge(
                    of: include, at: index, owners: objects, areAll: areAll,
                    target: catalog.types[catalog.links[table.index][index].target])
            }
            try transaction.connection.withQueries(edges.map(\.statement)) { try edges[$0].read($1, rowCount: &$2) }
            for edge in edges { loader.loaded[edge.index] = try edge.members() }
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

    private func edge<Owner: Model, Target: Model>(
        of include: IncludePlan, at index: Int, owners: [Owner], areAll: Bool, target: Target.Type
    ) throws -> any EdgeLoading {
        try EdgeLoader<Owner, Target>(
            transaction: transaction, include: include, index: index, owners: owners, areAll: areAll)
    }
}
