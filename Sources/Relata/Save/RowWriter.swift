import Foundation
import RelataCore
import RelataEngine

/// Writes rows of one model.
struct RowWriter<M: Model> {
    let table: Table
    let run: WriteRun
    /// The source of the objects, while they are written.
    var bucket: Bucket<M>?
    typealias Overrides = [(reference: Int, key: KeyValue?)]

    var connection: Connection { run.connection }
    var rowSQL: RowSQL { run.rowSQL }

    /// Writes objects with one statement; for an update of some columns, the observer provides them.
    ///
    /// - Parameter first: The bucket's row of the first one.
    func write(_ objects: [M], _ statement: RowStatement, _ observer: BucketWrite<M>?, from first: Int) throws {
        guard let columns = observer?.columns else {
            return try withStatement(statement.slot) { try write(objects, statement, observer, first, $0) }
        }
        try connection.withStatement(rowSQL.update(table, run.schema, columns: columns)) {
            try write(objects, statement, observer, first, $0)
        }
    }

    private func write(
        _ objects: [M], _ kind: RowStatement, _ observer: BucketWrite<M>?, _ first: Int, _ statement: RunningStatement
    ) throws {
        let updates = kind == .save && observer == nil
        let keeps = kind == .insertIfAbsent && observer == nil
        var loop = WriteLoop(
            objects, statement, observer,
            mustChange: updates || keeps || kind.slot == .update || kind == .insert && observer == nil)
        defer { if loop.hasRounded { bucket?.hasRounded = true } }
        while loop.next < objects.count {
            do {
                try M.write(&loop)
                if loop.next == objects.count { return }
                guard loop.result == .done else { throw connection.error(loop.result, statement) }
                if kind == .insert {
                    try connection.checkInserted(1, of: table, key: try? key(of: objects[loop.next], []))
                }
                guard updates || keeps else { throw try missing(objects[loop.next], observer?.overrides ?? []) }
                statement.reset()
                if keeps {
                    bucket?.kept.insert(first + loop.next)
                    loop.next += 1
                    continue
                }
                try write([objects[loop.next]], .update, nil, from: first + loop.next)
                bucket?.note(first + loop.next..<first + loop.next + 1, .written)
                loop.next += 1
            } catch {
                // Only a reset makes the connection usable again.
                statement.reset()
                if error is CancellationError { throw error }
                throw try explained(
                    error, objects[loop.next], observer?.overrides ?? [], columns: observer?.columns,
                    isInsert: kind == .insert)
            }
        }
    }

    /// Runs an upsert that returns the key of the row.
    func returningKey(_ object: M, _ overrides: Overrides, _ sql: String) throws -> M.Key {
        do {
            let isThere = try connection.recorder?.listsRows == true && object.primaryKey.flatMap(stored) != nil
            // SQLite remembers the last inserted rowid, and an update keeps it; but only a table whose keys it assigns
            // certainly has rowids.
            connection.forgetLastInsertedRowID()
            let key = try connection.withStatement(sql) { statement in
                var binder = Binder(statement)
                try object.bind(to: &binder, table)
                try bind(overrides, of: object, to: statement, isInsert: true)
                _ = try connection.step(statement)
                var reader = RowReader(statement)
                let key = try M.readKey(from: &reader)
                // A statement that returns rows has written all of them only at its end.
                _ = try connection.step(statement)
                return key
            }
            let hasInserted =
                object.ownKey.map { !isThere && $0 == StoredKey(key) } ?? (connection.lastInsertedRowID != .min)
            connection.recorder?.record(
                hasInserted ? .insert : .update, table.index, try M.keyValue(key),
                properties: hasInserted ? [] : table.properties(of: RowSQL.written(table)))
            return key
        } catch {
            throw try explained(error, object, overrides, isInsert: true)
        }
    }

    /// The reason why an update changed no row: the row never existed, it was deleted, it has another revision, or a
    /// trigger ignores the update.
    private func missing(_ object: M, _ overrides: Overrides) throws -> RelataError {
        if object.primaryKey == nil { return .invalidUse(M.withoutStoredKey) }
        let key = try key(of: object, overrides)
        guard table.entity.revision != nil else { return try connection.reasonOfNoUpdate(of: key, in: table) }
        let stored = try stored(key)
        if let stored, revision(of: stored) == revision(of: object) { return .ignoredUpdate(of: key, in: table) }
        return .conflict(Conflict(object: object.reference(), given: object, stored: stored))
    }

    /// The stored object with that key.
    func stored(_ key: M.Key) throws -> M? { try stored(try M.keyValue(key)) }

