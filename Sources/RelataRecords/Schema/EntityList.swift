import RelataCore

/// Entities while they are being changed, with the places of those that are: to change one of a thousand, nobody compares
/// the others.
package struct EntityList: RandomAccessCollection {
    /// The entities as they were.
    let original: [Entity]
    /// The entities as they are.
    package private(set) var all: [Entity]
    /// Where entities were touched or added. `nil` once one was taken away: others may stand elsewhere since.
    package private(set) var touched: Set<Int>? = []

    package init(_ entities: [Entity]) {
        original = entities
        all = entities
    }

    package var startIndex: Int { 0 }
    package var endIndex: Int { all.count }

    package subscript(index: Int) -> Entity {
        get { all[index] }
        _modify {
            touched?.insert(index)
            yield &all[index]
        }
    }

    package mutating func append(_ entity: Entity) {
        touched?.insert(all.count)
        all.append(entity)
    }

    /// Takes the last ones away.
    package mutating func removeLast(_ count: Int) {
        all.removeLast(count)
        let left = all.count
        touched = left < original.count ? nil : touched?.filter { $0 < left }
    }

    /// Takes those away that `isGone` says.
    package mutating func removeAll(where isGone: (Entity) throws -> Bool) rethrows {
        let count = all.count
        try all.removeAll(where: isGone)
        if all.count < count { touched = nil }
    }

    /// What makes the entities others than they were.
    package var changes: EntityChanges {
        guard let touched else { return EntityChanges(all, since: original) }
        return EntityChanges(at: touched, of: all, since: original)
    }
}
