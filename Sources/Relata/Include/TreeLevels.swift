/// The links between the objects of a tree, by their numbers: without the models, whose types this module doesn't know.
struct TreeLinks {
    let objects: Int
    /// The members of each object by its number, and of the owners by separate numbers.
    let lists: MemberLists
    /// For each owner its number there; -1 for one without members.
    let owners: [Int32]
    /// For each owner its number among the objects; -1 for one that isn't among them.
    let places: [Int32]
}

/// A place in the tree: its object, and its owner in the level above.
struct TreePlace {
    let object: Int32
    let owner: Int32
    /// Whether its own members are loaded: not beyond the depth, and not if it is its own ancestor.
    let isExpanded: Bool
}

/// The objects of a tree, level by level.
struct TreeLevels {
    private let links: TreeLinks
    private let depth: Int?
    private let name: String
    /// The members of the owners, theirs, and so on.
    private(set) var levels: [[TreePlace]] = []
    private var count = 0

    /// The maximum depth of nested values: releasing one takes a nested call for each level.
    static var deepest: Int { 1000 }

    /// The maximum number of values in a tree. A real tree has one for each object; objects that are reached by several
    /// paths add more, and objects that all link to each other soon exceed any memory.
    private var most: Int { 100_000 + 10 * (links.objects + links.owners.count) }

    init(_ links: TreeLinks, depth: Int?, name: String) throws(RelataError) {
        self.links = links
        self.depth = depth
        self.name = name
        var first: [TreePlace] = []
        for owner in links.owners.indices where links.owners[owner] >= 0 {
            try add(links.owners[owner], number: owner, to: &first)
        }
        levels = [first]
        while let last = levels.last, !last.isEmpty {
            var next: [TreePlace] = []
            for number in last.indices where last[number].isExpanded {
                try add(last[number].object, number: number, to: &next, below: levels.count)
            }
            if next.isEmpty { break }
            guard levels.count < Self.deepest else {
                throw .invalidUse(
                    "\(name) is more than \(Self.deepest) levels deep: include it with a depth, or fetch the objects as a list"
                )
            }
            levels.append(next)
        }
    }

    /// Adds the members of an object, which has that number in its level.
    private mutating func add(
        _ object: Int32, number: Int, to places: inout [TreePlace], below level: Int = 0
    ) throws(RelataError) {
        let isLast = depth.map { level + 1 >= $0 } ?? false
        for member in links.lists[Int(object)] {
            let member = links.lists.members[member]
            let isExpanded = !isLast && !isAncestor(member, ofMemberOf: number, in: level - 1)
            places.append(TreePlace(object: member, owner: Int32(number), isExpanded: isExpanded))
        }
        count += links.lists[Int(object)].count
        guard count <= most else {
            throw .invalidUse(
                "\(name) leads to \(links.objects) objects in more than \(most) ways: include it with a depth, or fetch the objects as a list"
            )
        }
    }

    /// Whether an object is an ancestor of a place.
    private func isAncestor(_ object: Int32, ofMemberOf number: Int, in level: Int) -> Bool {
        var (number, level) = (number, level)
        while level >= 0 {
            if levels[level][number].object == object { return true }
            number = Int(levels[level][number].owner)
            level -= 1
        }
        return links.places[number] == object
    }
}
