import Foundation
import RelataCore
import RelataEngine

/// The rows and links of a save's nodes.
extension RecordSave {
    // MARK: Nodes

    /// The node of a record.
    ///
    /// - Throws: ``RelataError/validation(_:)`` for values that aren't of their field's type, and for a missing part of
    ///   the key that can't be generated.
    func node(of record: Record, _ members: [String: [Member]]) throws -> Node {
        guard let layout = transaction.recordClasses[record.className] else {
            throw RelataError.invalidUse("there is no class \(record.className)")
        }
        let table = layout.table
        var failures: [ValidationFailure] = []
        var columns: [Int: Value] = [:]
        var references: [Int: Int] = [:]
        var fields = record.edits
        for (name, changes) in record.listEdits { fields[name] = .links(changes.map(\.link)) }
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            if let message = layout.refusal(of: value, for: name) {
                failures.append(
                    ValidationFailure(entity: table.name, property: name, key: record.key, message: message))
                continue
            }
            switch layout[name] {
            case .column(let column, let type)?:
                columns[column] = value.stored(as: type, keepsIntegers: table.columns[column].keepsIntegers)
            case .link(let indexes, _)?:
                var key = value.link?.key
                if case .node(let target)? = members[name]?.first, let number = table.columns[indexes[0]].reference {
                    references[number] = target
                    key = nodes[target].key
                }
                for (place, column) in indexes.enumerated() { columns[column] = key?.values[place] ?? .null }
            case .related?, nil: break
            }
        }
        if !failures.isEmpty { throw RelataError.validation(failures) }
        let key = record.key ?? key(of: table, columns)
        var node = Node(
            layout: layout, records: [record], key: key, mayBeStored: record.isStored || mayExist && key != nil,
            columns: columns, references: references, members: members, listChanges: [:])
        if key == nil { try makeKey(&node) }
        return node
    }

    /// The key in columns; `nil` for a missing part.
    private func key(of table: Table, _ columns: [Int: Value]) -> KeyValue? {
        let parts = table.keyColumns.map { columns[$0] ?? .null }
        return parts.contains(.null) ? nil : KeyValue(parts)
    }

    /// Generates the missing parts of a key, if possible.
    private func makeKey(_ node: inout Node) throws {
        let table = node.layout.table
        if table.entity.isKeyAssigned { return }
        let missing = table.keyColumns.filter { column in
            (node.columns[column] ?? .null).isNull
                && table.columns[column].reference.map { node.references[$0] == nil } ?? true
        }
        node.columns.merge(try run.connection.computedDefaults(of: missing, in: table)) { $1 }
        for column in table.keyColumns where (node.columns[column] ?? .null).isNull {
            let place = table.columns[column]
            switch place.type {
            case _ where place.reference.map { node.references[$0] != nil } == true: continue
            case .uuid where place.reference == nil: node.columns[column] = Value.uuid(UUID()).stored(as: place.type)
            case .text where table.entity.isOfClients: node.columns[column] = .text(transaction.objectIDs.next())
            default:
                throw RelataError.validation([
                    ValidationFailure(
                        entity: table.name, property: place.property, key: nil,
                        message: "is a part of the key, and has no value: set it before saving")
                ])
            }
        }
        node.key = key(of: table, node.columns)
    }

    // MARK: Planning

    /// Plans rows and links, and checks them.
    func plan() throws {
        let stored = try storedRows()
        for node in nodes { noteMembers(of: node) }
        var failures: [ValidationFailure] = []
        for number in nodes.indices {
            let node = nodes[number]
            let batch = batch(of: node.layout.table)
            let count = failures.count
            let row = try stored[number].map { try changedRow(node, $0, &failures) } ?? newRow(node, &failures)
            if nodes.count > 1 {
                for failure in failures.indices[count...] {
                    failures[failure].object =
                        node.records[0].reference.map { "\($0)" } ?? "\(batch.table.name) no. \(batch.count + 1)"
                }
            }
            nodes[number].row = batch.add(row, to: run)
        }
        if !failures.isEmpty { throw RelataError.validation(failures) }
        for node in nodes { try planLinks(of: node) }
    }

    private func batch(of table: Table) -> ValueBatch {
        if let batch = batches[table.index] { return batch }
        let batch = ValueBatch(of: table, in: run)
        batches[table.index] = batch
        return batch
    }

    /// The rows of the nodes that are stored, by node.
    ///
    /// - Throws: ``RelataError/notFound(_:)`` or ``RelataError/conflict(_:)`` for one that was read and isn't stored
    ///   any more.
    private func storedRows() throws -> [Int: [Value]] {
        var stored: [Int: [Value]] = [:]
        let candidates = nodes.indices.filter { nodes[$0].mayBeStored }
        for (_, numbers) in Dictionary(grouping: candidates, by: { nodes[$0].layout.table.index }) {
            let table = nodes[numbers[0]].layout.table
            let keys = numbers.compactMap { nodes[$0].key }
            if let key = try run.connection.firstHidden(of: keys, in: table, transaction.compiler) {
                throw RelataError.notFound(ObjectReference(entity: table.name, key: key))
            }
            let rows = try run.connection.rows(keys, of: table, transaction.compiler)
            for (number, row) in zip(numbers, rows) { stored[number] = row }
        }
        for number in candidates where stored[number] == nil {
            guard let record = nodes[number].records.first(where: \.isStored), let object = record.reference else {
                continue
            }
            guard revision(nodes[number].layout.table) != nil else { throw RelataError.notFound(object) }
            throw RelataError.conflict(Conflict(object: object, given: record, stored: nil))
        }
        return stored
    }

    /// Records the references that the new members of a node's lists get from it.
    private func noteMembers(of node: Node) {
        for name in node.lists {
            guard case .related(.inverse(let reference), _, _)? = node.layout[name] else { continue }
            let members = (node.members[name] ?? []) + (node.listChanges[name] ?? []).map(\.member)
            for case .node(let member) in members { nodes[member].given.insert(reference) }
        }
    }

    private func newRow(_ node: Node, _ failures: inout [ValidationFailure]) throws -> ValueBatch.Row {
        let table = node.layout.table
        var values = table.columns.map { $0.defaultValue ?? .null }
        let missing = table.columns.indices.filter { column in
            node.columns[column] == nil
                && table.columns[column].reference.map { node.references[$0] == nil && !node.given.contains($0) }
                    ?? true
        }
        for (column, value) in try run.connection.computedDefaults(of: missing, in: table) { values[column] = value }
        for (column, value) in node.columns { values[column] = value }
        stamp(table.entity.createdAt, table, &values)
        stamp(table.entity.updatedAt, table, &values)
        if let revision = revision(table) { values[revision] = .integer(1) }
        try check(Array(table.columns.indices), values, node, &failures)
        return ValueBatch.Row(key: node.key, values: values)
    }

    private func changedRow(
        _ node: Node, _ row: [Value], _ failures: inout [ValidationFailure]
    ) throws -> ValueBatch.Row {
        let table = node.layout.table
        let key = node.key ?? KeyValue(table.keyColumns.map { row[$0] })
        let object = ObjectReference(entity: table.name, key: key)
        var changes = node.columns
        if let revision = revision(table) {
            changes[revision] = nil
            for record in node.records {
                guard let known = record.storedValue(of: table.columns[revision].property), known != row[revision]
                else { continue }
                throw RelataError.conflict(
                    Conflict(object: object, given: record, stored: Record(node.layout, row: row)))
            }
        }
        for column in table.keyColumns {
            guard let value = changes.removeValue(forKey: column), value != row[column] else { continue }
            throw RelataError.invalidUse(
                "\(table.columns[column].property) is a part of the key of \(object), which can't be changed: insert another object"
            )
        }
        guard !changes.isEmpty || !node.lists.isEmpty else { return ValueBatch.Row(key: key, values: row, columns: []) }
        var values = row
        for (column, value) in changes { values[column] = value }
        stamp(table.entity.updatedAt, table, &values)
        // Another object of the batch may take a unique value that this one has, and keeps.
        let kept = nodes.count > 1 ? Set(run.schema.uniqueSets[table.index].flatMap(\.columns)) : []
        let columns = table.columns.indices.filter { column in
            values[column] != row[column] || changes[column] != nil && kept.contains(column)
                || table.columns[column].reference.map { node.references[$0] != nil } == true
        }
        try check(Set(columns).union(changes.keys).sorted(), values, node, &failures)
        return ValueBatch.Row(key: key, values: values, columns: columns)
    }

    /// Plans which rows a node's row needs, and the edits on its lists.
    private func planLinks(of node: Node) throws {
        for case .link(let columns, let target)? in node.layout.names.map({ node.layout[$0] }) {
            guard let number = node.layout.table.columns[columns[0]].reference else { continue }
            let key = KeyValue(columns.map { node.columns[$0] ?? .null })
            // An object that was linked by its key may be saved as well.
            let other = node.references[number] ?? nodesOfObjects[ObjectReference(entity: target, key: key)]
            if let other { refer(from: node.row, to: other, by: number) }
        }
        for name in node.lists {
            guard case .related(let link, let target, _)? = node.layout[name],
                let table = transaction.schema.index(of: target)
            else { continue }
            func key(_ member: Member) -> PlannedKey? {
                switch member {
                case .stored(let link): return link.key.map { .key($0) }
                case .node(let number):
                    let row = run.plan.rows[nodes[number].row].row
                    let isStored = batches[table]?.rows[row].columns != nil
                    return isStored ? nodes[number].key.map { .key($0) } : .row(nodes[number].row)
                }
            }
            var changes = node.members[name].map { [LinkChange.set($0.compactMap(key))] } ?? []
            changes += (node.listChanges[name] ?? []).compactMap { change in
                key(change.member).map { change.isAdded ? .add($0) : .remove($0) }
            }
            if case .inverse(let reference) = link {
                for case .row(let member) in changes.flatMap(\.added) { own(member, node, by: reference) }
            }
            run.plan.add(
                LinkEdits(
                    owner: .row(node.row), link: PlannedLink(name, table, link, transaction.schema), changes: changes))
        }
    }

    /// Makes a row's reference refer to a node.
    private func refer(from row: Int, to target: Int, by reference: Int) {
        let (source, isKeyKnown) = (run.plan.rows[row], nodes[target].key != nil)
        if !isKeyKnown {
            batches[transaction.schema.references[reference].source]?.rows[source.row].references.append(
                (reference, .row(nodes[target].row)))
        }
        run.plan.addReference(
            reference, from: row, to: nodes[target].row,
            isBreakable: isKeyKnown || transaction.schema.references[reference].isOptional)
    }

    /// Gives a new member of a list its owner when it is inserted.
    private func own(_ member: Int, _ owner: Node, by reference: Int) {
        guard let batch = batches[transaction.schema.references[reference].source] else { return }
        let row = run.plan.rows[member].row
        batch.rows[row].references.append((reference, .row(owner.row)))
        batch.rows[row].standIn = transaction.schema.uniquePlaces[reference]
        run.plan.touch(member)
        run.plan.addReference(
            reference, from: member, to: owner.row,
            isBreakable: owner.key != nil || transaction.schema.references[reference].isOptional)
    }

    // MARK: Values

    private func stamp(_ property: String?, _ table: Table, _ values: inout [Value]) {
        for column in property.map({ table.columnIndexes(of: $0) }) ?? [] {
            values[column] = table.columns[column].type.stamp(transaction.now)
        }
    }

    private func revision(_ table: Table) -> Int? {
        table.entity.revision.flatMap { table.columnIndexes(of: $0).first }
    }

    /// Checks written columns: required values, limits, and the cases of enums.
    private func check(
        _ columns: [Int], _ values: [Value], _ node: Node, _ failures: inout [ValidationFailure]
    ) throws {
        let table = node.layout.table
        for index in columns {
            let (column, value) = (table.columns[index], values[index])
            func fail(_ message: String) {
                failures.append(
                    ValidationFailure(
                        entity: table.name, property: column.property, key: node.records[0].key, message: message))
            }
            let isAssigned = table.entity.isKeyAssigned && table.keyColumns.contains(index)
            if value.isNull, !column.isOptional, !isAssigned {
                if let number = column.reference {
                    // Another row gives it its key.
                    if node.references[number] != nil || node.given.contains(number) { continue }
                    throw RelataError.requiredReference(
                        entity: table.name, property: column.property,
                        hint:
                            "set it to a .link to an object of \(run.schema.tables[run.schema.references[number].target].name)"
                    )
                }
                fail("is required: set it before saving")
            }
            table.checkLimits(of: value, column, key: node.records[0].key, into: &failures)
            guard let attribute = table.entity.attribute(column.property) else { continue }
            if attribute.type == .json, case .text(let text) = value, !text.isJSON {
                fail("isn't valid JSON: \(text.prefix(40))")
            }
            if let cases = attribute.allowedValues, !cases.isEmpty, !value.isNull, !cases.contains(value) {
                fail("must be one of \(cases.map(\.description).joined(separator: ", ")), and is \(value)")
            }
        }
    }
}

