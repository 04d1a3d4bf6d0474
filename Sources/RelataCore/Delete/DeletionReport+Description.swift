extension DeletionReport: CustomStringConvertible {
    /// The report as ``lines(showing:)``.
    public var description: String { lines().joined(separator: "\n") }

    /// The report for a person: the objects that go as a tree of cascades, each entity once, then the references that
    /// become unset, the join rows that go and the objects that stand in the way.
    ///
    /// ```
    /// Artist: 1 object (1)
    /// └─ Artist.albums → Album: 2 objects (1, 4)
    ///    └─ Album.tracks → Track: 18 objects (1, 6, 7, …)
    /// unset: Playlist.cover of 1 object (3)
    /// join rows removed: Playlist.tracks, 40 rows
    /// ```
    ///
    /// - Parameters:
    ///   - limit: how many objects are named of each list.
    ///   - name: what an object is called within its entity; its key unless given.
    public func lines(
        showing limit: Int = 5, naming name: (ObjectReference) -> String = { $0.key.description }
    ) -> [String] {
        func count(_ keys: KeyList, _ entity: String) -> String {
            let named = keys.prefix(limit).map { name(ObjectReference(entity: entity, key: $0)) }.joined(
                separator: ", ")
            let more = keys.count > limit && limit > 0 ? ", …" : ""
            return "\(keys.count) \(keys.count == 1 ? "object" : "objects")"
                + (named.isEmpty ? "" : " (\(named)\(more))")
        }
        var lines: [String] = []
        if deleted.isEmpty {
            lines.append("\(entity): nothing to delete")
        } else {
            var shown: Set<String> = [entity]
            lines.append("\(entity): \(count(deletedKeys(of: entity), entity))")
            appendTree(below: entity, indent: "", shown: &shown, count: count, to: &lines)
        }
        for links in nullified {
            lines.append("unset: \(links.entity).\(links.property) of \(count(links.keys, links.entity))")
        }
        for rows in removedJoinRows {
            lines.append("join rows removed: \(rows.relationship), \(rows.count) \(rows.count == 1 ? "row" : "rows")")
        }
        if isDenied {
            lines.append("denied: nothing is deleted while")
            for blocker in blockers.prefix(max(1, limit)) {
                lines.append(
                    "  \(blocker.object.entity) \(name(blocker.object)) is linked to "
                        + "\(blocker.blocked.entity) \(name(blocker.blocked)) (\(blocker.relationship) denies)")
            }
            if blockers.count > max(1, limit) { lines.append("  and \(blockers.count - max(1, limit)) more") }
        }
        return lines
    }

    /// Entities are shown where they are nearest to the root, so that a tree is finite and counts nothing twice.
    private func appendTree(
        below entity: String, indent: String, shown: inout Set<String>, count: (KeyList, String) -> String,
        to lines: inout [String]
    ) {
        let children = children()[entity] ?? []
        for (index, path) in children.enumerated() where shown.insert(path.to).inserted {
            let isLast = index == children.count - 1
            let keys = count(deletedKeys(of: path.to), path.to)
            lines.append("\(indent)\(isLast ? "└─ " : "├─ ")\(path.relationship) → \(path.to): \(keys)")
            appendTree(
                below: path.to, indent: indent + (isLast ? "   " : "│  "), shown: &shown, count: count, to: &lines)
        }
    }

    /// The paths that form a tree, by the entity they start from: the first that reaches an entity, breadth first.
    private func children() -> [String: [CascadePath]] {
        var reached: Set<String> = [entity]
        var queue = [entity]
        var children: [String: [CascadePath]] = [:]
        var next = 0
        while next < queue.count {
            let from = queue[next]
            next += 1
            for path in cascades where path.from == from && reached.insert(path.to).inserted {
                children[from, default: []].append(path)
                queue.append(path.to)
            }
        }
        return children
    }
}
