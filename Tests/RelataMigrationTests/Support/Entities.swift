import RelataCore

extension Property {
    static func id(_ type: AttributeType = .integer) -> Property { .attribute(Attribute("id", type: type)) }

    static func attribute(
        _ name: String, _ type: AttributeType = .text, isOptional: Bool = false, default value: Value? = nil,
        column: String? = nil, originalName: OriginalNames? = nil
    ) -> Property {
        .attribute(
            Attribute(
                name, column: column, type: type, isOptional: isOptional, defaultValue: value,
                originalName: originalName))
    }

    static func toOne(
        _ name: String, _ target: String, isOptional: Bool = true, onTargetDelete: DeleteRule? = nil,
        originalName: OriginalNames? = nil
    ) -> Property {
        .relationship(
            Relationship(
                name, target: target, kind: .toOne(isOptional: isOptional), onTargetDelete: onTargetDelete,
                originalName: originalName))
    }

    static func toMany(
        _ name: String, _ target: String, inverse: String, order: Relationship.Order? = nil
    ) -> Property {
        .relationship(Relationship(name, target: target, kind: .toMany(inverse: inverse), order: order))
    }

    static func hasOne(_ name: String, _ target: String, inverse: String) -> Property {
        .relationship(Relationship(name, target: target, kind: .hasOne(inverse: inverse)))
    }

    static func manyToMany(
        _ name: String, _ target: String, order: Relationship.Order? = nil, originalName: OriginalNames? = nil
    ) -> Property {
        .relationship(
            Relationship(name, target: target, kind: .manyToMany(), order: order, originalName: originalName))
    }

    static func manyToManyInverse(
        _ name: String, _ target: String, inverse: String, order: Relationship.Order? = nil
    ) -> Property {
        .relationship(Relationship(name, target: target, kind: .manyToManyInverse(inverse: inverse), order: order))
    }
}

/// A book with properties besides its id.
func book(_ properties: Property..., uniques: [[String]] = [], indexes: [[String]] = []) -> Entity {
    Entity(name: "Book", properties: [.id()] + properties, uniques: uniques, indexes: indexes)
}

/// A genre that has a name.
let genre = Entity(name: "Genre", properties: [.id(), .attribute("name", default: "")])
