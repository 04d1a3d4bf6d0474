import RelataCore

extension SchemaDraft {
    /// Checks that the pointers and relations of a changed class, and of those that they lead to, have valid inverses,
    /// orders and rules, with errors for clients: the store's own errors are about models.
    ///
    /// - Throws: ``ParseError`` 111 for a relation whose inverse doesn't exist or has another one already, whose order
    ///   isn't a number, or whose rule is invalid.
    func checkRelations(of className: String) throws(ParseError) {
        guard let changed = entity(className) else { return }
        let names = Set(changed.relationships.map(\.target)).subtracting([className])
        if let problem = problems(of: [changed] + names.sorted().compactMap(entity)).first {
            throw ParseError(.incorrectType, "\(problem.className).\(problem.field): \(problem.message)")
        }
    }

    /// The pointers and relations that can't be so, and why.
    var relationProblems: [(className: String, field: String, message: String)] { problems(of: entities.all) }

    private func problems(of some: [Entity]) -> [(className: String, field: String, message: String)] {
        let known = Dictionary(entities.enumerated().map { ($1.name, $0) }) { first, _ in first }
        return some.flatMap { entity in
            entity.relationships.compactMap { relationship in
                problem(of: relationship, of: entity) { known[$0].map { entities[$0] } }.map {
                    (entity.name, relationship.name, $0)
                }
            }
        }
    }

    private func problem(
        of relationship: Relationship, of entity: Entity, _ known: (String) -> Entity?
    ) -> String? {
        switch relationship.kind {
        case .toOne(isOptional: false, _) where relationship.onTargetDelete == .nullify:
            return "nullify can't unset it, since its column must have a value: set onTargetDelete to cascade or deny"
        case .toMany(let inverse):
            return problem(of: relationship, of: entity, inverse: inverse, known(relationship.target))
        case .manyToMany:
            if relationship.deleteRule == .noAction {
                return
                    "noAction would leave dangling entries: set its deleteRule to nullify, which keeps the objects, cascade or deny"
            }
            guard case .attribute = relationship.order else { return nil }
            return
                "only the other side of a pointer can be ordered by a number: name its inverse, or set its order to true or false"
        case .toOne, .hasOne, .manyToManyInverse, .through, .matched: return nil
        }
    }

    private func problem(
        of relationship: Relationship, of entity: Entity, inverse: String, _ target: Entity?
    ) -> String? {
        let place = "\(relationship.target).\(inverse)"
        guard let pointer = target?.relationship(inverse), !pointer.isToMany, pointer.target == entity.name else {
            return
                "\(relationship.target) has no pointer \(inverse) that leads to \(entity.name): add that field first, {\"\(inverse)\": {\"type\": \"Pointer\", \"targetClass\": \"\(entity.name)\"}}"
        }
        let first = entity.relationships.first {
            $0.target == relationship.target && RelationshipDetails($0).inverse == inverse
        }
        if let first, first.name != relationship.name {
            return "\(entity.name).\(first.name) is the other side of \(place) already: keep one of the two"
        }
        if let own = pointer.onTargetDelete, let rule = relationship.deleteRule, own != rule {
            return
                "its deleteRule is \(rule.rawValue), and the onTargetDelete of \(place), which is about the same deletion, is \(own.rawValue): name one of the two only"
        }
        if case .toOne(isOptional: false, _) = pointer.kind, relationship.deleteRule == .nullify {
            return
                "nullify can't unset \(place), since its column must have a value: set its deleteRule to cascade or deny"
        }
        guard case .attribute(let attribute)? = relationship.order else { return nil }
        if let type = target?.attribute(attribute)?.type, FieldType(type) == .number, type != .decimal { return nil }
        return
            "its order must be true, false or a Number of \(relationship.target), which \(attribute) isn't: add that field first"
    }
}
