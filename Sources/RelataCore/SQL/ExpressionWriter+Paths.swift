/// Paths through to-ones: which column a name means, and the joins it needs.
extension ExpressionWriter {
    /// Begins a frame with an entity's own table, for the rows of a scope, and returns its alias.
    ///
    /// - Parameter index: The index or scan that must be used.
    mutating func start(_ table: Table, scope: Int, index: ForcedIndex? = nil) -> String {
        let alias = newAlias()
        var source = source(table, index)
        source.append(" AS ")
        source.append(alias)
        // A part of the table has the hint inside.
        if let index, !access.guards(table), !table.entity.mayLackKeys { source.append(dialect.using(index)) }
        frames.append(source)
        positions.append(
            Position(
                table: table.index, frame: frames.count - 1, alias: alias, key: nil, isOuter: false, isOptional: false,
                isKeyOptional: false))
        scopes.append((scope, positions.count - 1))
        return alias
    }

    /// Finds the meaning of a property node.
    mutating func resolve(scope: Int, path: [String]) throws(RelataError) -> Operand {
        var position = try self.position(of: scope)
        guard let last = path.last else { return object(position) }
        for name in path.dropLast() { position = try follow(name, from: position) }
        return try resolve(last, of: position)
    }

    /// The meaning of a property of a position's row.
    mutating func resolve(_ name: String, of position: Int) throws(RelataError) -> Operand {
        let table = schema.tables[positions[position].table]
        guard let link = table.links[name] else {
            guard let index = table.columns.firstIndex(where: { $0.property == name }) else {
                throw unknown(name, of: table)
            }
            return .term(term(at: index, of: position))
        }
        guard case .reference(let number) = link else { return object(try follow(name, from: position)) }
        if needsTarget(schema.references[number]) { return object(try follow(name, from: position)) }
        let terms = table.columnIndexes(of: name).map { term(at: $0, of: position) }
        return .key(terms, entity: schema.references[number].target)
    }

    /// The first column of a to-one's key if the key's meaning depends on its target: the column itself is checked for
    /// being unset, because it may dangle. `nil` for everything else, and if the target may be hidden.
    mutating func heldKey(scope: Int, path: [String]) throws(RelataError) -> String? {
        guard let last = path.last else { return nil }
        var position = try self.position(of: scope)
        for name in path.dropLast() { position = try follow(name, from: position) }
        guard case .reference(let number)? = schema.tables[positions[position].table].links[last],
            schema.references[number].comparison != .equal,
            !access.guards(schema.tables[schema.references[number].target])
        else { return nil }
        return key(heldBy: last, of: position).first
    }

    /// Whether only the target's row determines a to-one's key: the target's rules compare the two, or the target may
    /// be hidden.
    private func needsTarget(_ reference: Reference) -> Bool {
        reference.comparison != .equal || access.guards(schema.tables[reference.target])
    }

    /// The position of a scope number.
    func position(of scope: Int) throws(RelataError) -> Int {
        guard let known = scopes.last(where: { $0.number == scope }) else {
            throw .invalidUse("scope \(scope) is unknown here: an expression may use the scopes around it only")
        }
        return known.position
    }

    /// The object itself, by its key.
    mutating func object(_ position: Int) -> Operand {
        let table = schema.tables[positions[position].table]
        return .key(table.keyColumns.map { term(at: $0, of: position) }, entity: table.index)
    }

    /// The key of a position's row in SQL.
    mutating func key(of position: Int) -> [String] {
        if let key = positions[position].key { return key }
        let table = schema.tables[positions[position].table]
        let alias = alias(of: position)
        return table.keyColumns.map { column(alias, table.columns[$0].name) }
    }

    /// The key that a to-one of a position's row holds.
    mutating func key(heldBy toOne: String, of position: Int) -> [String] {
        schema.tables[positions[position].table].columnIndexes(of: toOne).map { sql(ofColumn: $0, position) }
    }

    private mutating func term(at index: Int, of position: Int) -> Term {
        let place = positions[position]
        let table = schema.tables[place.table]
        let isKnown = place.key != nil && table.keyColumns.contains(index)
        return Term(
            sql: sql(ofColumn: index, position), type: table.columns[index].type,
            isNullable: table.columns[index].isOptional || access.masks(table.columns[index].property, of: table)
                || (isKnown ? place.isKeyOptional : place.isOptional),
            column: (table.index, index),
            isSinglePrecision: table.columns[index].type == .real
                && table.entity.attribute(table.columns[index].property)?.isSinglePrecision == true,
            keepsIntegers: table.columns[index].keepsIntegers,
            holdsOtherTypes: table.columns[index].holdsOtherTypes)
    }

