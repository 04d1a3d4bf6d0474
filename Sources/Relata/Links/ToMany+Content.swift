// The effect of edits on the loaded objects of a list. OrderedList does the same for the stored list.

extension ToMany {
    /// Applies edits to the loaded objects.
    mutating func apply(_ edits: [LinkEdit<Target>]) {
        var rest = edits[...]
        while let edit = rest.first {
            // Many edits of the same kind are made in one pass over the list.
            var count = 1
            switch edit {
            case .add:
                let added = rest.prefix { $0.added != nil }.compactMap(\.added)
                append(added)
                count = added.count
            case .remove:
                let removed = rest.prefix { $0.removed != nil }.compactMap(\.removed)
                takeOut(RemovedMembers(removed))
                count = removed.count
            case .place(let target, let other): place(target, after: other)
            case .set(let targets):
                (content, unsaved) = ([], [])
                append(targets)
            }
            rest = rest.dropFirst(count)
        }
    }

    /// The list is incomplete if only the key of an object is known.
    private mutating func append(_ targets: [LinkTarget<Target>]) {
        var list = content
        content = nil  // so that the array isn't copied
        let count = (list?.count ?? 0) + targets.count
        // Few members are compared one by one, many by means of a set.
        var keys: Set<StoredKey<Target>>?
        if let list, targets.count > 1, count > 8 {
            keys = Set(minimumCapacity: count)
            for object in list { if let key = object.ownKey { keys?.insert(key) } }
        }
        // A list that grows step by step reserves more capacity than it needs.
        if list?.isEmpty == true { list?.reserveCapacity(count) }
        for target in targets {
            guard let key = target.ownKey else {
                guard let box = target.object else { continue }
                unsaved.append(box)
                list?.append(box.value)
                continue
            }
            let isNew = keys?.insert(key).inserted ?? list.map { !$0.contains { $0.ownKey == key } } ?? false
            guard isNew else { continue }
            if let box = target.object { list?.append(box.value) } else { list = nil }
        }
        content = list
    }

    private mutating func takeOut(_ removed: RemovedMembers<Target>) {
        var list = content
        content = nil
        var boxes = unsaved.makeIterator()
        var kept = 0
        for index in list.map(\.indices) ?? 0..<0 {
            guard let object = list?[index] else { break }
            let key = object.ownKey
            if removed.contains(key, key == nil ? boxes.next() : nil) { continue }
            if kept != index { list?.swapAt(kept, index) }
            kept += 1
        }
        list?.removeSubrange(kept...)
        unsaved.removeAll { removed.contains(nil, $0) }
        content = list
    }

    private mutating func place(_ target: LinkTarget<Target>, after other: LinkTarget<Target>?) {
        let own = index(of: target)
        // After itself, it stays in its position.
        if let other, target.isSame(as: other) { return own == nil ? append([target]) : () }
        if content == nil || own == nil && target.object == nil {
            // The positions of the others are unknown here.
            content = nil
            if target.key == nil, let box = target.object, !unsaved.contains(where: { $0 === box }) {
                unsaved.append(box)
            }
            return
        }
        var object = target.object?.value
        if let own {
            if target.key == nil { unsaved.remove(at: unsavedCount(before: own)) }
            let member = content?.remove(at: own)
            object = object ?? member
        }
        guard let object else { return }
        let place = other.map { index(of: $0).map { $0 + 1 } ?? content?.count ?? 0 } ?? 0
        if target.key == nil, let box = target.object { unsaved.insert(box, at: unsavedCount(before: place)) }
        content?.insert(object, at: place)
    }

    // MARK: Looking for objects

    /// An edit's name for an object: without a key, the first equal one.
    func target(_ object: Target) -> LinkTarget<Target> {
        let known = object.primaryKey == nil ? unsaved.first { $0.value == object } : nil
        return .object(known ?? LinkedObject(object))
    }

    /// An edit's name for the object at a position. Moving a loaded object doesn't write its attributes.
    func target(_ object: Target, at index: Int) -> LinkTarget<Target> {
        .object(
            object.primaryKey == nil
                ? unsaved[unsavedCount(before: index)] : LinkedObject(object, isConfirmed: true))
    }

    /// The position of an object, if it is loaded.
    func index(of target: LinkTarget<Target>) -> Int? {
        if let key = target.ownKey { return content?.firstIndex { $0.ownKey == key } }
        guard var rank = unsaved.firstIndex(where: { $0 === target.object }) else { return nil }
        return content?.firstIndex { object in
            guard object.primaryKey == nil else { return false }
            rank -= 1
            return rank < 0
        }
    }

    func isSame(_ left: Target, _ right: Target) -> Bool {
        left.ownKey.map { $0 == right.ownKey } ?? (left == right)
    }

    private func unsavedCount(before index: Int) -> Int {
        unsaved.isEmpty ? 0 : content?.prefix(index).count { $0.primaryKey == nil } ?? 0
    }
}
