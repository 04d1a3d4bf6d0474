import Foundation
import RelataCore
import RelataSQLite

/// Writes one object in a transaction.
struct RecordSaver {
    let transaction: RecordWriteTransaction
    private let record: Record
    /// Whether an object of the same key is updated.
    private let mayExist: Bool

    init(_ record: Record, in transaction: RecordWriteTransaction, mayExist: Bool) {
        self.record = record
        self.transaction = transaction
        self.mayExist = mayExist
    }

    private var schema: Schema { transaction.schema }
    var writer: RecordWriter { RecordWriter(transaction.connection, schema: schema) }

    /// - Returns: The object as it is stored.
    func save() throws -> Record {
        try Task.checkCancellation()
        // Classes of linked objects come first: fields lead to them.
        let edits = try stored(record.edits)
        let layout = try ClassDemand(record.className, edits).met(in: transaction)
        let saved = if let key = record.key { try update(key, edits, layout) } else { try insert(edits, layout) }
        return Record(layout, row: saved.row, loaded: try loaded(edits, saved.touched))
    }

    /// A row that was written, and the rows that edits of its lists have changed, by table.
    typealias Saved = (row: [Value], touched: [Int: Set<KeyValue>])

    /// The fields that were set, with linked objects that weren't stored before as they are now.
    private func stored(_ edits: [String: RecordValue]) throws -> [String: RecordValue] {
        var result = edits
        // In an order that is always the same: new objects get their keys in it.
        for (name, value) in edits.sorted(by: { $0.key < $1.key }) {
            switch value {
            case .link(let link): result[name] = .link(try stored(link))
            case .links(let links): result[name] = .links(try links.map { try stored($0) })
            default: break
            }
        }
        return result
    }

    private func stored(_ link: RecordLink) throws -> RecordLink {
        guard let record = link.record else { return link }
        if let reference = record.reference {
            guard let field = record.edits.keys.min() else { return link }
            throw RelataError.invalidUse(
                "\(field) of \(reference) was set, which a link doesn't write: save that object too, or link to it by its key"
            )
        }
        return RecordLink(try RecordSaver(record, in: transaction, mayExist: mayExist).save())
    }

    /// What is known of relationships once the object is saved: what was loaded before, and what was set.
    private func loaded(
        _ edits: [String: RecordValue], _ touched: [Int: Set<KeyValue>]
    ) throws -> [String: LoadedRecords] {
        var loaded = record.loaded
        for (name, value) in edits {
            switch value {
            case .link(let link): loaded[name] = try link.record.map { .one(try current($0, touched)) }
            case .links(let links):
                // A list has each object once.
                var seen: Set<KeyValue> = []
                let members = links.filter { link in link.key.map { seen.insert($0).inserted } ?? true }
                    .map(\.record)
                loaded[name] =
                    members.contains(nil)
                    ? nil : .many(try members.compactMap(\.self).map { try current($0, touched) })
            default: loaded[name] = nil
            }
        }
        return loaded
    }

    /// A member as it is stored now: that it is in a list may be a change of its own row.
    private func current(_ record: Record, _ touched: [Int: Set<KeyValue>]) throws -> Record {
        guard let layout = record.layout, let key = record.key,
            touched[layout.table.index]?.contains(key) == true, let row = try writer.row(layout.table, key)
        else { return record }
        return Record(layout, row: row, loaded: record.loaded)
    }

    // MARK: Inserting

    private func insert(_ edits: [String: RecordValue], _ layout: RecordLayout) throws -> Saved {
        let table = layout.table
        let given = try columns(edits, layout)
        if mayExist, let key = try givenKey(table, given), try transaction.connection.isStored(key, in: table) {
            return try update(key, edits, layout)
        }
        var values = table.columns.map(\.defaultValue)
        for (column, value) in given { values[column] = value }
        try makeKey(table, &values)
        stamp(table.entity.createdAt, table, &values)
        stamp(table.entity.updatedAt, table, &values)
        if let revision = revision(table) { values[revision] = .integer(1) }
        try check(Set(table.columns.indices), values.map { $0 ?? .null }, table, isNew: true)
        let key = try writer.insert(table, values)
        for (column, value) in zip(table.keyColumns, key.values) { values[column] = value }
        let row = values.map { $0 ?? .null }
        transaction.noteCounts(of: key, table, from: nil, to: row)
        return try saved(row, key, edits, layout)
    }