    private mutating func sql(ofColumn index: Int, _ position: Int) -> String {
        let table = schema.tables[positions[position].table]
        // Even if the row is joined: a dangling reference has a key, but no row.
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
        join(source(table), alias, isOuter: place.isOuter, frame: place.frame)
        frames[place.frame].append(pairwise(columns(alias, table.keyColumnNames), place.key ?? []))
        return alias
    }

    /// Appends a join to a frame, up to its condition.
    mutating func join(_ rows: String, _ alias: String, isOuter: Bool, frame: Int) {
        frames[frame].append(isOuter ? " LEFT JOIN " : " JOIN ")
        frames[frame].append(rows)
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
        switch try link(name, of: table) {
        case .reference(let number):
            let reference = schema.references[number]
            let key = key(heldBy: name, of: position)
            let isKeyOptional = place.isOptional || reference.isOptional || access.masks(name, of: table)
            if needsTarget(reference) {
                let target = schema.tables[reference.target]
                let held = reference.comparison == .equal ? key : key.map(dialect.unaffiliated)
                let alias = add(source(target), target.keyColumnNames, held, frame: place.frame, isOuter: true).alias
                child = Position(
                    table: reference.target, frame: place.frame, alias: alias, key: nil, isOuter: true,
                    isOptional: true, isKeyOptional: true)
                break
            }
            child = Position(
                table: reference.target, frame: place.frame, alias: nil, key: key, isOuter: true,
                isOptional: isKeyOptional || !reference.isEnforced, isKeyOptional: isKeyOptional)
        case .inverse(let number) where !table.isToMany(name):
            let reference = schema.references[number]
            let key = key(of: position)
            let (rows, columns) = schema.rows(of: reference, dialect) { source($0) }
            let alias = add(rows, columns, key, frame: place.frame, isOuter: true).alias
            child = Position(
                table: reference.source, frame: place.frame, alias: alias, key: nil, isOuter: true, isOptional: true,
                isKeyOptional: true)
        case .matched(let link) where link.isForward:
            let held = columns(alias(of: position), table.referring(link.columns)).map(dialect.unaffiliated)
            let target = source(schema.tables[link.target])
            let alias = add(target, link.targetColumns, held, frame: place.frame, isOuter: true).alias
            child = Position(
                table: link.target, frame: place.frame, alias: alias, key: nil, isOuter: true, isOptional: true,
                isKeyOptional: true)
        case .matched(let link) where !table.isToMany(name):
            let key = key(of: position)
            let (rows, near, far) = schema.rows(of: link, dialect) { source($0) }
            let alias = add(rows, near, key, frame: place.frame, isOuter: true).alias
            child = Position(
                table: link.end, frame: place.frame, alias: nil, key: columns(alias, far), isOuter: true,
                isOptional: true, isKeyOptional: true)
        case .inverse, .join, .through, .matched:
            throw .invalidUse(
                "\(table.name).\(name) is a to-many: use any, all or none of it with a condition, "
                    + "or an aggregate such as its count")
        }
        positions.append(child)
        positions[position].children.append((name, positions.count - 1))
        return positions.count - 1
    }

    /// The position at the end of to-ones from the query's own object.
    mutating func row(at path: [String]) throws(RelataError) -> Int {
        var position = try position(of: 0)
        for name in path { position = try follow(name, from: position) }
        return position
    }

    /// The stored form of a relationship.
    func link(_ name: String, of table: Table) throws(RelataError) -> Link {
        if let link = table.links[name] { return link }
        guard table.entity.attribute(name) == nil else {
            throw .invalidUse(
                "\(table.name).\(name) is an attribute, not a relationship: a path ends there")
        }
        throw unknown(name, of: table)
    }

    /// The error of a name that the entity doesn't have.
    func unknown(_ name: String, of table: Table) -> RelataError {
        .invalidUse(
            "\(table.name) has no property \(name)"
                + NameSuggestion.hint(for: name, among: table.entity.properties.map(\.name)))
    }
}
