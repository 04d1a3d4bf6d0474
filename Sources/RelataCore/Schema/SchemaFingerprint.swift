/// A short text that differs for any difference of entities, for the comparison on opening.
package enum SchemaFingerprint {
    /// The fingerprint of entities, the same in every process. It depends on their order, which doesn't matter to a
    /// database, because ignoring the order would cost more than checking the tables again.
    ///
    /// - Parameters:
    ///   - entities: The declarations of the models.
    ///   - steps: The names of the migration steps that a file has behind it.
    package static func of(_ entities: [Entity], steps: [String] = []) -> String {
        digits(hash(of: entities), steps)
    }

    /// The fingerprint of a schema's entities, which are looked through once.
    package static func of(_ schema: Schema, steps: [String] = []) -> String {
        let hasher = schema.declarationHash.withLock { known in
            let hasher = known ?? hash(of: schema.tables.map(\.entity))
            known = hasher
            return hasher
        }
        return digits(hasher, steps)
    }

    private static func hash(of entities: [Entity]) -> StableHasher {
        var hasher = StableHasher()
        hasher.combine(version)
        for entity in entities { hasher.combine(entity) }
        return hasher
    }

    private static func digits(_ hasher: StableHasher, _ steps: [String]) -> String {
        var hasher = hasher
        for step in steps { hasher.combine(step) }
        return hasher.digits
    }

    /// Changed when the same entities get other tables.
    private static let version = "3"
}

// A list begins with its length, and an enum with the name of its case, so that different declarations never look
// alike.
extension StableHasher {
    fileprivate mutating func combine(_ entity: Entity) {
        combine(entity.name, entity.table, entity.revision, entity.createdAt, entity.updatedAt)
        combine(entity.originalTable?.names ?? [])
        combine(entity.key)
        combine(entity.isKeyAssigned ? 1 : 0, entity.properties.count, entity.uniques.count, entity.indexes.count)
        for property in entity.properties {
            switch property {
            case .attribute(let attribute): combine(attribute)
            case .relationship(let relationship): combine(relationship)
            }
        }
        for set in entity.uniques + entity.indexes { combine(set) }
        if let search = entity.search {
            combine("search")
            combine(search)
        }
    }

    private mutating func combine(_ attribute: Attribute) {
        combine("attribute", attribute.name, attribute.column)
        combine(attribute.originalName?.names ?? [])
        combine(attribute.type.spelled, attribute.type.storage.rawValue)
        if attribute.keepsIntegers { combine("keepsIntegers") }
        combine(attribute.isOptional ? 1 : 0, attribute.limits.count)
        for limit in attribute.limits { combine(limit) }
        combine(attribute.allowedValues.map { $0.count + 1 } ?? 0)
        for value in attribute.allowedValues ?? [] { combine(value) }
        combine(attribute.defaultValue)
    }

    private mutating func combine(_ value: Value?) {
        switch value {
        case nil: combine("none")
        case .null: combine("null")
        case .integer(let integer): combine("integer", String(integer))
        case .real(let real): combine("real", String(real.bitPattern))
        case .text(let text): combine("text", text)
        case .blob(let data): combine("blob", data.hexadecimal)
        case .uuid(let uuid): combine("uuid", uuid.uuidString)
        }
    }

    private mutating func combine(_ limit: Limit) {
        switch limit {
        case .notEmpty: combine("notEmpty")
        case .range(let minimum, let maximum): combine("range", minimum.map { "\($0)" }, maximum.map { "\($0)" })
        case .integerRange(let minimum, let maximum):
            combine("integerRange", minimum.map { "\($0)" }, maximum.map { "\($0)" })
        case .length(let minimum, let maximum): combine("length", minimum.map { "\($0)" }, maximum.map { "\($0)" })
        case .pattern(let pattern): combine("pattern", pattern)
        }
    }

    private mutating func combine(_ relationship: Relationship) {
        combine("relationship", relationship.name, relationship.target)
        combine(relationship.originalName?.names ?? [])
        combine(relationship.deleteRule?.rawValue, relationship.onTargetDelete?.rawValue)
        combine(relationship.minimumCount, relationship.maximumCount)
        switch relationship.order {
        case nil: combine("none")
        case .stored: combine("stored")
        case .attribute(let name): combine("attribute", name)
        }
        switch relationship.kind {
        case .toOne(let isOptional, let columns):
            combine(isOptional ? "toOne?" : "toOne")
            combine(columns)
        case .hasOne(let inverse): combine("hasOne", inverse)
        case .toMany(let inverse): combine("toMany", inverse)
        case .manyToMany(let names):
            combine("manyToMany", names.table)
            combine(names.sourceColumns)
            combine(names.targetColumns)
        case .manyToManyInverse(let inverse): combine("manyToManyInverse", inverse)
        case .through(let toMany, let toOne): combine("through", toMany, toOne)
        case .matched(let matched):
            combine(matched.isReferring ? "matched" : "matchedInverse", matched.isToMany ? "many" : "one")
            combine(matched.own)
            combine(matched.target)
        }
    }

    private mutating func combine(_ texts: String?...) {
        for text in texts {
            combine(word: text == nil ? 0 : 1)
            if let text { combine(text) }
        }
    }

    private mutating func combine(_ numbers: Int?...) {
        for number in numbers {
            combine(word: number == nil ? 0 : 1)
            combine(word: UInt64(bitPattern: Int64(number ?? 0)))
        }
    }

    private mutating func combine(_ names: [String]) {
        combine(names.count)
        for name in names { combine(name) }
    }
}
