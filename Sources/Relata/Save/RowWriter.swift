import Foundation
import GRDBSQLite

/// Writes rows of one model.
struct RowWriter<M: Model> {
    let table: Table
    let connection: Connection
    let session: SaveSession
    typealias Overrides = [(reference: Int, key: KeyValue?)]

    /// Inserts a row and returns its rowid.
    func insert(_ object: M, _ overrides: Overrides) throws -> Int64 {
        let rowID = try retryingAfterSteal(object, overrides, isInsert: true) {
            try connection.withStatement(slot: RowSQL.Slot.insert.number(table), { RowSQL.insert(table) }) {
                statement in
                try bind(object, overrides, to: statement, isInsert: true)
                try step(statement)
                return connection.lastInsertedRowID
            }
        }
        try note(.insert, object, overrides, rowID: rowID)
        return rowID
    }

    /// Inserts rows with one statement.
    func insertAll(_ objects: [M]) throws {
        try connection.withStatement(slot: RowSQL.Slot.insert.number(table), { RowSQL.insert(table) }) { statement in
            var loop = WriteLoop(objects, statement)
            do {
                try M.write(&loop)
                if loop.next < objects.count { throw connection.error(loop.code, sql: RowSQL.insert(table)) }
            } catch {
                sqlite3_reset(statement)
                if error is CancellationError { throw error }
                let object = objects[loop.next]
                // The error of a value that no column holds names object and property.
                _ = try object.columnValues(table)
                throw try ConstraintErrors(session: session).translate(
                    error, object: object.reference(), table: table, isInsert: true,
                    values: { try object.columnValues(table) })
            }
        }
        try noteInserted(objects)
    }

    /// Runs an upsert that returns the key of the row.
    func returningKey(_ object: M, _ overrides: Overrides, _ sql: String) throws -> M.Key {
        let (key, isInserted) = try upserting(object, overrides, isInsert: true) {
            try connection.withStatement(sql) { statement in
                try bind(object, overrides, to: statement, isInsert: true)
                try step(statement)
                var reader = RowReader(statement)
                let key = try M.readKey(from: &reader)
                // A statement that returns rows has written all of them only at its end.
                try step(statement)
                return key
            }
        }
        connection.recorder?.record(
            isInserted ? .insert : .update, table.index, try M.keyValue(key),
            properties: isInserted ? [] : table.properties(of: RowSQL.written(table)))
        return key
    }

    /// Inserts a row unless one with its key is there; whether it did.
    func insertIfAbsent(_ object: M, _ overrides: Overrides) throws -> Bool {
        let isInserted = try retryingAfterSteal(object, overrides) {
            try connection.withStatement(
                slot: RowSQL.Slot.insertIfAbsent.number(table), { RowSQL.insertIfAbsent(table) }
            ) { statement in
                try bind(object, overrides, to: statement, isInsert: true)
                try step(statement)
                return connection.changes > 0
            }
        }
        if isInserted { try note(.insert, object, overrides) }
        return isInserted
    }

    /// Inserts or updates a row; whether it was inserted, where a stamp depends on it.
    func save(_ object: M, _ overrides: Overrides) throws -> Bool {
        let isNew = try table.entity.createdAt != nil && !exists(object)
        let ((), isInserted) = try upserting(object, overrides) {
            try connection.withStatement(
                slot: RowSQL.Slot.save.number(table), { RowSQL.save(table, session.catalog.schema) }
            ) { statement in
                try bind(object, overrides, to: statement, isInsert: true)
                try step(statement)
            }
        }
        try note(isInserted ? .insert : .update, object, overrides)
        return isNew
    }

    /// Updates a row that must be there, and unchanged if it has a revision.
    func update(_ object: M, columns: [Int]?, _ overrides: Overrides) throws {
        var columns = columns
        if columns != nil {
            columns? += overrides.flatMap { columnIndexes(of: $0.reference) }
            columns? += [table.entity.revision, table.entity.updatedAt].compactMap { $0 }
                .flatMap { table.columnIndexes(of: $0) }
            columns = columns.map { Set($0).sorted() }
        }
        try retryingAfterSteal(object, overrides) {
            if let columns {
                try connection.withStatement(RowSQL.update(table, session.catalog.schema, columns: columns)) {
                    try update(object, overrides, $0, columns)
                }
            } else {
                try connection.withStatement(
                    slot: RowSQL.Slot.update.number(table),
                    { RowSQL.update(table, session.catalog.schema, columns: RowSQL.written(table)) }
                ) { try update(object, overrides, $0, nil) }
            }
        }
        try note(.update, object, overrides, columns: columns)
    }

    private func update(_ object: M, _ overrides: Overrides, _ statement: OpaquePointer, _ columns: [Int]?) throws {
        // Parameters of columns that aren't written stay bound from the last run otherwise: harmless, but they would
        // keep large values alive.
        try bind(object, overrides, to: statement, isInsert: false, isPartial: columns != nil)
        try step(statement)
        if connection.changes == 0 { throw try missing(object) }
    }

    private func exists(_ object: M) throws -> Bool {
        guard let key = object.primaryKey else { return false }
        return try connection.withStatement(slot: RowSQL.Slot.exists.number(table), { RowSQL.exists(table) }) {
            statement in
            var binder = Binder(statement)
            try M.bind(key, to: &binder)
            return sqlite3_step(statement) == SQLITE_ROW
        }
    }

