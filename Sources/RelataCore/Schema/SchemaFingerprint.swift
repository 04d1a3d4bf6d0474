/// A short text that differs whenever entities differ in anything: what an unchanged open compares.
public enum SchemaFingerprint {
    /// The fingerprint of entities, the same in every process. Their order doesn't matter to a database, but is part of
    /// it, because comparing orders would cost more than checking the tables again does.
    ///
    /// - Parameters:
    ///   - entities: What the models declare.
    ///   - steps: The names of the migration steps that a file has behind it.
    public static func of(_ entities: [Entity], steps: [String] = []) -> String {
        var hasher = StableHasher()
        hasher.combine(version)
        for entity in entities { hasher.combine(entity) }
        for step in steps { hasher.combine(step) }
        return hasher.digits
    }

    /// Raised when the same entities come to mean other tables.
    private static let version: Int64 = 1
}

extension StableHasher {
    fileprivate mutating func combine(_ entity: Entity) {
        combine(entity.name)
        combine(entity.table)
        combine(entity.originalTable)
        combine(Int64(entity.properties.count))
        for property in entity.properties {
            switch property {
            case .attribute(let attribute): combine(attribute)
            case .relationship(let relationship): combine(relationship)
            }
        }
        combine(entity.key)
        combine(entity.isKeyAssigned)
        for sets in [entity.uniques, entity.indexes] {
            combine(Int64(sets.count))
            for set in sets { combine(set) }
        }
        combine(entity.revision)
        combine(entity.createdAt)
        combine(entity.updatedAt)
    }

    private mutating func combine(_ attribute: Attribute) {
        combine(byte: 1)
        combine(attribute.name)
        combine(attribute.column)
        switch attribute.type {
        case .boolean: combine(byte: 1)
        case .integer: combine(byte: 2)
        case .real: combine(byte: 3)
        case .decimal: combine(byte: 4)
        case .text: combine(byte: 5)
        case .date(let encoding):
            combine(byte: 6)
            combine(encoding.rawValue)
        case .data: combine(byte: 7)
        case .uuid(let encoding):
            combine(byte: 8)
            combine(encoding.rawValue)
        case .json: combine(byte: 9)
        }
        combine(attribute.isOptional)
        if let value = attribute.defaultValue {
            combine(byte: 1)
            combine(SchemaDDL.literal(value, dialect: .sqlite))
        } else {
            combine(byte: 0)
        }
        combine(attribute.originalName)
        combine(Int64(attribute.limits.count))
        for limit in attribute.limits { combine(limit) }
    }

    private mutating func combine(_ limit: Limit) {
        switch limit {
        case .notEmpty: combine(byte: 1)
        case .range(let minimum, let maximum):
            combine(byte: 2)
            combine(minimum.map { Int64(bitPattern: $0.bitPattern) })
            combine(maximum.map { Int64(bitPattern: $0.bitPattern) })
        case .length(let minimum, let maximum):
            combine(byte: 3)
            combine(minimum.map(Int64.init))
            combine(maximum.map(Int64.init))
        case .pattern(let pattern):
            combine(byte: 4)
            combine(pattern)
        }
    }

    private mutating func combine(_ relationship: Relationship) {
        combine(byte: 2)
        combine(relationship.name)
        combine(relationship.target)
        switch relationship.kind {
        case .toOne(let isOptional, let columns):
            combine(byte: 1)
            combine(isOptional)
            combine(columns)
        case .hasOne(let inverse):
            combine(byte: 2)
            combine(inverse)
        case .toMany(let inverse):
            combine(byte: 3)
            combine(inverse)
        case .manyToMany(let names):
            combine(byte: 4)
            combine(names.table)
            combine(names.sourceColumns)
            combine(names.targetColumns)
        case .manyToManyInverse(let inverse):
            combine(byte: 5)
            combine(inverse)
        case .through(let toMany, let toOne):
            combine(byte: 6)
            combine(toMany)
            combine(toOne)
        }
        combine(relationship.deleteRule?.rawValue)
        combine(relationship.onTargetDelete?.rawValue)
        switch relationship.order {
        case nil: combine(byte: 0)
        case .stored: combine(byte: 1)
        case .attribute(let name):
            combine(byte: 2)
            combine(name)
        }
        combine(relationship.minimumCount.map(Int64.init))
        combine(relationship.maximumCount.map(Int64.init))
        combine(relationship.originalName)
    }

    private mutating func combine(_ text: String?) {
        combine(byte: text == nil ? 0 : 1)
        if let text { combine(text) }
    }

    private mutating func combine(_ number: Int64?) {
        combine(byte: number == nil ? 0 : 1)
        if let number { combine(number) }
    }

    private mutating func combine(_ texts: [String]) {
        combine(Int64(texts.count))
        for text in texts { combine(text) }
    }
}
