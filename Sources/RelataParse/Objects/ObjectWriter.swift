import Foundation
import Relata
import RelataCore
import RelataEngine

/// Writes one object in a transaction.
struct ObjectWriter {
    let transaction: ParseTransaction
    let parseClass: ParseClass
    /// New values by column; `nil` for unchanged ones.
    private(set) var columns: [Value?] = []
    /// The JSON of columns with changed parts, by column: read and written once, for any number of changes.
    private var documents: [Int: (field: Field, value: JSONValue)] = [:]
    /// Values that the server computed, for the reply.
    private(set) var told: JSONObject = [:]
    /// Computed fields that only the store knows.
    private(set) var untold: Set<String> = []
    /// Links that are written once the object exists.
    private(set) var links: [(field: Field, change: FieldChange)] = []
    /// The columns that the object's app has changed.
    private(set) var changedByApp: Set<Int> = []
    /// The times to write, if they aren't those of the transaction.
    var times = ChosenTimes()
    /// The row as it is; `nil` for a new object.
    private(set) var row: [Value]?

    init(_ transaction: ParseTransaction, _ parseClass: ParseClass) {
        self.transaction = transaction
        self.parseClass = parseClass
    }

    var table: Table { parseClass.table }
    /// Whether the object is new.
    var isNew: Bool { row == nil }

    // MARK: Creating

    /// Inserts an object.
    ///
    /// - Parameters:
    ///   - fields: The fields of `body`, as ``apply(_:to:)`` takes them.
    ///   - hidden: Values that no request names, by column.
    /// - Returns: Its key.
    mutating func create(
        _ body: ObjectBody, of fields: [Field?], key: KeyValue?, hidden: [Int: Value] = [:]
    ) throws -> KeyValue {
        try readNew(body, of: fields, key: key)
        for (column, value) in hidden { columns[column] = value }
        let isModel = transaction.models != nil
        let pending = isModel ? PendingObject(parseClass, key: key, values: columns.map { $0 ?? .null }) : nil
        return try transaction.save(pending) { changes in
            take(changes)
            return try write(newRow(key: key))
        }
    }

    /// The row of a new object.
    func newRow(key: KeyValue?) -> ValueBatch.Row {
        let isKnown = key.map { !$0.values.contains(.null) } ?? false
        return ValueBatch.Row(key: isKnown ? key : nil, values: columns.map { $0 ?? .null })
    }

    /// Writes the row and the relations.
    private func write(_ row: ValueBatch.Row) throws -> KeyValue {
        let key = try transaction.write([row], of: table, insertion: parseClass.insertion) { plan, rows in
            try planLinks(of: .row(rows[0]), &plan)
            try planFiles(of: .row(rows[0]), &plan)
        }[0]
        try writeMembers(of: key)
        return key
    }

    /// Adds the changes of the app.
    private mutating func take(_ changes: [Int: Value]) {
        for (column, value) in changes { columns[column] = value }
        changedByApp.formUnion(changes.keys)
    }

    /// Reads a new object into ``columns``.
    mutating func readNew(_ body: ObjectBody, of fields: [Field?], key: KeyValue?) throws {
        if columns.isEmpty {
            columns = parseClass.newRow
        } else {
            // The array of the object before it is used again.
            for (column, value) in parseClass.newRow.enumerated() { columns[column] = value }
        }
        let given = parseClass.fieldsWithDefaults.isEmpty ? [] : Set(body.fields.names)
        for field in parseClass.fieldsWithDefaults where !given.contains(field.name) {
            if let value = field.defaultValue {
                try apply(.set(value), to: field)
                told[field.name] = value
            } else {
                untold.insert(field.name)
                for (column, value) in try transaction.connection.computedDefaults(of: field.columns, in: table) {
                    columns[column] = value
                }
            }
        }
        try apply(body, to: fields)
        if let access = body.access { try apply(access) }
        try chooseTimes(body)
        stamp(parseClass.createdAt, times.createdAt)
        stamp(parseClass.updatedAt, times.updatedAt ?? times.createdAt)
        noteRevision()
        if let key { for (column, value) in zip(table.keyColumns, key.values) { columns[column] = value } }
        if let revision = parseClass.revision { columns[revision] = .integer(1) }
        try checkValues(of: parseClass.checkedFields)
    }

