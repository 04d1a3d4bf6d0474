// Declared entities of a file whose tables another program has changed.

extension Schema {
    /// The entities, reduced to the parts whose tables exist: without entities whose table or key is missing, and
    /// without properties whose columns are. A to-one with a missing target becomes an attribute with the type of its
    /// key. Missing parts are named. Numbers keep large integers only if their columns do.
    package func entities(fitting descriptions: [TableDescription]) -> (entities: [Entity], lost: [SchemaProblem]) {
        let fitting = FittingEntities(schema: self, descriptions)
        let entities = tables.map(fitting.entity)
        return (entities.compactMap { $0.map(fitting.rounding) }, zip(tables, entities).flatMap(fitting.lost))
    }
}

private struct FittingEntities {
    let schema: Schema
    /// Whether an entity's table and key exist, by its number.
    private let isThere: [Bool]
    /// The numbers of the references and of the joins whose columns exist, at both ends.
    private let references: Set<Int>
    private let joins: Set<Int>
    private let columns: [FoldedName: Set<FoldedName>]
    /// The tables as they are.
    private let described: [FoldedName: TableDescription]

    init(schema: Schema, _ descriptions: [TableDescription]) {
        self.schema = schema
        let columns = Dictionary(
            descriptions.map { ($0.name.foldedName, Set($0.columns.map { $0.name.foldedName })) }
        ) { first, _ in first }
        func has(_ table: String, _ names: [String]) -> Bool {
            columns[table.foldedName].map { $0.isSuperset(of: names.map { $0.foldedName }) } ?? false
        }
        let isThere = schema.tables.map { has($0.sqlName, $0.keyColumnNames) }
        references = Set(
            schema.references.filter { reference in
                isThere[reference.source] && isThere[reference.target]
                    && has(schema.tables[reference.source].sqlName, reference.columns)
            }.map(\.index))
        joins = Set(
            schema.joins.filter { join in
                isThere[join.source] && isThere[join.target]
                    && has(join.table, join.sourceColumns + join.targetColumns)
            }.map(\.index))
        self.columns = columns
        self.isThere = isThere
        described = Dictionary(descriptions.map { ($0.name.foldedName, $0) }) { first, _ in first }
    }

    /// The entity without integers that its columns of floating-point numbers would round: earlier versions declared
    /// such columns on PostgreSQL.
    func rounding(_ entity: Entity) -> Entity {
        guard let table = described[entity.table.foldedName] else { return entity }
        var entity = entity
        for index in entity.properties.indices {
            guard case .attribute(var attribute) = entity.properties[index], attribute.keepsIntegers,
                !entity.key.contains(attribute.name), let column = table.column(attribute.column),
                Affinity(declaredType: column.type) == .real
            else { continue }
            attribute.keepsIntegers = false
            entity.properties[index] = .attribute(attribute)
        }
        return entity
    }

    private func has(_ table: Table, _ column: String) -> Bool {
        columns[table.sqlName.foldedName]?.contains(column.foldedName) == true
    }

    func entity(_ table: Table) -> Entity? {
        guard isThere[table.index] else { return nil }
        var entity = table.entity
        entity.properties = entity.properties.flatMap { properties($0, of: table) }
        let names = Set(entity.properties.map(\.name))
        guard names.isSuperset(of: entity.key) else { return nil }
        entity.uniques.removeAll { !names.isSuperset(of: $0) }
        entity.indexes.removeAll { !names.isSuperset(of: $0) }
        entity.removeFromSearch(Set(entity.search ?? []).subtracting(names))
        for stamp in [\Entity.revision, \.createdAt, \.updatedAt]
        where entity[keyPath: stamp].map(names.contains) == false {
            entity[keyPath: stamp] = nil
        }
        return entity
    }

    private func properties(_ property: Property, of table: Table) -> [Property] {
        switch property {
        case .attribute(let attribute): return has(table, attribute.column) ? [property] : []
        case .relationship(var relationship):
            guard let link = table.links[relationship.name] else { return [] }
            if isThere(link) {
                if let order = order(of: link), !has(order.table, order.column) { relationship.order = nil }
                return [.relationship(relationship)]
            }
            guard case .reference = link else { return [] }
            return table.columnIndexes(of: relationship.name).map { table.columns[$0] }.filter { has(table, $0.name) }
                .map { column in
                    let name =
                        relationship.name + (table.columnIndexes(of: relationship.name).count > 1 ? column.name : "")
                    return .attribute(
                        Attribute(name, column: column.name, type: column.type, isOptional: column.isOptional))
                }
        }
    }

    private func isThere(_ link: Link) -> Bool {
        switch link {
        case .reference(let number), .inverse(let number): references.contains(number)
        case .join(let number, _): joins.contains(number)
        case .through(let inverse, let reference): references.contains(inverse) && references.contains(reference)
        // Never declared: it is read from the existing keys.
        case .matched: false
        }
    }

    /// The column by which a view of a foreign key is ordered.
    private func order(of link: Link) -> (table: Table, column: String)? {
        guard case .inverse(let number) = link, let column = schema.references[number].orderColumn else { return nil }
        return (schema.tables[schema.references[number].source], column)
    }

    /// The lost parts of a declared entity.
    ///
    /// - Parameter entity: The remaining entity.
    func lost(of table: Table, leaving entity: Entity?) -> [SchemaProblem] {
        guard let entity else {
            return [
                SchemaProblem(
                    entity: table.name,
                    message: "its table \(table.sqlName) or the key of it is gone: another program dropped or "
                        + "renamed it, so the entity is left out")
            ]
        }
        if entity == table.entity { return [] }
        return table.entity.properties.filter { $0 != entity.property($0.name) }.map { property in
            SchemaProblem(
                entity: table.name, property: property.name,
                message: "its column or what it links to is gone: another program dropped or renamed it")
        }
    }
}