    /// The stored object with that key.
    func stored(_ key: KeyValue) throws -> M? {
        try connection.firstRow(slot: RowSQL.Slot.fetch.number(table), { rowSQL.fetch(table) }) {
            try $0.bind(key)
        } _: { row in
            var reader = RowReader(row)
            return try ReadTransaction.reading(M.self) { try M(from: &reader) }
        }
    }

    /// The time of insertion of a stored object, if its model has it.
    func creation(of object: M, _ overrides: Overrides) throws -> Date? {
        guard let number = table.entity.createdAt.flatMap({ table.columnIndexes(of: $0).first }),
            case .date(let encoding) = table.columns[number].type
        else { return nil }
        let sql =
            "SELECT \(rowSQL.quote(table.columns[number].name)) FROM \(rowSQL.quote(table.sqlName)) WHERE "
            + rowSQL.matches(table.keyColumnNames, from: 1)
        let statement = SQLStatement(sql, try key(of: object, overrides).values.map(Parameter.value))
        let stored = try connection.values(statement, types: [table.columns[number].type]).first?.first
        return try stored.flatMap { $0.isNull ? nil : try coding(of: Date.self, as: encoding).decode($0) }
    }

    func withStatement<Result>(
        _ slot: RowSQL.Slot, _ body: (RunningStatement) throws -> Result
    ) throws -> Result {
        try connection.withStatement(
            slot: slot.number(table), { rowSQL.text(slot, table, run.schema) }, body)
    }

    // MARK: Binding

    /// Binds values that don't come from the object: keys from other objects, and timestamps.
    ///
    /// - Parameter offset: The number of the row's first column among the statement's parameters.
    func bind(
        _ overrides: Overrides, of object: M, to statement: RunningStatement, isInsert: Bool, offset: Int = 0
    ) throws {
        for (reference, key) in overrides {
            guard let key else { continue }
            for (column, value) in zip(columnIndexes(of: reference), key.values) {
                try bind(value, to: statement, column: column + offset)
            }
        }
        guard table.entity.hasStamps else { return }
        if isInsert, let createdAt = table.entity.createdAt { try stamp(createdAt, statement, offset) }
        if let updatedAt = table.entity.updatedAt { try stamp(updatedAt, statement, offset) }
        if let name = table.entity.revision, let column = table.columnIndexes(of: name).first {
            let revision = revision(of: object)
            try bind(.integer(revision &+ 1), to: statement, column: column + offset)
            if !isInsert { try bind(.integer(revision), to: statement, column: table.columns.count) }
        }
    }

    func bind(_ value: Value, to statement: RunningStatement, column: Int) throws(RelataError) {
        try StatementParameter(statement, Int32(column + 1)).bind(value)
    }

    private func stamp(_ property: String, _ statement: RunningStatement, _ offset: Int) throws {
        guard let column = table.columnIndexes(of: property).first else { return }
        try bind(table.columns[column].type.stamp(run.now), to: statement, column: column + offset)
    }

    /// The revision that a value was read with; 0 for one that was never stored.
    func revision(of object: M) -> Int64 {
        guard let name = table.entity.revision, let column = table.columnIndexes(of: name).first,
            case .integer(let revision)? = try? object.columnValues(table)[column]
        else { return 0 }
        return revision
    }

    func columnIndexes(of reference: Int) -> [Int] {
        table.columns.indices.filter { table.columns[$0].reference == reference }
    }

    // MARK: Running

    /// Translates an error into the terms of the models.
    private func explained(
        _ error: any Error, _ object: M, _ overrides: Overrides, columns: [Int]? = nil, isInsert: Bool
    ) throws -> any Error {
        // The error of a value that no column holds names object and property.
        if case RelataError.validation = error { _ = try object.columnValues(table) }
        return try ConstraintErrors(connection, schema: run.schema).translate(
            error, object: object.reference(), table: table, isInsert: isInsert
        ) { try columnValues(object, overrides, only: columns) }
    }

    /// An object's columns as they are written.
    ///
    /// - Parameter columns: The columns that are written; the others are unset. `nil` for all.
    func columnValues(_ object: M, _ overrides: Overrides, only columns: [Int]? = nil) throws -> [Value] {
        var values = try object.columnValues(table)
        for (reference, key) in overrides {
            for (column, value) in zip(columnIndexes(of: reference), key?.values ?? []) { values[column] = value }
        }
        guard let columns else { return values }
        var written = [Value](repeating: .null, count: values.count)
        for column in columns { written[column] = values[column] }
        return written
    }

    /// An object's key, parts of which may come from other objects.
    func key(of object: M, _ overrides: Overrides) throws -> KeyValue {
        if let key = object.primaryKey { return try M.keyValue(key) }
        let values = try columnValues(object, overrides)
        return KeyValue(table.keyColumns.map { values[$0] })
    }
}
