import RelataCore
import RelataEngine

/// Relations.
extension ObjectWriter {
    /// Plans the changes of relations with a table.
    func planLinks(of owner: PlannedKey, _ plan: inout WritePlan) throws {
        // The changes of a relation are the edits of one list, so that each finds the order that those before it made.
        var planned: [(link: PlannedLink, changes: [LinkChange])] = []
        for (field, change) in links {
            guard case .relation(let link) = field.storage else { continue }
            switch link {
            case .join:
                let changes = try changes(change, of: field, link)
                if planned.last?.link.link == link {
                    planned[planned.count - 1].changes += changes
                } else {
                    planned.append((self.link(of: field, link), changes))
                }
            case .inverse: break
            case .reference, .through, .matched:
                throw ParseError(
                    .operationForbidden, "\(parseClass.name).\(field.name) follows from other relations: change those")
            }
        }
        for (link, changes) in planned { plan.add(LinkEdits(owner: owner, link: link, changes: changes)) }
    }

    /// Changes the inverse relations of pointers, once the object exists.
    func writeMembers(of owner: KeyValue) throws {
        for (field, change) in links {
            guard case .relation(.inverse(let number)) = field.storage else { continue }
            try write(change, of: field, transaction.schema.references[number], owner)
        }
    }

    private func changes(_ change: FieldChange, of field: Field, _ link: Link) throws -> [LinkChange] {
        switch change {
        case .addRelation(let pointers): return try keys(pointers, field).map { .add(.key($0)) }
        case .removeRelation(let pointers):
            return try keys(pointers, field, isNew: false).map { .remove(.key($0)) }
        case .placeRelation(let pointers, let other):
            guard self.link(of: field, link).isOrdered else {
                throw ParseError(
                    .incorrectType,
                    "\(parseClass.name).\(field.name) has no order, so nothing can be placed in it: describe the class with an order of this field"
                )
            }
            var last = try keys([other].compactMap(\.self), field).first
            return try keys(pointers, field).map { key in
                defer { last = key }
                return .place(.key(key), after: last.map { .key($0) })
            }
        case .unset: return [.set([])]
        default: return []
        }
    }

    private func link(of field: Field, _ link: Link) -> PlannedLink {
        let target = field.type.targetClass.flatMap { transaction.schema.index(of: $0) } ?? parseClass.table.index
        return PlannedLink(field.name, target, link, transaction.schema)
    }

    private func keys(_ pointers: [Pointer], _ field: Field, isNew: Bool = true) throws -> [KeyValue] {
        let decoder = FieldDecoder(parseClass: parseClass, field: field)
        return try pointers.map { try decoder.key($0, in: transaction, isNew: isNew) }
    }

    /// Changes a relation that is the inverse of a pointer. Only the pointer is stored.
    private func write(_ change: FieldChange, of field: Field, _ reference: Reference, _ owner: KeyValue) throws {
        let members: [KeyValue]
        var isAdding = false
        switch change {
        case .placeRelation(let pointers, _):
            // Members are refused that the caller may not change, and joined with the hooks of their models.
            let changes = try changes(change, of: field, .inverse(reference.index))
            try write(.addRelation(pointers), of: field, reference, owner)
            return try place(changes, of: field, reference, owner)
        case .addRelation(let pointers):
            members = try keys(pointers, field)
            isAdding = true
        case .removeRelation(let pointers): members = try keys(pointers, field, isNew: false)
        case .unset: members = try transaction.members(of: owner, field, of: parseClass)
        default: return
        }
        var place = isAdding ? try transaction.connection.nextPlace(in: reference, of: owner, transaction.schema) : nil
        for member in members { try write(member, reference, owner, isAdding: isAdding, place: &place) }
    }

    /// Gives members of a relation that is the inverse of a pointer the numbers of their places.
    private func place(
        _ changes: [LinkChange], of field: Field, _ reference: Reference, _ owner: KeyValue
    ) throws {
        let run = WriteRun(
            transaction.connection, schema: transaction.schema, isSchemaFixed: transaction.models != nil,
            now: transaction.now)
        let link = link(of: field, .inverse(reference.index))
        run.plan.add(LinkEdits(owner: .key(owner), link: link, changes: changes))
        try run.write()
        transaction.agenda.counts.merge(run.counted)
    }

    /// Whether a field may have a number that no client gave it.
    private func isAllowed(_ number: Value?, in table: Table, _ column: Int) -> Bool {
        let name = table.columns[column].property
        guard let number, !table.entity.uniques.contains([name]) else { return false }
        let limits = transaction.classes[entity: table.index]?[name]?.limits ?? []
        return limits.allSatisfy { $0.failure(of: number, type: table.columns[column].type) == nil }
    }

    /// Adds an object to, or removes it from, a relation that is the inverse of a pointer.
    ///
    /// - Parameter place: The number for an added object that has none in the field which orders the relation.
    private func write(
        _ member: KeyValue, _ reference: Reference, _ owner: KeyValue, isAdding: Bool, place: inout Int64?
    ) throws {
        let source = transaction.schema.tables[reference.source]
        let indexes = source.columnIndexes(of: reference.property)
        guard let row = try transaction.connection.row(member, of: source, transaction.writeCompiler) else {
            if isAdding { throw ParseError(.objectNotFound, "\(source.name) has no object \(member)", status: 400) }
            return
        }
        let target = indexes.map { row[$0] }
        guard (target == owner.values) != isAdding else { return }
        let isRequired = transaction.classes[entity: reference.source]?[reference.property]?.isRequired ?? false
        guard isAdding || reference.isOptional && !isRequired else {
            throw ParseError(.validationError, "\(source.name).\(reference.property) is required")
        }
        var changes: [Int: Value] = [:]
        for (column, value) in zip(indexes, owner.values) { changes[column] = isAdding ? value : .null }
        if let next = place, let column = source.columns.firstIndex(where: { $0.name == reference.orderColumn }) {
            let number = Value.integer(next).stored(as: source.columns[column].type)
            if reference.isOrderStored || row[column].isNull && isAllowed(number, in: source, column) {
                changes[column] = number
                place = next &+ Relationship.Order.gap
            } else if let own = Double(row[column].description), own >= Double(next) {
                place = Int64(exactly: own.rounded(.down) + Double(Relationship.Order.gap))
            }
        }
        for column in source.entity.updatedAt.map({ source.columnIndexes(of: $0) }) ?? [] {
            changes[column] = source.columns[column].type.stamp(transaction.now)
        }
        let memberClass = transaction.models == nil ? nil : transaction.classes[source.name]
        let pending = memberClass.map { PendingObject($0, key: member, row: row, changes: changes) }
        try transaction.save(pending) { others in
            let changes = changes.merging(others) { $1 }
            var values = row
            for (column, value) in changes { values[column] = value }
            let change = ValueBatch.Row(key: member, values: values, columns: changes.keys.sorted())
            return try transaction.write([change], of: source)[0]
        }
    }
}

extension ParseTransaction {
    /// The objects of a relation, in its order.
    ///
    /// - Parameter limit: The maximum number of objects; `nil` for all.
    func members(
        of owner: KeyValue, _ field: Field, of parseClass: ParseClass, limit: Int? = nil
    ) throws -> [KeyValue] {
        guard let target = field.type.targetClass else { return [] }
        let related = RelatedOwner(entity: parseClass.name, relationship: field.name, key: owner)
        let query = try compiler.select(
            QueryPlan(entity: target, limit: limit, relatedTo: related), columns: .parts([.key(path: [])]))
        return try connection.values(query.statement, types: query.columnTypes).map { KeyValue($0) }
    }
}
