import Foundation
import RelataCore
import RelataEngine

/// Writes the rows of one table into the database.
final class ImportWriter {
    let table: MovedTable
    private let connection: Connection
    private let schema: Schema
    private let conflict: ImportOptions.Conflict
    /// The counts of inserted, updated and skipped rows.
    var part: ImportReport.Part
    /// The last statement that updated a row, and which fields it sets.
    private var update: (given: [Bool], sql: String)?
    private let isStored: String
    private var ends: ListEnds

    init(_ table: MovedTable, _ transaction: RecordWriteTransaction, _ conflict: ImportOptions.Conflict) {
        self.table = table
        connection = transaction.connection
        schema = transaction.schema
        self.conflict = conflict
        part = ImportReport.Part(name: table.name)
        ends = ListEnds(of: table)
        isStored = "SELECT 1 FROM " + Self.matching(table, from: 1, connection.dialect)
    }

    /// The result for a row.
    private enum Fate { case inserted, updated, skipped }

    /// Writes rows.
    ///
    /// - Parameter refuse: Called with each row that the database refuses.
    /// - Returns: The rows that became objects or links, or were updated, with their keys.
    func write(
        _ rows: [ImportedRow], now: Date, _ refuse: (ImportedRow, RowProblem) throws -> Void
    ) throws -> [ImportedRow] {
        var rows = rows
        try ends.place(&rows, on: connection)
        // All at once, or one by one if one of them is refused.
        if conflict == .refuse, rows.count > 1, rows.allSatisfy({ !$0.isKeyAssigned }) {
            let problem = try attempt(rows[0]) { try table.copied.insert(rows.map(\.values), on: connection) }
            if problem == nil {
                record(.insert, rows)
                return rows
            }
        }
        let now = entityTable?.stampValue(now) ?? .null
        var written: [ImportedRow] = []
        for var row in rows {
            var fate = Fate.inserted
            let problem = try attempt(row) { fate = try write(&row, now) }
            if let problem {
                try refuse(row, problem)
                continue
            }
            switch fate {
            case .inserted: record(.insert, [row])
            case .updated: record(.update, [row])
            case .skipped:
                part.skipped += 1
                continue
            }
            written.append(row)
        }
        return written
    }

    private func write(_ row: inout ImportedRow, _ now: Value) throws -> Fate {
        if row.isKeyAssigned {
            let given = table.fields.indices.filter { !table.fields[$0].isKey }
            var sql = table.copied.insertion(of: given, connection.dialect)
            if case .entity(let number) = table.owner {
                sql += connection.dialect.tellingKey(of: schema.tables[number])
            }
            try connection.execute(SQLStatement(sql, given.map { .value(row.values[$0]) }))
            for place in table.copied.key { row.values[place] = .integer(connection.lastInsertedRowID) }
            return .inserted
        }
        let key = table.key(row.values)
        if conflict != .refuse,
            try connection.value(SQLStatement(isStored, key.values.map(Parameter.value))) != nil
        {
            guard conflict == .update else { return .skipped }
            return try update(row, key, now) ? .updated : .skipped
        }
        try table.copied.insert([row.values], on: connection)
        return .inserted
    }

    // MARK: Updating

    /// Writes the fields in the file; returns whether there are any.
    private func update(_ row: ImportedRow, _ key: KeyValue, _ now: Value) throws -> Bool {
        let given = table.fields.indices.filter { row.isGiven[$0] && !table.fields[$0].isKey }
        if given.isEmpty { return false }
        if update?.given != row.isGiven { update = (row.isGiven, updateSQL(given)) }
        guard let update else { return false }
        var values = given.map { row.values[$0] } + key.values
        if setsUpdateStamp(given) { values.append(now) }
        try connection.execute(SQLStatement(update.sql, values.map(Parameter.value)))
        return true
    }

    private func updateSQL(_ given: [Int]) -> String {
        let dialect = connection.dialect
        var assignments = given.enumerated().map { number, place in
            let column = table.copied.columns[place]
            return "\(dialect.quote(column.name)) = \(dialect.parameter(number + 1, as: column.boundType))"
        }
        // Other values of a change come from the store, as in any save.
        if let revision = column(of: entity?.revision, unless: given) {
            let name = dialect.quote(table.copied.columns[revision].name)
            assignments.append("\(name) = \(name) + 1")
        }
        if setsUpdateStamp(given), let stamp = column(of: entity?.updatedAt, unless: given) {
            let column = table.copied.columns[stamp]
            let number = given.count + table.copied.key.count + 1
            assignments.append("\(dialect.quote(column.name)) = \(dialect.parameter(number, as: column.boundType))")
        }
        let condition = table.condition(table.copied.key, from: given.count + 1, dialect)
        return
            "UPDATE \(dialect.quote(table.copied.table)) SET \(assignments.joined(separator: ", ")) WHERE \(condition)"
    }

