import RelataCore
import RelataSQLite

/// Relations, written once the object is there.
extension ObjectWriter {
    func writeLinks(of owner: KeyValue) throws {
        if links.isEmpty { return }
        let run = transaction.makeRun()
        for (field, change) in links {
            guard case .relation(let link) = field.storage else { continue }
            switch link {
            case .join: try run.plan.add(edits(change, of: field, link, owner))
            case .inverse(let number): try write(change, of: field, transaction.schema.references[number], owner)
            case .reference, .through:
                throw ParseError(
                    .operationForbidden, "\(parseClass.name).\(field.name) follows from other relations: change those")
            }
        }
        try run.writeEdits()
        transaction.agenda.counts.merge(run.counted)
    }

    private func edits(_ change: FieldChange, of field: Field, _ link: Link, _ owner: KeyValue) throws -> LinkEdits {
        let changes: [LinkChange] =
            switch change {
            case .addRelation(let pointers): try keys(pointers, field).map { .add(.key($0)) }
            case .removeRelation(let pointers): try keys(pointers, field).map { .remove(.key($0)) }
            case .unset: [.set([])]
            default: []
            }
        let target = field.type.targetClass.flatMap { transaction.schema.index(of: $0) } ?? parseClass.table.index
        return LinkEdits(
            owner: .key(owner), link: PlannedLink(field.name, target, link, transaction.schema), changes: changes)
    }

    private func keys(_ pointers: [Pointer], _ field: Field) throws -> [KeyValue] {
        let decoder = FieldDecoder(parseClass: parseClass, field: field)
        return try pointers.map { try decoder.key($0, in: transaction.classes) }
    }

    /// All objects of a relation.
    private func members(of owner: KeyValue, _ field: Field) throws -> [KeyValue] {
        guard let target = field.type.targetClass else { return [] }
        let related = RelatedOwner(entity: parseClass.name, relationship: field.name, key: owner)
        let query = try transaction.compiler.select(
            QueryPlan(entity: target, relatedTo: related), columns: .parts([.key(path: [])]))
        return try transaction.connection.values(query.statement, types: query.columnTypes).map { KeyValue($0) }
    }

    /// Changes a relation that is the other side of a pointer. There is one truth: the pointer.
    private func write(_ change: FieldChange, of field: Field, _ reference: Reference, _ owner: KeyValue) throws {
        let members: [KeyValue]
        var isAdding = false
        switch change {
        case .addRelation(let pointers):
            members = try keys(pointers, field)
            isAdding = true
        case .removeRelation(let pointers): members = try keys(pointers, field)
        case .unset: members = try self.members(of: owner, field)
        default: return
        }
        var place = isAdding ? try records.nextPlace(in: reference, of: owner) : nil
        for member in members { try write(member, reference, owner, isAdding: isAdding, place: &place) }
    }

    /// Whether a field may have a number that no client gave it.
    private func isAllowed(_ number: Value?, in table: Table, _ column: Int) -> Bool {
        let name = table.columns[column].property
        guard let number, !table.entity.uniques.contains([name]) else { return false }
        let limits = transaction.classes[entity: table.index]?[name]?.limits ?? []
        return limits.allSatisfy { $0.failure(of: number, type: table.columns[column].type) == nil }
    }

    /// Makes an object a member of a relation that is the other side of a pointer, or no member.
    ///
    /// - Parameter place: The number that an object gets which has none to be ordered by.
    private func write(
        _ member: KeyValue, _ reference: Reference, _ owner: KeyValue, isAdding: Bool, place: inout Int64?
    ) throws {
        let source = transaction.schema.tables[reference.source]
        let indexes = source.columnIndexes(of: reference.property)
        guard let row = try records.row(source, member) else {
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
            try records.update(source, member, changes.merging(others) { $1 })
            return member
        }
        transaction.noteOwner(target, of: reference)
        transaction.noteOwner(owner.values, of: reference)
    }
}