    // MARK: Updating

    /// Changes an existing object.
    ///
    /// - Parameter hidden: Values that no request names, by column.
    /// - Throws: ``ParseError`` 101 if it doesn't exist, or the caller may not change it.
    mutating func update(
        _ key: KeyValue, _ body: ObjectBody, of fields: [Field?], hidden: [Int: Value] = [:]
    ) throws {
        guard let row = try transaction.connection.row(key, of: table, transaction.writeCompiler) else {
            throw ParseError(.objectNotFound, "Object not found.")
        }
        self.row = row
        columns = Array(repeating: nil, count: table.columns.count)
        try apply(body, to: fields)
        if let access = body.access { try apply(access) }
        for (column, value) in hidden { columns[column] = value }
        try keepKey(row)
        try chooseTimes(body)
        if !times.keepsUpdatedAt { stamp(parseClass.updatedAt, times.updatedAt) }
        noteRevision()
        try checkValues(of: parseClass.checkedFields.filter { isWritten($0) })
        let isModel = transaction.models != nil
        let pending = isModel ? PendingObject(parseClass, key: key, row: row, changes: changes) : nil
        try transaction.save(pending) { others in
            take(others)
            let written = columns.indices.filter { columns[$0] != nil }
            // The app's code may have deleted it before.
            guard try !isModel || !written.isEmpty || transaction.connection.isStored(key, in: table) else {
                throw ParseError(.objectNotFound, "Object not found.")
            }
            return try write(ValueBatch.Row(key: key, values: columns.indices.map(current), columns: written))
        }
    }

    /// The new values by column.
    private var changes: [Int: Value] {
        var changes: [Int: Value] = [:]
        for (column, value) in columns.enumerated() { changes[column] = value }
        return changes
    }

    /// Leaves the parts of the key as they are: an object's id never changes.
    ///
    /// - Throws: ``ParseError`` 105 for a part with another value.
    private mutating func keepKey(_ row: [Value]) throws(ParseError) {
        for column in table.keyColumns {
            guard let value = columns[column] else { continue }
            columns[column] = nil
            guard value != row[column] else { continue }
            throw ParseError(
                .invalidKeyName,
                "\(table.columns[column].property) is a part of the objectId of \(parseClass.name), which can't be changed"
            )
        }
    }

    private func isWritten(_ field: Field) -> Bool {
        switch field.storage {
        case .objectID, .relation, .access: false
        case .column(let column): columns[column] != nil
        case .pointer(_, let indexes): indexes.contains { columns[$0] != nil }
        }
    }

    private mutating func stamp(_ column: Int?, _ time: Date?) {
        if let column { columns[column] = table.columns[column].type.stamp(time ?? transaction.now) }
    }

    /// Takes the times of the request, with the maintenance key.
    private mutating func chooseTimes(_ body: ObjectBody) throws(ParseError) {
        guard transaction.caller.isMaintenance else { return }
        times = try body.times?.chosen() ?? ChosenTimes()
        times.keepsUpdatedAt = !isNew && transaction.caller.keepsUpdatedAt
    }

    /// The store counts revisions.
    private mutating func noteRevision() {
        guard parseClass.revision != nil, let name = table.entity.revision, parseClass[name] != nil else { return }
        untold.insert(name)
    }

    // MARK: Fields