    /// Writes the lists of an object whose row is written.
    private func saved(
        _ row: [Value], _ key: KeyValue, _ edits: [String: RecordValue], _ layout: RecordLayout
    ) throws -> Saved {
        let touched = try writeLinks(edits, of: key, layout)
        // It may be a member of its own list.
        let isTouched = touched[layout.table.index]?.contains(key) == true
        return (isTouched ? try writer.row(layout.table, key) ?? row : row, touched)
    }

    /// The key that the fields give; `nil` where a part is missing.
    private func givenKey(_ table: Table, _ given: [Int: Value]) throws -> KeyValue? {
        let parts = table.keyColumns.map { given[$0] ?? .null }
        return parts.contains(.null) ? nil : KeyValue(parts)
    }

    /// Makes the parts of a key that nobody gave, where they can be made.
    private func makeKey(_ table: Table, _ values: inout [Value?]) throws {
        if table.entity.isKeyAssigned { return }
        for column in table.keyColumns where (values[column] ?? .null).isNull {
            let place = table.columns[column]
            switch place.type {
            case .uuid where place.reference == nil: values[column] = Value.uuid(UUID()).stored(as: place.type)
            case .text where table.entity.isOfClients: values[column] = .text(transaction.objectIDs.next())
            default:
                throw RelataError.validation([
                    ValidationFailure(
                        entity: table.name, property: place.property, key: nil,
                        message: "is a part of the key, and has no value: set it before saving")
                ])
            }
        }
    }

    // MARK: Updating

    private func update(
        _ key: KeyValue, _ edits: [String: RecordValue], _ layout: RecordLayout
    ) throws -> Saved {
        let table = layout.table
        let object = ObjectReference(entity: table.name, key: key)
        guard let row = try writer.row(table, key) else {
            guard revision(table) != nil else { throw RelataError.notFound(object) }
            throw RelataError.conflict(Conflict(object: object, given: record, stored: nil))
        }
        if let revision = revision(table), let known = record.storedValue(of: table.columns[revision].property),
            known != row[revision]
        {
            throw RelataError.conflict(Conflict(object: object, given: record, stored: Record(layout, row: row)))
        }
        var changes = try columns(edits, layout)
        for column in table.keyColumns {
            guard let value = changes.removeValue(forKey: column), value != row[column] else { continue }
            throw RelataError.invalidUse(
                "\(table.columns[column].property) is a part of the key of \(object), which can't be changed: insert another object"
            )
        }
        if let revision = revision(table) { changes[revision] = nil }
        let hasLinks = edits.keys.contains { if case .related? = layout[$0] { true } else { false } }
        guard !changes.isEmpty || hasLinks else { return (row, [:]) }
        var values: [Value?] = row
        for (column, value) in changes { values[column] = value }
        stamp(table.entity.updatedAt, table, &values)
        for column in table.columns.indices where values[column] != row[column] { changes[column] = values[column] }
        try check(Set(changes.keys), values.map { $0 ?? .null }, table, isNew: false)
        if !changes.isEmpty {
            try writer.update(table, key, changes)
            if let revision = revision(table), case .integer(let number) = row[revision] {
                values[revision] = .integer(number &+ 1)
            }
        }
        let new = values.map { $0 ?? .null }
        transaction.noteCounts(of: key, table, from: row, to: new)
        return try saved(new, key, edits, layout)
    }

    // MARK: Values

