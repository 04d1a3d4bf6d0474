import RelataCore

/// Entities while they are being changed, with the positions of changed ones: after a change of one of a thousand, the
/// others aren't compared.
package struct EntityList: RandomAccessCollection {
    /// The entities as they were.
    let original: [Entity]
    /// The entities as they are.
    package private(set) var all: [Entity]
    /// The positions of changed or added entities. `nil` after a removal, because others may have moved.
    package private(set) var touched: Set<Int>? = []
    /// Finds the entities as they were by their names.
    private let schema: Schema?

    /// - Parameter schema: The entities, resolved, if they are.
    package init(_ entities: [Entity], resolved schema: Schema? = nil) {
        original = entities
        all = entities
        self.schema = schema
    }

    /// The position of the entity of that name.
    package func place(of name: String) -> Int? {
        guard let touched, let schema else { return all.firstIndex { $0.name == name } }
        if let place = schema.index(of: name), all[place].name == name { return place }
        return touched.first { all[$0].name == name }
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

    /// Removes those for which `isGone` returns true.
    package mutating func removeAll(where isGone: (Entity) throws -> Bool) rethrows {
        let count = all.count
        try all.removeAll(where: isGone)
        if all.count < count { touched = nil }
    }

    /// The changes of the entities.
    package var changes: EntityChanges {
        guard let touched else { return EntityChanges(all, since: original) }
        return EntityChanges(at: touched, of: all, since: original)
    }
}
