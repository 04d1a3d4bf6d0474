extension DeletionReport: CustomStringConvertible {
    /// The report as ``lines(showing:)``.
    public var description: String { lines().joined(separator: "\n") }

    /// The report for a person: the deleted objects as a tree of cascades, each entity once, then the unset references,
    /// the deleted join rows, and the blockers: objects, and lists that would become too short.
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
    ///   - limit: the maximum number of objects named for each list.
    ///   - name: the name of an object within its entity; by default its key.
    public func lines(
        showing limit: Int = 5, naming name: (ObjectReference) -> String = { $0.key.description }
    ) -> [String] {
        func count(_ keys: KeyList, _ hidden: Int, _ entity: String) -> String {
            let named = keys.prefix(limit).map { name(ObjectReference(entity: entity, key: $0)) }.joined(
                separator: ", ")
            let more = keys.count > limit && limit > 0 ? ", …" : ""
            return "\(keys.count) \(keys.count == 1 ? "object" : "objects")"
                + (named.isEmpty ? "" : " (\(named)\(more))") + (hidden == 0 ? "" : " and \(hidden) hidden")
        }
        var lines: [String] = []
        if deleted.isEmpty {
            lines.append("\(entity): nothing to delete")
        } else {
            lines.append("\(entity): \(count(deletedKeys(of: entity), hiddenCount(of: entity), entity))")
            appendTree(Dictionary(grouping: tree, by: \.from), below: entity, indent: "", count: count, to: &lines)
        }
        for links in nullified {
            lines.append(
                "unset: \(links.entity).\(links.property) of \(count(links.keys, links.hiddenCount, links.entity))")
        }
        for rows in removedJoinRows {
            lines.append("join rows removed: \(rows.relationship), \(rows.count) \(rows.count == 1 ? "row" : "rows")")
        }
        if isDenied {
            lines.append("denied: nothing is deleted while")
            let limit = max(1, limit)
            for blocker in blockers.prefix(limit) {
                lines.append(
                    "  \(blocker.object.entity) \(name(blocker.object)) is linked to "
                        + "\(blocker.blocked.entity) \(name(blocker.blocked)) (\(blocker.denial))")
            }
            if blockers.count > limit { lines.append("  and \(blockers.count - limit) more") }
            if hiddenBlockerCount > 0 { lines.append("  \(hiddenBlockerCount) hidden in the way") }
            for list in shortages.prefix(limit) {
                let owner = list.key.map { name(ObjectReference(entity: list.entity, key: $0)) }
                lines.append(
                    "  " + [list.entity, owner].compactMap(\.self).joined(separator: " ")
                        + ": \(list.property ?? "a list") \(list.message)")
            }
            if shortages.count > limit { lines.append("  and \(shortages.count - limit) lists more") }
        }
        return lines
    }

    private func hiddenCount(of entity: String) -> Int { deleted.first { $0.entity == entity }?.hiddenCount ?? 0 }

    private func appendTree(
        _ children: [String: [CascadePath]], below entity: String, indent: String,
        count: (KeyList, Int, String) -> String, to lines: inout [String]
    ) {
        let paths = children[entity] ?? []
        for (index, path) in paths.enumerated() {
            let isLast = index == paths.count - 1
            let keys = count(deletedKeys(of: path.to), hiddenCount(of: path.to), path.to)
            lines.append("\(indent)\(isLast ? "└─ " : "├─ ")\(path.relationship) → \(path.to): \(keys)")
            appendTree(
                children, below: path.to, indent: indent + (isLast ? "   " : "│  "), count: count, to: &lines)
        }
    }

    /// The paths that form a tree, breadth first: the first that reaches an entity. So each entity is shown once, at
    /// its shortest distance from the root.
    package var tree: [CascadePath] {
        var reached: Set<String> = [entity]
        var queue = [entity]
        var tree: [CascadePath] = []
        var next = 0
        while next < queue.count {
            let from = queue[next]
            next += 1
            for path in cascades where path.from == from && reached.insert(path.to).inserted {
                tree.append(path)
                queue.append(path.to)
            }
        }
        return tree
    }
}
