import RelataCore

/// Loads a relationship to the same model repeatedly from its targets: a tree of children, a chain of parents. One
/// statement reads all levels.
struct TreeLoader<Node: Model> {
    let transaction: ReadTransaction
    let index: Int
    let include: IncludePlan

    func members(of owners: [Node]) throws -> AnyMembers {
        let table = try transaction.catalog.table(Node.self)
        let isToOne = link(table).isReference
        var nodes = try isToOne ? fetch(toOneOf: owners) : fetch(toManyOf: owners)
        try IncludeLoader(transaction: transaction).load(include.children, into: &nodes.objects)

        let name = "\(Node.entityName).\(include.relationship)"
        let levels = try TreeLevels(nodes.links, depth: include.recursion?.depth, name: name).levels
        return assemble(
            levels, nodes.objects, owners: owners.count, isToOne: isToOne,
            linkCount: transaction.catalog.links[table.index].count)
    }

    private func link(_ table: Table) -> Link { transaction.catalog.links[table.index][index].link }

    // MARK: Fetching

    /// The objects of all levels, each once.
    private struct Nodes {
        var objects: [Node]
        let links: TreeLinks
    }

    private func fetch(_ keys: KeyList) throws -> ReadLoop<Node> {
        let compiled = try transaction.compiler.edge(
            QueryPlan(entity: Node.entityName, sort: include.sort), from: Node.entityName,
            along: include.relationship, of: keys, sortsRows: false, following: include.recursion)
        // An object holds the key of one owner.
        let isInjective =
            if case .inverse(let number) = link(try transaction.catalog.table(Node.self)) {
                transaction.catalog.schema.references[number].comparison == .equal
            } else {
                false
            }
        return try transaction.read(compiled.statement) { statement in
            try ReadLoop(statement, edge: compiled, owner: .key, areOnce: isInjective)
        }
    }

    private func fetch(toManyOf owners: [Node]) throws -> Nodes {
        let loop = try fetch(try KeyList(of: owners))
        // An object without links needs no place.
        let places = owners.map { owner in
            owner.ownKey.flatMap { loop.ownerNumbers[$0] }.map { loop.ownerPlaces[Int($0)] } ?? -1
        }
        var numbers = loop.ownerPlaces
        var ownNumbers = places
        var count = Int32(loop.objects.count)
        for (index, owner) in owners.enumerated() where places[index] < 0 {
            guard let number = owner.ownKey.flatMap({ loop.ownerNumbers[$0] }) else { continue }
            // The same owner may be given twice.
            if numbers[Int(number)] < 0 {
                numbers[Int(number)] = count
                count += 1
            }
            ownNumbers[index] = numbers[Int(number)]
        }
        // A link of a key that no object has belongs to no owner.
        let lists = loop.rows.lists(owners: Int(count) + 1, numbers: numbers.map { $0 < 0 ? count : $0 })
        let links = TreeLinks(objects: loop.objects.count, lists: lists, owners: ownNumbers, places: places)
        return Nodes(objects: loop.objects, links: links)
    }

    private func fetch(toOneOf owners: [Node]) throws -> Nodes {
        let keys = try ToOneKeys<Node>(index, of: owners)
        let loop = try fetch(try keys.list())
        let objects = loop.objects
        let targets = [try ToOneKeys<Node>(index, of: objects), keys].flatMap { keys in
            let places = keys.keys.map { loop.places[StoredKey($0)] ?? -1 }
            return keys.rows.map { $0 < 0 ? -1 : places[Int($0)] }
        }
        let links = TreeLinks(
            objects: objects.count, lists: MemberLists(targets),
            owners: owners.indices.map { Int32(objects.count + $0) },
            places: owners.map { $0.ownKey.flatMap { loop.places[$0] } ?? -1 })
        return Nodes(objects: objects, links: links)
    }

    // MARK: Values

    /// Builds the values from the deepest level up, since a value holds its members.
    private func assemble(
        _ levels: [[TreePlace]], _ objects: [Node], owners: Int, isToOne: Bool, linkCount: Int
    ) -> AnyMembers {
        var below: [Node] = []
        var belowPlaces: [TreePlace] = []
        for level in levels.reversed() {
            var values = level.map { objects[Int($0.object)] }
            var loader = LinkLoader(count: linkCount)
            loader.loaded[index] = members(below, belowPlaces, owners: values.count, isToOne: isToOne)
            if level.allSatisfy(\.isExpanded) {
                Node.loadLinks(of: &values, from: &loader)
            } else {
                for (number, place) in level.enumerated() where place.isExpanded {
                    loader.owner = number
                    values[number].loadLinks(from: &loader)
                }
            }
            (below, belowPlaces) = (values, level)
        }
        return members(below, belowPlaces, owners: owners, isToOne: isToOne)
    }

    private func members(_ values: [Node], _ places: [TreePlace], owners: Int, isToOne: Bool) -> AnyMembers {
        let lists = MemberLists(owners: places.map(\.owner), members: Array(0..<Int32(places.count)), count: owners)
        return Members(objects: values, lists: lists, isToOne: isToOne)
    }
}
