import RelataCore
import RelataEngine

/// Relations.
extension ObjectWriter {
    /// Plans the changes of relations with a table.
    func planLinks(of owner: PlannedKey, _ plan: inout WritePlan) throws {
        for (field, change) in links {
            guard case .relation(let link) = field.storage else { continue }
            switch link {
            case .join: try plan.add(edits(change, of: field, link, owner))
            case .inverse: break
            case .reference, .through, .matched:
                throw ParseError(
                    .operationForbidden, "\(parseClass.name).\(field.name) follows from other relations: change those")
            }
        }
    }

    /// Changes the inverse relations of pointers, once the object exists.
    func writeMembers(of owner: KeyValue) throws {
        for (field, change) in links {
            guard case .relation(.inverse(let number)) = field.storage else { continue }
            try write(change, of: field, transaction.schema.references[number], owner)
        }
    }

    private func edits(_ change: FieldChange, of field: Field, _ link: Link, _ owner: PlannedKey) throws -> LinkEdits {
        let changes: [LinkChange] =
            switch change {
            case .addRelation(let pointers): try keys(pointers, field).map { .add(.key($0)) }
            case .removeRelation(let pointers): try keys(pointers, field, isNew: false).map { .remove(.key($0)) }
            case .unset: [.set([])]
            default: []
            }
        let target = field.type.targetClass.flatMap { transaction.schema.index(of: $0) } ?? parseClass.table.index
        return LinkEdits(
            owner: owner, link: PlannedLink(field.name, target, link, transaction.schema), changes: changes)
    }

    private func keys(_ pointers: [Pointer], _ field: Field, isNew: Bool = true) throws -> [KeyValue] {
        let decoder = FieldDecoder(parseClass: parseClass, field: field)
        return try pointers.map { try decoder.key($0, in: transaction, isNew: isNew) }
    }

    /// All objects of a relation.
    private func members(of owner: KeyValue, _ field: Field) throws -> [KeyValue] {
        guard let target = field.type.targetClass else { return [] }
        let related = RelatedOwner(entity: parseClass.name, relationship: field.name, key: owner)
        let query = try transaction.compiler.select(
            QueryPlan(entity: target, relatedTo: related), columns: .parts([.key(path: [])]))
        return try transaction.connection.values(query.statement, types: query.columnTypes).map { KeyValue($0) }
    }

    /// Changes a relation that is the inverse of a pointer. Only the pointer is stored.
    private func write(_ change: FieldChange, of field: Field, _ reference: Reference, _ owner: KeyValue) throws {
        let members: [KeyValue]
        var isAdding = false
        switch change {
        case .addRelation(let pointers):
            members = try keys(pointers, field)
            isAdding = true
        case .removeRelation(let pointers): members = try keys(pointers, field, isNew: false)
        case .unset: members = try self.members(of: owner, field)
        default: return
        }
        var place = isAdding ? try transaction.connection.nextPlace(in: reference, of: owner, transaction.schema) : nil
        for member in members { try write(member, reference, owner, isAdding: isAdding, place: &place) }
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