    private var entityTable: Table? {
        if case .entity(let number) = table.owner { schema.tables[number] } else { nil }
    }

    private var entity: Entity? { entityTable?.entity }

    private func setsUpdateStamp(_ given: [Int]) -> Bool { column(of: entity?.updatedAt, unless: given) != nil }

    private func column(of property: String?, unless given: [Int]) -> Int? {
        guard let property, let place = table.copied.columns.firstIndex(where: { $0.property == property }) else {
            return nil
        }
        return given.contains(place) ? nil : place
    }

    // MARK: Deleting

    /// Takes a row back that was inserted.
    func takeBack(_ key: KeyValue) throws {
        let sql = "DELETE FROM " + Self.matching(table, from: 1, connection.dialect)
        guard try connection.run(SQLStatement(sql, key.values.map(Parameter.value))) > 0 else { return }
        part.inserted -= 1
        tell(.delete, [key])
    }

    private static func matching(_ table: MovedTable, from first: Int, _ dialect: Dialect) -> String {
        "\(dialect.quote(table.copied.table)) WHERE \(table.condition(table.copied.key, from: first, dialect))"
    }

    // MARK: Telling

    private func record(_ kind: Change.Kind, _ rows: [ImportedRow]) {
        if kind == .insert { part.inserted += rows.count } else { part.updated += rows.count }
        if connection.recorder != nil { tell(kind, rows.map { table.key($0.values) }) }
    }

    /// Reports to observers, feeds and the change log.
    private func tell(_ kind: Change.Kind, _ keys: [KeyValue]) {
        switch table.owner {
        case .entity(let number): connection.recorder?.record(kind, number, KeyList(keys))
        case .join(let number):
            let join = schema.joins[number]
            let width = join.sourceColumns.count
            connection.recorder?.recordLink(
                join, sources: KeyList(keys.map { KeyValue(Array($0.values[..<width])) }),
                targets: KeyList(keys.map { KeyValue(Array($0.values[width...])) }))
        }
    }

    // MARK: Errors

    /// Runs `body`, and returns the reason if the database refuses it; its changes are then undone. No query could tell
    /// that before: the table may have constraints and triggers of other programs.
    private func attempt(_ row: ImportedRow, _ body: () throws -> Void) throws -> RowProblem? {
        do {
            try connection.savepoint(body)
            return nil
        } catch let error as RelataError where error.isAboutValues && connection.isInTransaction {
            return try explained(error, row)
        }
    }

    private func explained(_ error: RelataError, _ row: ImportedRow) throws -> RowProblem {
        guard case .entity(let number) = table.owner else { return explainedLink(error) }
        let entity = schema.tables[number]
        let object = ObjectReference(entity: entity.name, key: table.key(row.values))
        let values = Dictionary(zip(table.copied.columns.map(\.name), row.values)) { first, _ in first }
        let translated = try ConstraintErrors(connection, schema: schema).translate(
            error, object: object, table: entity, isInsert: true
        ) { entity.columns.map { values[$0.name] ?? .null } }
        switch translated as? RelataError {
        case .alreadyExists(let object)?: return RowProblem("\(object) already exists")
        case .uniqueViolation(_, let properties)?:
            return RowProblem(
                "another \(entity.name) has the same \(properties.joined(separator: ", "))", field: properties.first)
        case .invalidReference(_, let property, let key)?:
            let target = entity.entity.relationship(property)?.target ?? "an object"
            return RowProblem(
                "leads to \(target)\(key.map { " \($0)" } ?? ""), which doesn't exist", field: property)
        case .requiredReference(_, let property, _)?: return RowProblem("must have a value", field: property)
        case let error?: return RowProblem(error.description)
        case nil: return RowProblem("\(translated)")
        }
    }

    private func explainedLink(_ error: RelataError) -> RowProblem {
        guard case .database(let code, _, _) = error else { return RowProblem(error.description) }
        return switch code {
        case ConstraintCode.primaryKey, ConstraintCode.unique, ConstraintCode.rowID:
            RowProblem("the link already exists")
        case ConstraintCode.foreignKey: RowProblem("links an object that doesn't exist")
        default: RowProblem(error.description)
        }
    }
}