    /// The values that fields have in columns.
    private func columns(_ edits: [String: RecordValue], _ layout: RecordLayout) throws -> [Int: Value] {
        let table = layout.table
        var columns: [Int: Value] = [:]
        var failures: [ValidationFailure] = []
        func fail(_ name: String, _ message: String) {
            failures.append(ValidationFailure(entity: table.name, property: name, key: record.key, message: message))
        }
        for (name, value) in edits.sorted(by: { $0.key < $1.key }) {
            switch (layout[name], value) {
            case (.column(let column, let type)?, _):
                guard let stored = value.stored(as: type, keepsIntegers: table.columns[column].keepsIntegers) else {
                    fail(name, "takes \(type.wanted), and was given \(value.kind) (\(value))")
                    continue
                }
                columns[column] = stored
            case (.link(let indexes, _)?, .null):
                for column in indexes { columns[column] = .null }
            case (.link(let indexes, let target)?, .link(let link)):
                guard link.className == target, let key = link.key else {
                    fail(name, "leads to \(target), and was given \(link)")
                    continue
                }
                for (column, part) in zip(indexes, key.values) { columns[column] = part }
            case (.link(_, let target)?, _):
                fail(name, "takes a .link to \(target), and was given \(value.kind) (\(value))")
            case (.related(.through, _, _)?, _):
                fail(name, "follows from other relationships, and can't be set: change those")
            case (.related(_, let target, isToMany: true)?, .links(let links)):
                if let stray = links.first(where: { $0.className != target }) {
                    fail(name, "leads to \(target), and was given \(stray)")
                }
            case (.related(_, let target, isToMany: false)?, .link(let link)):
                if link.className != target { fail(name, "leads to \(target), and was given \(link)") }
            case (.related?, .null), (nil, .null): continue
            case (.related(_, let target, let isToMany)?, _):
                fail(
                    name,
                    "takes \(isToMany ? ".links" : "a .link") to \(target), and was given \(value.kind) (\(value))")
            case (nil, _): continue
            }
        }
        if !failures.isEmpty { throw RelataError.validation(failures) }
        return columns
    }

    private func stamp(_ property: String?, _ table: Table, _ values: inout [Value?]) {
        for column in property.map({ table.columnIndexes(of: $0) }) ?? [] {
            values[column] = table.columns[column].type.stamp(transaction.now)
        }
    }

    private func revision(_ table: Table) -> Int? {
        table.entity.revision.flatMap { table.columnIndexes(of: $0).first }
    }

    /// Checks columns that are written: what must be set, limits, and the cases of enums.
    private func check(_ columns: Set<Int>, _ values: [Value], _ table: Table, isNew: Bool) throws {
        var failures: [ValidationFailure] = []
        for index in columns.sorted() {
            let column = table.columns[index]
            let value = values[index]
            let isAssigned = table.entity.isKeyAssigned && table.keyColumns.contains(index)
            if value.isNull, !column.isOptional, !isAssigned {
                if let number = column.reference {
                    throw RelataError.requiredReference(
                        entity: table.name, property: column.property,
                        hint:
                            "set it to a .link to an object of \(schema.tables[schema.references[number].target].name)")
                }
                failures.append(failure(column, table, "is required: set it before saving"))
            }
            guard let attribute = table.entity.attribute(column.property) else { continue }
            for limit in attribute.limits {
                if let message = limit.failure(of: value, type: column.type) {
                    failures.append(failure(column, table, message))
                }
            }
            if attribute.type == .json, case .text(let text) = value, !text.isJSON {
                failures.append(failure(column, table, "is no JSON: \(text.prefix(40))"))
            }
            if let cases = attribute.allowedValues, !cases.isEmpty, !value.isNull, !cases.contains(value) {
                let names = cases.map(\.description).joined(separator: ", ")
                failures.append(failure(column, table, "must be one of \(names), and is \(value)"))
            }
        }
        if !failures.isEmpty { throw RelataError.validation(failures) }
    }

    private func failure(_ column: Column, _ table: Table, _ message: String) -> ValidationFailure {
        ValidationFailure(entity: table.name, property: column.property, key: record.key, message: message)
    }
}

extension Record {
    /// What the column of a field held when the object was read; `nil` for a new one.
    fileprivate func storedValue(of field: String) -> Value? {
        guard case .column(let column, _)? = layout?[field] else { return nil }
        return row[column]
    }
}

extension RecordWriteTransaction {
    /// Notes the lists of an object that was written, and those that it is in by its links, or was in.
    func noteCounts(of key: KeyValue, _ table: Table, from old: [Value]?, to new: [Value]) {
        guard schema.hasCounts else { return }
        counts.noteObject(key, table)
        for reference in schema.references(of: table.index) {
            let columns = table.columnIndexes(of: reference.property)
            for row in [old, new].compactMap(\.self) {
                let owner = KeyValue(columns.map { row[$0] })
                if !owner.values.contains(.null) { counts.noteOwner(owner, of: reference, in: schema) }
            }
        }
    }
}

extension Entity {
    /// Whether it is a class as Parse's clients make them.
    package var isOfClients: Bool { key == ["objectId"] && createdAt == "createdAt" && updatedAt == "updatedAt" }
}

extension String {
    /// Whether it is JSON.
    fileprivate var isJSON: Bool {
        (try? JSONSerialization.jsonObject(with: Data(utf8), options: .fragmentsAllowed)) != nil
    }
}
