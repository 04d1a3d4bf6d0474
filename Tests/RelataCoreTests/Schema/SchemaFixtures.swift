import RelataCore

extension Property {
    static func id(_ type: AttributeType = .uuid(.blob)) -> Property { .attribute(Attribute("id", type: type)) }

    static func text(_ name: String, isOptional: Bool = false, column: String? = nil) -> Property {
        .attribute(Attribute(name, column: column, type: .text, isOptional: isOptional))
    }

    static func integer(_ name: String, isOptional: Bool = false, default value: Value? = nil) -> Property {
        .attribute(Attribute(name, type: .integer, isOptional: isOptional, defaultValue: value))
    }

    static func toOne(
        _ name: String, _ target: String, isOptional: Bool = true, columns: [String] = [],
        deleteRule: DeleteRule? = nil,
        onTargetDelete: DeleteRule? = nil, originalName: OriginalNames? = nil
    ) -> Property {
        .relationship(
            Relationship(
                name, target: target, kind: .toOne(isOptional: isOptional, columns: columns), deleteRule: deleteRule,
                onTargetDelete: onTargetDelete, originalName: originalName))
    }

    static func toMany(
        _ name: String, _ target: String, inverse: String, deleteRule: DeleteRule? = nil,
        order: Relationship.Order? = nil, minimum: Int? = nil, maximum: Int? = nil
    ) -> Property {
        .relationship(
            Relationship(
                name, target: target, kind: .toMany(inverse: inverse), deleteRule: deleteRule, order: order,
                minimumCount: minimum, maximumCount: maximum))
    }

    static func hasOne(_ name: String, _ target: String, inverse: String, deleteRule: DeleteRule? = nil) -> Property {
        .relationship(Relationship(name, target: target, kind: .hasOne(inverse: inverse), deleteRule: deleteRule))
    }

    static func manyToMany(
        _ name: String, _ target: String, names: JoinTableNames = JoinTableNames(), deleteRule: DeleteRule? = nil,
        order: Relationship.Order? = nil, originalName: OriginalNames? = nil
    ) -> Property {
        .relationship(
            Relationship(
                name, target: target, kind: .manyToMany(names), deleteRule: deleteRule, order: order,
                originalName: originalName))
    }

    static func manyToManyInverse(
        _ name: String, _ target: String, inverse: String, deleteRule: DeleteRule? = nil,
        order: Relationship.Order? = nil
    ) -> Property {
        .relationship(
            Relationship(
                name, target: target, kind: .manyToManyInverse(inverse: inverse), deleteRule: deleteRule, order: order))
    }

    static func through(_ name: String, _ target: String, _ toMany: String, _ toOne: String) -> Property {
        .relationship(Relationship(name, target: target, kind: .through(toMany: toMany, toOne: toOne)))
    }
}

/// The problems that making a schema of the entities lists, as text; empty if it opens.
func problems(_ entities: [Entity]) -> [String] {
    do {
        _ = try Schema(entities)
        return []
    } catch {
        guard case .schemaMismatch(let problems) = error else { return ["another error: \(error)"] }
        return problems.map(\.description)
    }
}
