import GRDBSQLite

/// Loads a relationship to the same model again and again from what it leads to: a tree of children, a chain of
/// parents. One statement brings all levels.
struct TreeLoader<Node: Model> {
    let transaction: ReadTransaction
    let index: Int
    let include: IncludePlan

    /// How deep values may be nested: a value that holds a value that holds … is released by as many nested calls.
    private static var deepest: Int { 1000 }

    /// How many values a tree may have. One that is a tree has as many as objects; more come from objects that are
    /// reached in several ways, and of those that all link to each other there are soon more than any memory holds.
    private static func most(_ objects: Int) -> Int { 100_000 + 10 * objects }

    /// Where an object stands: which one it is, and whose member it is in the level above.
    private struct Place {
        let object: Int32
        let owner: Int32
        /// Whether its own members are loaded: not beyond the depth, and not where it is its own ancestor.
        var isExpanded: Bool
    }

    func members(of owners: [Node]) throws -> any LoadedLinks {
        let table = try transaction.catalog.table(Node.self)
        let isToOne = if case .reference = transaction.catalog.links[table.index][index].link { true } else { false }
        var nodes = try fetch(owners, isToOne: isToOne)
        try IncludeLoader(transaction: transaction).load(include.children, into: &nodes.objects)

        var levels = [try first(owners, nodes, isToOne: isToOne)]
        while let last = levels.last, !last.isEmpty {
            let next = try expand(levels, nodes, owners)
            if next.isEmpty { break }
            guard levels.count < Self.deepest else {
                throw RelataError.invalidUse(
                    "\(Node.entityName).\(include.relationship) is more than \(Self.deepest) levels deep: include it with a depth, or fetch the objects as a list"
                )
            }
            levels.append(next)
        }
        return assemble(
            levels, nodes, owners: owners.count, isToOne: isToOne,
            linkCount: transaction.catalog.links[table.index].count)
    }

    // MARK: Fetching

    /// The objects of all levels, each once, and which of them each is linked to.
    private struct Nodes {
        var objects: [Node] = []
        var places: [Node.Key: Int32] = [:]
        /// The members of each object by its key, in their order.
        var members: [Node.Key: [Int32]] = [:]
        /// For a to-one: the key that each object holds.
        var targets: [Node.Key?] = []
    }

    private func fetch(_ owners: [Node], isToOne: Bool) throws -> Nodes {
        let keys = try isToOne ? LinkKeys(toOne: index, of: owners, Node.self) : LinkKeys(of: owners)
        let compiled = try transaction.compiler.edge(
            QueryPlan(entity: Node.entityName, sort: include.sort), from: Node.entityName,
            along: include.relationship, of: keys.list, following: include.recursion)
        var nodes = Nodes()
        try transaction.rows(compiled.statement) { statement in
            var reader = RowReader(statement)
            let owner = try Node.readKey(from: &reader)
            let object = try ReadTransaction.reading(Node.self) { try Node(from: &reader) }
            guard let key = object.primaryKey else { return }
            let place = nodes.places[key] ?? Int32(nodes.objects.count)
            if place == nodes.objects.count {
                nodes.places[key] = place
                nodes.objects.append(object)
            }
            nodes.members[owner, default: []].append(place)
        }
        if isToOne { nodes.targets = try Self.targets(of: nodes.objects, index) }
        return nodes
    }

    private static func targets(of objects: [Node], _ index: Int) throws -> [Node.Key?] {
        let collector = ToOneKeys<Node>(index)
        var visitor = LinkVisitor(.collecting(collector))
        for object in objects { try object.visitLinks(&visitor) }
        return collector.keys
    }

    private func members(of object: Int32, _ nodes: Nodes) -> [Int32] {
        if !nodes.targets.isEmpty {
            return nodes.targets[Int(object)].flatMap { nodes.places[$0] }.map { [$0] } ?? []
        }
        return nodes.objects[Int(object)].primaryKey.flatMap { nodes.members[$0] } ?? []
    }

    // MARK: Levels

    private func first(_ owners: [Node], _ nodes: Nodes, isToOne: Bool) throws -> [Place] {
        let targets = isToOne ? try Self.targets(of: owners, index) : []
        var places: [Place] = []
        for (number, owner) in owners.enumerated() {
            let members =
                isToOne
                ? targets[number].flatMap { nodes.places[$0] }.map { [$0] }
                : owner.primaryKey.flatMap { nodes.members[$0] }
            for member in members ?? [] {
                let isItself = nodes.objects[Int(member)].primaryKey == owner.primaryKey
                places.append(
                    Place(object: member, owner: Int32(number), isExpanded: include.recursion?.depth != 1 && !isItself))
            }
        }
        return places
    }

    private func expand(_ levels: [[Place]], _ nodes: Nodes, _ owners: [Node]) throws -> [Place] {
        var next: [Place] = []
        let most = Self.most(nodes.objects.count + owners.count) - levels.reduce(0) { $0 + $1.count }
        let isLast = include.recursion?.depth.map { levels.count + 1 >= $0 } ?? false
        for (number, place) in levels[levels.count - 1].enumerated() where place.isExpanded {
            for member in members(of: place.object, nodes) {
                let isExpanded = !isLast && !isAncestor(member, of: number, levels, nodes, owners)
                next.append(Place(object: member, owner: Int32(number), isExpanded: isExpanded))
            }
            guard next.count <= most else {
                throw RelataError.invalidUse(
                    "\(Node.entityName).\(include.relationship) leads to \(nodes.objects.count) objects in more than \(Self.most(nodes.objects.count)) ways: include it with a depth, or fetch the objects as a list"
                )
            }
        }
        return next
    }

    /// Whether an object is on the way up from a place.
    private func isAncestor(
        _ object: Int32, of place: Int, _ levels: [[Place]], _ nodes: Nodes, _ owners: [Node]
    ) -> Bool {
        var place = place
        for level in levels.reversed() {
            if level[place].object == object { return true }
            place = Int(level[place].owner)
        }
        return nodes.objects[Int(object)].primaryKey == owners[place].primaryKey
    }

    // MARK: Values

    /// Builds the values from the deepest level up, since a value holds its members.
    private func assemble(
        _ levels: [[Place]], _ nodes: Nodes, owners: Int, isToOne: Bool, linkCount: Int
    ) -> Members<Node> {
        var below: [Node] = []
        var belowPlaces: [Place] = []
        for level in levels.reversed() {
            var values = level.map { nodes.objects[Int($0.object)] }
            var loader = LinkLoader(count: linkCount)
            loader.loaded[index] = members(below, belowPlaces, owners: values.count, isToOne: isToOne)
            for (number, place) in level.enumerated() where place.isExpanded {
                loader.owner = number
                values[number].loadLinks(from: &loader)
            }
            (below, belowPlaces) = (values, level)
        }
        return members(below, belowPlaces, owners: owners, isToOne: isToOne)
    }

    private func members(_ values: [Node], _ places: [Place], owners: Int, isToOne: Bool) -> Members<Node> {
        Members(
            objects: values, pairs: places.enumerated().map { ($1.owner, Int32($0)) }, owners: owners, isToOne: isToOne)
    }
}
