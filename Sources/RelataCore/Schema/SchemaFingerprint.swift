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
        combine(word: 1)
        combine(attribute.name)
        combine(attribute.column)
        switch attribute.type {
        case .boolean: combine(word: 1)
        case .integer: combine(word: 2)
        case .real: combine(word: 3)
        case .decimal: combine(word: 4)
        case .text: combine(word: 5)
        case .date(let encoding):
            combine(word: 6)
            combine(encoding.rawValue)
        case .data: combine(word: 7)
        case .uuid(let encoding):
            combine(word: 8)
            combine(encoding.rawValue)
        case .json: combine(word: 9)
        }
        combine(attribute.isOptional)
        if let value = attribute.defaultValue {
            combine(word: 1)
            combine(value)
        } else {
            combine(word: 0)
        }
        combine(attribute.originalName)
        combine(Int64(attribute.limits.count))
        for limit in attribute.limits { combine(limit) }
    }

    private mutating func combine(_ value: Value) {
        switch value {
        case .null: combine(word: 1)
        case .integer(let integer):
            combine(word: 2)
            combine(integer)
        case .real(let real):
            combine(word: 3)
            combine(word: real.bitPattern)
        case .text(let text):
            combine(word: 4)
            combine(text)
        case .blob(let data):
            combine(word: 5)
            combine(data.hexadecimal)
        case .uuid(let uuid):
            combine(word: 6)
            combine(uuid.uuidString)
        }
    }

    private mutating func combine(_ limit: Limit) {
        switch limit {
        case .notEmpty: combine(word: 1)
        case .range(let minimum, let maximum):
            combine(word: 2)
            combine(minimum.map { Int64(bitPattern: $0.bitPattern) })
            combine(maximum.map { Int64(bitPattern: $0.bitPattern) })
        case .length(let minimum, let maximum):
            combine(word: 3)
            combine(minimum.map(Int64.init))
            combine(maximum.map(Int64.init))
        case .pattern(let pattern):
            combine(word: 4)
            combine(pattern)
        }
    }

    private mutating func combine(_ relationship: Relationship) {
        combine(word: 2)
        combine(relationship.name)
        combine(relationship.target)
        switch relationship.kind {
        case .toOne(let isOptional, let columns):
            combine(word: 1)
            combine(isOptional)
            combine(columns)
        case .hasOne(let inverse):
            combine(word: 2)
            combine(inverse)
        case .toMany(let inverse):
            combine(word: 3)
            combine(inverse)
        case .manyToMany(let names):
            combine(word: 4)
            combine(names.table)
            combine(names.sourceColumns)
            combine(names.targetColumns)
        case .manyToManyInverse(let inverse):
            combine(word: 5)
            combine(inverse)
        case .through(let toMany, let toOne):
            combine(word: 6)
            combine(toMany)
            combine(toOne)
        }
        combine(relationship.deleteRule?.rawValue)
        combine(relationship.onTargetDelete?.rawValue)
        switch relationship.order {
        case nil: combine(word: 0)
        case .stored: combine(word: 1)
        case .attribute(let name):
            combine(word: 2)
            combine(name)
        }
        combine(relationship.minimumCount.map(Int64.init))
        combine(relationship.maximumCount.map(Int64.init))
        combine(relationship.originalName)
    }

    private mutating func combine(_ text: String?) {
        combine(word: text == nil ? 0 : 1)
        if let text { combine(text) }
    }

    private mutating func combine(_ number: Int64?) {
        combine(word: number == nil ? 0 : 1)
        if let number { combine(number) }
    }

    private mutating func combine(_ texts: [String]) {
        combine(Int64(texts.count))
        for text in texts { combine(text) }
    }
}
