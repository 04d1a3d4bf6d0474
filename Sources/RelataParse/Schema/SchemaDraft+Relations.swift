import RelataCore

extension SchemaDraft {
    /// Checks that relations have the other sides and orders which they name, in the words of clients: the store's own
    /// errors speak of models.
    ///
    /// - Throws: ``ParseError`` 140 for a relation whose other side isn't there, or whose order isn't a number.
    func checkRelations() throws(ParseError) {
        for entity in entities {
            for relationship in entity.relationships { try check(relationship, of: entity) }
        }
    }

    private func check(_ relationship: Relationship, of entity: Entity) throws(ParseError) {
        let name = "\(entity.name).\(relationship.name)"
        let target = self.entity(relationship.target)
        switch relationship.kind {
        case .toMany(let inverse):
            guard let pointer = target?.relationship(inverse), !pointer.isToMany, pointer.target == entity.name else {
                throw ParseError(
                    .invalidSchemaOperation,
                    "\(name): \(relationship.target) has no pointer \(inverse) that leads to \(entity.name): add that field first, {\"\(inverse)\": {\"type\": \"Pointer\", \"targetClass\": \"\(entity.name)\"}}"
                )
            }
            guard case .attribute(let attribute)? = relationship.order else { return }
            guard let type = target?.attribute(attribute)?.type, FieldType(type) == .number, type != .decimal else {
                throw ParseError(
                    .invalidSchemaOperation,
                    "\(name): its order must be true, false or a Number of \(relationship.target), which \(attribute) isn't: add that field first"
                )
            }
        case .manyToMany:
            guard case .attribute = relationship.order else { return }
            throw ParseError(
                .invalidSchemaOperation,
                "\(name): only the other side of a pointer can be ordered by a number: name its inverse, or let its order be true or false"
            )
        case .toOne, .hasOne, .manyToManyInverse, .through: return
        }
    }
}