    /// Why an update found no row: it is gone, or it has another revision.
    private func missing(_ object: M) throws -> RelataError {
        guard table.entity.revision != nil else { return .notFound(object.reference()) }
        return .conflict(
            Conflict(object: object.reference(), given: object, stored: try object.primaryKey.flatMap(stored)))
    }

    /// The object with that key as it is stored now.
    func stored(_ key: M.Key) throws -> M? {
        try connection.withStatement(slot: RowSQL.Slot.fetch.number(table), { RowSQL.fetch(table) }) { statement in
            var binder = Binder(statement)
            try M.bind(key, to: &binder)
            guard sqlite3_step(statement) == SQLITE_ROW else { return nil }
            var reader = RowReader(statement)
            return try M(from: &reader)
        }
    }

    // MARK: Binding

    private func bind(
        _ object: M, _ overrides: Overrides, to statement: OpaquePointer, isInsert: Bool, isPartial: Bool = false
    ) throws {
        if isPartial {
            // Only some parameters exist: bind by number, and pass over the others.
            let values = try object.columnValues(table)
            for (index, value) in values.enumerated() { try bind(value, to: statement, column: index) }
        } else {
            var binder = Binder(statement)
            try object.bind(to: &binder, table)
        }
        for (reference, key) in overrides {
            guard let key else { continue }
            for (column, value) in zip(columnIndexes(of: reference), key.values) {
                try bind(value, to: statement, column: column)
            }
        }
        guard table.entity.hasStamps else { return }
        if isInsert, let createdAt = table.entity.createdAt { try stamp(createdAt, statement) }
        if let updatedAt = table.entity.updatedAt { try stamp(updatedAt, statement) }
        if let name = table.entity.revision, let column = table.columnIndexes(of: name).first {
            let revision = revision(of: object)
            try bind(.integer(revision &+ 1), to: statement, column: column)
            if !isInsert { try bind(.integer(revision), to: statement, column: table.columns.count) }
        }
    }

    private func bind(_ value: Value, to statement: OpaquePointer, column: Int) throws(RelataError) {
        let code = value.bind(to: statement, at: Int32(column + 1))
        // A statement that doesn't write the column has no parameter of that number.
        if code != SQLITE_RANGE { try connection.check(code, statement) }
    }

    private func stamp(_ property: String, _ statement: OpaquePointer) throws {
        guard let column = table.columnIndexes(of: property).first else { return }
        try bind(table.columns[column].type.stamp(session.now), to: statement, column: column)
    }

    /// The revision that a value was read with; 0 for one that was never stored.
    func revision(of object: M) -> Int64 {
        guard let name = table.entity.revision, let column = table.columnIndexes(of: name).first,
            case .integer(let revision)? = try? object.columnValues(table)[column]
        else { return 0 }
        return revision
    }

    private func columnIndexes(of reference: Int) -> [Int] {
        table.columns.indices.filter { table.columns[$0].reference == reference }
    }

    // MARK: Running

    private func step(_ statement: OpaquePointer) throws {
        let code = sqlite3_step(statement)
        guard code == SQLITE_DONE || code == SQLITE_ROW else {
            // Only a reset makes the message and the connection usable again.
            let error = connection.error(code, sql: sqlite3_sql(statement).map { String(cString: $0) })
            sqlite3_reset(statement)
            throw error
        }
    }

    /// Runs a write; where it fails because another object has the partner of a one-to-one, takes the partner away from
    /// that and tries again.
    func retryingAfterSteal<Result>(
        _ object: M, _ overrides: Overrides, isInsert: Bool = false, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch {
            let values = { try columnValues(object, overrides) }
            let errors = ConstraintErrors(session: session)
            if let reference = errors.stealable(error, table) {
                let columns = columnIndexes(of: reference.index)
                let key = KeyValue(try columns.map { try values()[$0] })
                try LinkWriter(session: session).free(reference, from: key)
                do {
                    return try body()
                } catch {
                    throw try errors.translate(error, object: object.reference(), table: table, values: values)
                }
            }
            throw try errors.translate(
                error, object: object.reference(), table: table, isInsert: isInsert, values: values)
        }
    }

    func columnValues(_ object: M, _ overrides: Overrides) throws -> [Value] {
        var values = try object.columnValues(table)
        for (reference, key) in overrides {
            for (column, value) in zip(columnIndexes(of: reference), key?.values ?? []) { values[column] = value }
        }
        return values
    }
}

extension AttributeType {
    /// A stamp in the column's encoding.
    func stamp(_ date: Date) -> Value {
        guard let microseconds = DateText.microseconds(of: date) else { return .null }
        return switch self {
        case .date(.iso8601): .text(DateText.text(microseconds: microseconds))
        case .date(.seconds): .real(Double(microseconds) / 1_000_000)
        default: .integer(microseconds)
        }
    }
}

extension Table {
    /// The value of the table's update stamp.
    func stampValue(_ date: Date) -> Value {
        entity.updatedAt.flatMap { entity.attribute($0) }?.type.stamp(date) ?? .null
    }
}
