import RelataCore

/// A relationship that is loaded with the objects of a query, and what is loaded with the objects at its other end.
public struct Inclusion: Hashable, Sendable {
    /// The relationship's name.
    public let relationship: String
    /// What is loaded from there.
    public private(set) var nested: [Inclusion]

    /// Loads a relationship.
    public init(_ relationship: String, nested: [Inclusion] = []) {
        self.relationship = relationship
        self.nested = nested
    }

    /// The relationships on some paths, each once: `artist`, `tracks` and `tracks.genre` are two, one with another in it.
    public static func tree(_ paths: [[String]]) -> [Inclusion] {
        var tree: [Inclusion] = []
        for path in paths { add(path[...], to: &tree) }
        return tree
    }

    private static func add(_ path: ArraySlice<String>, to tree: inout [Inclusion]) {
        guard let first = path.first else { return }
        var index = tree.endIndex
        if let known = tree.firstIndex(where: { $0.relationship == first }) {
            index = known
        } else {
            tree.append(Inclusion(first))
        }
        add(path.dropFirst(), to: &tree[index].nested)
    }
}
