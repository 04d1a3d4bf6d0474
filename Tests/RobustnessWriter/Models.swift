public import Relata

/// A receipt for each transaction of the writer, kept forever.
@Model public struct Receipt {
    @Attribute(.primaryKey) public let number: Int
    public var note: String
}

/// A tree that one transaction saves, and a later one deletes with everything in it.
@Model public struct Tree {
    @Attribute(.primaryKey) public let number: Int
    public var leafCount: Int
    @Relationship(deleteRule: .cascade, inverse: \Branch.tree) public var branches: ToMany<Branch>
}

/// A part of a tree.
@Model public struct Branch {
    public let id: ID<Branch>
    public var position: Int
    public var tree: ToOne<Tree>
    @Relationship(deleteRule: .cascade, inverse: \Leaf.branch, ordered: true) public var leaves: ToMany<Leaf>
}

/// The end of a branch, in some colours.
@Model public struct Leaf {
    public let id: ID<Leaf>
    public var name: String
    public var branch: ToOne<Branch>
    public var colours: ToMany<Colour>
}

/// A colour that leaves share, with the number of its leaves.
@Model public struct Colour {
    @Attribute(.primaryKey) public let name: String
    public var leafCount: Int = 0
    @Relationship(inverse: \Leaf.colours) public var leaves: ToMany<Leaf>
}

/// A number that several processes count up.
@Model public struct Tally {
    @Attribute(.primaryKey) public let name: String
    public var count: Int = 0
}

/// Transactions of several processes that write one database on a server.
public enum Ledgers {
    /// The receipts of process 2 have numbers from `2 * span` on.
    public static let span = 1_000_000

    /// Writes the receipt of a process's transaction, and counts it for the process and for all.
    public static func write(_ number: Int, of process: Int, in tx: WriteTransaction) throws {
        try tx.insert(
            Receipt(number: process * span + number, note: String(repeating: "\(number) ", count: number % 50)))
        for name in ["all", "\(process)"] {
            let count = try tx.fetch(Tally.self, id: name)?.count ?? 0
            try tx.save(Tally(name: name, count: count + 1))
        }
    }
}

/// The writer's transactions. Their number alone determines the contents of the file.
public enum Garden {
    /// The models of the file.
    public static let models: [any Model.Type] = [Receipt.self, Tree.self, Tally.self]
    /// The number of trees at a time.
    public static let treeCount = 4
    /// The number of branches of a tree, and of leaves of a branch.
    public static let width = 3

    /// The colours of a leaf.
    public static func colours(tree: Int, branch: Int, leaf: Int) -> Set<String> {
        ["colour \((tree + branch) % 4)", "colour \((tree + leaf) % 4)"]
    }

    /// Transaction `number`: a receipt; a tree with branches, leaves and colours; the colours of the tree before are
    /// changed to the right ones; the oldest tree is deleted; and every colour counts its leaves.
    public static func write(_ number: Int, in tx: WriteTransaction) throws {
        try tx.insert(Receipt(number: number, note: String(repeating: "\(number) ", count: number % 200)))
        let branches = (0..<width).map { branch in
            let leaves = (0..<width).map { Leaf(name: "leaf \(number).\(branch).\($0)") }
            return Branch(position: branch, leaves: ToMany(leaves))
        }
        try tx.save(Tree(number: number, leafCount: width * width, branches: ToMany(branches)))
        // The previous tree had got its leaves, but no colours yet.
        let leaves = Leaf.where { $0.branch.tree.number == number - 1 }.including { $0.branch }
        for leaf in try tx.fetch(leaves) {
            let position = try leaf.branch.object.position
            let index = Int(leaf.name.suffix(1)) ?? 0
            for name in colours(tree: number - 1, branch: position, leaf: index) {
                try tx.save(leaf.adding(try tx.fetch(Colour.self, id: name) ?? tx.insert(Colour(name: name))))
            }
        }
        if number > treeCount { try tx.delete(Tree.self, id: number - treeCount) }
        for colour in try tx.fetch(Colour.all) {
            let count = try tx.count(Leaf.where { $0.colours.contains(colour) })
            try tx.update(Colour.self, id: colour.name) { $0.leafCount = count }
        }
    }
}

extension Leaf {
    func adding(_ colour: Colour) -> Leaf {
        var leaf = self
        leaf.colours.add(colour)
        return leaf
    }
}
