/// Paths through to-ones: which column a name means, and the joins it needs.
extension ExpressionWriter {
    /// Begins a frame with an entity's own table, whose rows a scope means, and returns its alias.
    mutating func start(_ table: Table, scope: Int) -> String {
        let alias = newAlias()
        var source = ""
        dialect.append(quoted: table.sqlName, to: &source)
        source.append(" AS ")
        source.append(alias)
        frames.append(source)
        positions.append(
            Position(
                table: table.index, frame: frames.count - 1, alias: alias, key: nil, isOuter: false, isOptional: false,
                isKeyOptional: false))
        scopes.append((scope, positions.count - 1))
        return alias
    }

    /// What a property node means.
    mutating func resolve(scope: Int, path: [String]) throws(RelataError) -> Operand {
        var position = try self.position(of: scope)
        guard let last = path.last else { return object(position) }
        for name in path.dropLast() { position = try follow(name, from: position) }
        return try resolve(last, of: position)
    }

    /// What a property of a position's row means.
    mutating func resolve(_ name: String, of position: Int) throws(RelataError) -> Operand {
        let table = schema.tables[positions[position].table]
        if let link = table.links[name] {
            if case .reference(let number) = link {
                let reference = schema.references[number]
                let isOptional = reference.isOptional || positions[position].isOptional
                var terms: [Term] = []
                for column in reference.columns {
                    terms.append(term(column: column, of: position, isOptional: isOptional))
                }
                return .key(terms, entity: reference.target)
            }
            return object(try follow(name, from: position))
        }
        guard let index = table.columns.firstIndex(where: { $0.property == name }) else {
            throw unknown(name, of: table)
        }
        return .term(term(at: index, of: position))
    }

    /// The position that a scope number stands for.
    func position(of scope: Int) throws(RelataError) -> Int {
        guard let known = scopes.last(where: { $0.number == scope }) else {
            throw .invalidUse("scope \(scope) is unknown here: an expression may use the scopes around it only")
        }
        return known.position
    }

    /// The object itself, known by its key.
    mutating func object(_ position: Int) -> Operand {
        let table = schema.tables[positions[position].table]
        let isOptional = positions[position].isKeyOptional
        var terms: [Term] = []
        for index in table.keyColumns {
            terms.append(term(column: table.columns[index].name, of: position, isOptional: isOptional))
        }
        return .key(terms, entity: table.index)
    }

    /// The key of a position's row in SQL.
    mutating func key(of position: Int) -> [String] {
        if let key = positions[position].key { return key }
        let table = schema.tables[positions[position].table]
        let alias = alias(of: position)
        return table.keyColumns.map { column(alias, table.columns[$0].name) }
    }

    private mutating func term(at index: Int, of position: Int) -> Term {
        let column = schema.tables[positions[position].table].columns[index]
        let isKey = positions[position].key != nil && isKeyColumn(index, of: position)
        let isMissing = isKey ? positions[position].isKeyOptional : positions[position].isOptional
        return Term(
            sql: sql(ofColumn: index, position), type: column.type, isNullable: column.isOptional || isMissing,
            column: (positions[position].table, index))
    }

    private mutating func term(column name: String, of position: Int, isOptional: Bool) -> Term {
        let table = schema.tables[positions[position].table]
        guard let index = table.columns.firstIndex(where: { $0.name == name }) else {
            return Term(sql: column(alias(of: position), name), type: nil, isNullable: true)
        }
        return Term(
            sql: sql(ofColumn: index, position), type: table.columns[index].type, isNullable: isOptional,
            column: (table.index, index))
    }

    private func isKeyColumn(_ index: Int, of position: Int) -> Bool {
        schema.tables[positions[position].table].keyColumns.contains(index)
    }

    private mutating func sql(ofColumn index: Int, _ position: Int) -> String {
        let table = schema.tables[positions[position].table]
        // Even where the row is joined: a reference that dangles has a key, but no row.
        if let key = positions[position].key, let part = table.keyColumns.firstIndex(of: index) { return key[part] }
        return column(alias(of: position), table.columns[index].name)
    }

    /// The alias of a position's row, which is joined now if it wasn't yet.
    mutating func alias(of position: Int) -> String {
        if let alias = positions[position].alias { return alias }
        let place = positions[position]
        let table = schema.tables[place.table]
        let alias = newAlias()
        positions[position].alias = alias
        join(table.sqlName, alias, isOuter: place.isOuter, frame: place.frame)
        frames[place.frame].append(pairwise(columns(alias, table.keyColumnNames), place.key ?? []))
        return alias
    }

    /// Appends a join to a frame, up to its condition.
    mutating func join(_ table: String, _ alias: String, isOuter: Bool, frame: Int) {
        frames[frame].append(isOuter ? " LEFT JOIN " : " JOIN ")
        dialect.append(quoted: table, to: &frames[frame])
        frames[frame].append(" AS ")
        frames[frame].append(alias)
        frames[frame].append(" ON ")
    }

    /// The position at the end of a to-one.
    mutating func follow(_ name: String, from position: Int) throws(RelataError) -> Int {
        if let known = positions[position].children.first(where: { $0.name == name }) { return known.position }
        let place = positions[position]
        let table = schema.tables[place.table]
        let child: Position
        switch try toOne(name, of: table) {
        case .reference(let reference):
            var key: [String] = []
            for name in reference.columns { key.append(term(column: name, of: position, isOptional: false).sql) }
            let isKeyOptional = place.isOptional || reference.isOptional
            child = Position(
                table: reference.target, frame: place.frame, alias: nil, key: key, isOuter: true,
                isOptional: isKeyOptional || !reference.isEnforced, isKeyOptional: isKeyOptional)
        case .inverse(let reference):
            let key = key(of: position)
            let alias = newAlias()
            join(schema.tables[reference.source].sqlName, alias, isOuter: true, frame: place.frame)
            frames[place.frame].append(pairwise(columns(alias, reference.columns), key))
            child = Position(
                table: reference.source, frame: place.frame, alias: alias, key: nil, isOuter: true, isOptional: true,
                isKeyOptional: true)
        }
        positions.append(child)
        positions[position].children.append((name, positions.count - 1))
        return positions.count - 1
    }

    private enum ToOneStep {
        case reference(Reference)
        case inverse(Reference)
    }

    private func toOne(_ name: String, of table: Table) throws(RelataError) -> ToOneStep {
        guard let link = table.links[name], let relationship = table.entity.relationship(name) else {
            guard table.entity.attribute(name) == nil else {
                throw .invalidUse("\(table.name).\(name) is an attribute: no path leads on from it")
            }
            throw unknown(name, of: table)
        }
        switch link {
        case .reference(let number): return .reference(schema.references[number])
        case .inverse(let number) where !relationship.isToMany: return .inverse(schema.references[number])
        case .inverse, .join, .through:
            throw .invalidUse(
                "\(table.name).\(name) is a to-many: ask whether any, all or none of it meet a condition, "
                    + "or for a figure such as its count")
        }
    }

    /// The error of a name that the entity doesn't have.
    func unknown(_ name: String, of table: Table) -> RelataError {
        .invalidUse(
            "\(table.name) has no property \(name)"
                + NameSuggestion.hint(for: name, among: table.entity.properties.map(\.name)))
    }
}