    /// Applies the changes of an object.
    ///
    /// - Parameter fields: The field of each of ``ObjectBody/changes``; `nil` for a field that the class doesn't have.
    private mutating func apply(_ body: ObjectBody, to fields: [Field?]) throws {
        if Task.isCancelled { throw CancellationError() }
        for (place, change) in body.changes.enumerated() {
            guard let field = fields[place] else {
                let name = body.fields.names[place]
                // In production no field is added; a change without an effect needs none.
                if change.asksForNothing { continue }
                // An invalid change is refused as one, even if no field may be added.
                try transaction.validate(change, forNew: name)
                if transaction.mode == .development, try change.type(of: name) == .geoPoint,
                    let other = parseClass.fields.first(where: { $0.type == .geoPoint })
                {
                    throw SchemaDraft.secondGeoPoint(name, beside: other.name)
                }
                throw ParseError(
                    .operationForbidden, "Permission denied for action addField on class \(parseClass.name): \(name)")
            }
            try apply(change, to: field)
        }
        if !documents.isEmpty { try writeDocuments() }
        for name in body.changedByHook { changedByApp.formUnion(parseClass[name]?.columns ?? []) }
    }

    /// Changes the object's access list.
    ///
    /// - Throws: ``ParseError`` 119 if the class can't have lists.
    private mutating func apply(_ access: AccessChange) throws {
        guard let column = parseClass.accessColumn else {
            if access == .open { return }
            throw ParseError.accessIsOff
        }
        switch access {
        case .open: columns[column] = .null
        case .list(let list): columns[column] = try transaction.stored(list)
        }
    }

    private mutating func writeDocuments() throws {
        for (column, (field, value)) in documents.sorted(by: { $0.key < $1.key }) {
            // Within an object it is one level deeper, and must be read again.
            guard !value.isDeeper(than: JSONParser.maximumDepth - 1) else {
                throw ParseError(
                    .invalidJSON, "\(field.name): nested deeper than \(JSONParser.maximumDepth - 1) levels")
            }
            let decoder = FieldDecoder(parseClass: parseClass, field: field)
            columns[column] = value.isNull ? .null : try decoder.value(value)
            told[field.name] = value
        }
        documents = [:]
    }

    private mutating func apply(_ change: FieldChange, to field: Field) throws {
        if case .set(let value) = change, let (column, stored) = field.plainValue(value) {
            return set(field, column, stored)
        }
        if let type = try change.type(of: field.name), !field.accepts(type), !field.holds(change) {
            throw SchemaDraft.mismatch(parseClass.name, field.name, field.type, type)
        }
        switch field.storage {
        case .objectID: throw ParseError(.invalidKeyName, "objectId is an invalid field name.")
        case .column(let column): try apply(change, to: field, column)
        case .pointer(_, let indexes): try point(field, indexes, change)
        case .relation: try relate(field, change)
        // No change needs it: it is read separately.
        case .access: break
        }
    }

    private mutating func point(_ field: Field, _ indexes: [Int], _ change: FieldChange) throws {
        switch change {
        case .unset: for column in indexes { columns[column] = .null }
        case .set(let value):
            guard let pointer = Pointer(value) else {
                throw ParseError(.incorrectType, "\(parseClass.name).\(field.name): the pointer has no objectId")
            }
            let key = try FieldDecoder(parseClass: parseClass, field: field).key(pointer, in: transaction)
            for (column, value) in zip(indexes, key.values) { columns[column] = value }
        default: throw unfit(change, field)
        }
    }

    private mutating func relate(_ field: Field, _ change: FieldChange) throws {
        switch change {
        // A new object's relation holds nothing yet.
        case .unset where row == nil && links.isEmpty: break
        case .addRelation, .removeRelation, .placeRelation, .unset: links.append((field, change))
        // Clients send a relation back as they got it.
        case .set(let value) where value["__type"] == "Relation": break
        default: throw unfit(change, field)
        }
    }

    private func unfit(_ change: FieldChange, _ field: Field) -> ParseError {
        ParseError(
            .incorrectType,
            "\(parseClass.name).\(field.name) is of type \(field.type), for which there is no such operation")
    }