extension RecordSave.Node {
    /// The names of the lists and has-ones that were set or edited.
    fileprivate var lists: [String] {
        Set(members.keys).union(listChanges.keys)
            .filter { if case .related? = layout[$0] { true } else { false } }.sorted()
    }
}

extension LinkChange {
    /// The members that it adds.
    fileprivate var added: [PlannedKey] {
        switch self {
        case .add(let key): [key]
        case .set(let keys): keys
        case .remove, .place: []
        }
    }
}

extension RecordLayout {
    /// The reason why a field can't have a value; `nil` if it can.
    fileprivate func refusal(of value: RecordValue, for name: String) -> String? {
        switch (self[name], value) {
        case (.column(let column, .real)?, .integer(let number))
        where number.isRoundedByDouble && !table.columns[column].keepsIntegers:
            let fix =
                table.entity.isOfClients
                ? "convert its column by hand as the guide to PostgreSQL says" : "make the field one of .integer"
            return "holds floating-point numbers, and \(number) would be rounded: give a .real, or \(fix)"
        case (.column(let column, let type)?, _):
            let stored = value.stored(as: type, keepsIntegers: table.columns[column].keepsIntegers)
            return stored == nil ? "takes \(type.wanted), and was given \(value.kind) (\(value))" : nil
        case (.related(.through, _, _)?, _):
            return "follows from other relationships, and can't be set: change those"
        case (nil, _), (.link?, .null), (.related?, .null): return nil
        case (.link(_, let target)?, .link(let link)), (.related(_, let target, isToMany: false)?, .link(let link)):
            return link.className == target ? nil : "leads to \(target), and was given \(link)"
        case (.related(_, let target, isToMany: true)?, .links(let links)):
            return links.first { $0.className != target }.map { "leads to \(target), and was given \($0)" }
        case (.link(_, let target)?, _), (.related(_, let target, isToMany: false)?, _):
            return "takes a .link to \(target), and was given \(value.kind) (\(value))"
        case (.related(_, let target, isToMany: true)?, _):
            return "takes .links to \(target), and was given \(value.kind) (\(value))"
        }
    }
}

extension Record {
    /// The value of a field's column when the object was read; `nil` for a new one.
    fileprivate func storedValue(of field: String) -> Value? {
        guard case .column(let column, _)? = layout?[field] else { return nil }
        return row[column]
    }
}

extension String {
    /// Whether it is JSON.
    fileprivate var isJSON: Bool {
        (try? JSONSerialization.jsonObject(with: Data(utf8), options: .fragmentsAllowed)) != nil
    }
}
