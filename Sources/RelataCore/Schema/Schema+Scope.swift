extension Schema {
    /// The entities that must be resolved if most are those of another schema: new or changed ones, and those whose
    /// inverses they declare now, or declare in another way.
    ///
    /// Others depend on an entity's key, its table and its links. If one of these is changed or removed, all entities
    /// are resolved: that is rare, and never happens for an addition.
    ///
    /// - Parameter changedAt: The positions of new or changed entities; `nil` to find them by comparison.
    /// - Returns: Their numbers in order; `nil` for all.
    static func scope(of entities: [Entity], since old: Schema, changedAt places: Set<Int>? = nil) -> [Int]? {
        guard entities.count >= old.tables.count else { return nil }
        var scope: Set<Int> = []
        var viewed: Set<String> = []
        for number in places.map({ Array($0) }) ?? Array(old.tables.indices) where number < old.tables.count {
            let (table, entity) = (old.tables[number], entities[number])
            guard entity.name == table.name else { return nil }
            if entity == table.entity { continue }
            guard let views = views(of: entity, since: table.entity) else { return nil }
            scope.insert(table.index)
            viewed.formUnion(views)
        }
        for index in old.tables.count..<entities.count {
            let entity = entities[index]
            if old.index(of: entity.name) != nil { return nil }
            scope.insert(index)
            for relationship in entity.relationships where relationship.viewed != nil {
                viewed.insert(relationship.target)
            }
        }
        // New ones among them are resolved anyway.
        scope.formUnion(viewed.compactMap { old.index(of: $0) })
        return scope.sorted()
    }

    /// The entities whose links a changed entity views now, or views in another way.
    ///
    /// - Returns: Their names; `nil` if something that others depend on is changed or removed.
    private static func views(of entity: Entity, since old: Entity) -> Set<String>? {
        guard entity.table == old.table, entity.key == old.key, entity.isKeyAssigned == old.isKeyAssigned,
            entity.key.allSatisfy({ entity.property($0) == old.property($0) })
        else { return nil }
        // Additions are at the end.
        let same = zip(entity.properties, old.properties).prefix { $0 == $1 }.count
        let added = Dictionary(entity.properties[same...].map { ($0.name, $0) }) { first, _ in first }
        let gone = Dictionary(old.properties[same...].map { ($0.name, $0) }) { first, _ in first }
        for case .relationship(let before) in gone.values {
            guard case .relationship(let after)? = added[before.name], before.standsAs(after) else { return nil }
        }
        var views: Set<String> = []
        for case .relationship(let relationship) in added.values
        where relationship.viewed != nil && gone[relationship.name] != .relationship(relationship) {
            views.insert(relationship.target)
        }
        return views
    }
}

extension Relationship {
    /// The link of the target that it is the other side of.
    fileprivate var viewed: String? {
        switch kind {
        case .hasOne(let inverse), .toMany(let inverse), .manyToManyInverse(let inverse): inverse
        case .toOne, .manyToMany, .through, .matched: nil
        }
    }

    /// Whether both are stored in the same place, regardless of their rules: references to one find the other.
    fileprivate func standsAs(_ other: Relationship) -> Bool {
        guard target == other.target else { return false }
        switch (kind, other.kind) {
        case (.toOne, .toOne): return true
        case (.hasOne, .hasOne), (.hasOne, .toMany), (.toMany, .hasOne), (.toMany, .toMany),
            (.manyToManyInverse, .manyToManyInverse):
            return viewed == other.viewed
        case (.manyToMany(let names), .manyToMany(let others)): return names == others
        case (.through, .through): return kind == other.kind
        default: return false
        }
    }
}