    private mutating func apply(_ change: FieldChange, to field: Field, _ column: Int) throws {
        let decoder = FieldDecoder(parseClass: parseClass, field: field)
        switch change {
        case .set(let value): set(field, column, try decoder.value(value))
        case .unset: set(field, column, .null)
        case .increment(let amount):
            if table.columns[column].type == .decimal {
                let sum = try addedExactly(amount, to: current(column), field)
                columns[column] = sum.stored
                told[field.name] = sum.told
            } else {
                let sum = try added(amount, to: current(column), table.columns[column], decoder)
                columns[column] = try decoder.value(sum)
                told[field.name] = sum
            }
        case .add, .addUnique, .remove, .member:
            // Each may be work on a large value, while no other request can write.
            if Task.isCancelled { throw CancellationError() }
            var value = try documents.removeValue(forKey: column)?.value ?? json(current(column), of: field)
            // A number may be the name of a member as well: the field's type decides.
            if value.isNull, field.type == .array { value = .array([]) }
            try change.apply(to: &value, of: field.name)
            documents[column] = (field, value)
        case .addRelation, .removeRelation, .placeRelation: throw unfit(change, field)
        }
    }

    /// Earlier changes are overwritten, and the client knows the new value.
    private mutating func set(_ field: Field, _ column: Int, _ value: Value) {
        if !documents.isEmpty { documents[column] = nil }
        if !told.isEmpty { told[field.name] = nil }
        columns[column] = value
    }

    /// A column's value after the changes so far.
    func current(_ column: Int) -> Value { columns[column] ?? row?[column] ?? .null }

    /// - Throws: ``ParseError`` 1 for a column in which another program stored invalid JSON.
    private func json(_ value: Value, of field: Field) throws(ParseError) -> JSONValue {
        guard case .text(let text) = value else { return .null }
        do throws(ParseError) {
            return try JSONParser.parse(text)
        } catch {
            throw ParseError(
                .internalServerError,
                "\(parseClass.name).\(field.name) contains text that isn't JSON: set it to another value, or unset it")
        }
    }

    /// The sum of decimals, and the value for the reply, as clients know binary numbers only.
    private func addedExactly(
        _ amount: JSONValue, to value: Value, _ field: Field
    ) throws(ParseError) -> (stored: Value, told: JSONValue) {
        let amount = amount.integer.map { "\($0)" } ?? amount.number.map { "\($0)" }
        guard let old = value.isNull ? 0 : DecimalText.parse(value.description),
            let amount = amount.flatMap({ DecimalText.parse($0) }), case let sum = old + amount,
            // A sum with too many digits is rounded.
            !sum.isNaN, sum - amount == old, sum - old == amount,
            let stored = Value.text(sum.description).stored(as: .decimal),
            let told = try? JSONParser.parse(sum.description)
        else { throw ParseError(.incorrectType, "\(field.name): the sum doesn't fit a decimal") }
        return (stored, told)
    }

    private func added(
        _ amount: JSONValue, to value: Value, _ column: Column, _ decoder: FieldDecoder
    ) throws(ParseError) -> JSONValue {
        let (field, type) = (decoder.field, column.type)
        // A large number with a fraction would be rounded silently.
        guard type != .integer || amount.integer != nil else {
            throw ParseError(
                .incorrectType, "\(parseClass.name).\(field.name): a whole number is incremented by whole numbers only")
        }
        let old: JSONValue? =
            switch value {
            case .null: 0
            case .integer(let number): .integer(number)
            case .real(let number): JSONValue(finite: number)
            case .text(let text): Double(text).map { JSONValue(finite: $0) }
            case .blob, .uuid: nil
            }
        guard let sum = old?.adding(amount), !sum.isNull else {
            throw ParseError(.incorrectType, "\(field.name): the sum isn't a finite number")
        }
        guard type != .integer || sum.integer != nil else {
            throw ParseError(.incorrectType, "\(field.name): the sum doesn't fit 64 bits")
        }
        // The reply has the stored value.
        if column.storage == .real, let number = try decoder.checked(sum).number { return JSONValue(number: number) }
        return sum
    }
}
