/// Primary keys and the columns of the references that hold them.
extension SchemaResolver {
    /// One column of a primary key: the facts that a reference to the entity needs.
    struct KeyPart {
        /// The property's name; a to-one with a key of several columns adds theirs.
        let name: String
        let type: AttributeType
        /// Whether its column may hold values of other types.
        let holdsOtherTypes: Bool
    }

    /// The state of resolving an entity's primary key; a key with a to-one waits for the target's key.
    enum KeyState {
        case unknown
        case visiting
        case known([KeyPart])
    }

    func resolvedKeyParts(of index: Int) -> [KeyPart] {
        if case .known(let parts) = keys[index] { parts } else { [] }
    }

    /// The columns of an entity's primary key; empty if it can't be resolved, which is reported once.
    mutating func keyParts(of index: Int) -> [KeyPart] {
        switch keys[index] {
        case .known(let parts): return parts
        case .visiting:
            report(
                index,
                "its primary key contains itself through a to-one: "
                    + "give one of the entities on the path its own key, such as an id")
            return []
        case .unknown: break
        }
        keys[index] = .visiting
        let entity = entities[index]
        if entity.key.isEmpty {
            report(index, "it has no primary key: add `let id: ID<\(entity.shortName)>`, or mark a property as one")
        }
        var parts: [KeyPart] = []
        for name in entity.key {
            switch entity.property(name) {
            case nil:
                report(index, name, "it should be the primary key, but doesn't exist: declare it, or fix the name")
            case .attribute(let attribute):
                if attribute.isOptional && !entity.isKeyAssigned {
                    report(index, name, "a part of the primary key can't be optional: remove the `?`")
                }
                parts.append(KeyPart(name: name, type: attribute.type, holdsOtherTypes: attribute.holdsOtherTypes))
            case .relationship(let relationship):
                guard case .toOne(let isOptional, _) = relationship.kind else {
                    report(index, name, "a primary key contains only attributes and to-ones: this is a view or a join")
                    continue
                }
                if isOptional {
                    report(index, name, "a part of the primary key can't be optional: remove the `?`")
                }
                guard let target = tableIndex[relationship.target] else { continue }
                let inner = keyParts(of: target)
                parts += inner.map {
                    KeyPart(
                        name: inner.count == 1 ? name : name + Naming.capitalized($0.name), type: $0.type,
                        holdsOtherTypes: $0.holdsOtherTypes)
                }
            }
        }
        if Set(entity.key).count < entity.key.count {
            report(index, "its primary key names a property twice: name it once")
        }
        if parts.count > KeyValue.maximumParts {
            report(
                index,
                "its primary key has \(parts.count) columns, and \(KeyValue.maximumParts) is the most: "
                    + "give it its own key, such as an id, and declare the set `#Unique`")
        }
        if entity.isKeyAssigned && !(entity.key.count == 1 && entity.attribute(entity.key[0])?.type == .integer) {
            report(index, "only a single integer key can be assigned by the database: declare it as `var id: Int?`")
        }
        keys[index] = .known(parts)
        return parts
    }

    mutating func nameReferenceColumns() {
        for (number, draft) in drafts.sorted(by: { $0.key < $1.key }) {
            let parts = resolvedKeyParts(of: draft.target)
            let columns = columnNames(
                parts, prefix: draft.relationship.name, given: draft.columns, entity: draft.source,
                property: draft.relationship.name, target: draft.target)
            drafts[number]?.columns = columns
        }
    }

    /// The columns that hold a key: those given, or `<prefix>Id` for one, `<prefix><Part>` for several.
    mutating func columnNames(
        _ parts: [KeyPart], prefix: String, given: [String], entity: Int, property: String, target: Int
    ) -> [String] {
        if given.isEmpty || parts.isEmpty {
            return parts.count == 1 ? [prefix + "Id"] : parts.map { prefix + Naming.capitalized($0.name) }
        }
        if given.count != parts.count {
            report(
                entity, property,
                "it names \(given.count) column(s) for the key of \(entities[target].name), which has \(parts.count): "
                    + "name one column for each of \(parts.map(\.name).joined(separator: ", "))")
        }
        return given
    }
}
