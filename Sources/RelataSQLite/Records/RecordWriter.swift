import RelataCSQLite
import RelataCore

/// Writes rows of objects whose types are known only at run time, within the caller's transaction.
///
/// Stamps and limits are the caller's affair; a revision is counted up.
package struct RecordWriter {
    private let connection: Connection
    private let schema: Schema

    package init(_ connection: Connection, schema: Schema) {
        self.connection = connection
        self.schema = schema
    }

    // MARK: Lists

    /// The number that orders an object behind all others of a list which is the other side of a to-one; `nil` where
    /// none orders it.
    package func nextPlace(in reference: Reference, of owner: KeyValue) throws -> Int64? {
        guard let order = reference.orderColumn else { return nil }
        let sql = RowSQL.nextPlace(
            order, in: RowSQL.quote(schema.tables[reference.source].sqlName), reference.columns, from: 1)
        switch try connection.value(SQLStatement(sql, owner.values.map { .value($0) })) {
        case .integer(let place)?: return place
        case .real(let place)?: return Int64(exactly: place.rounded(.down))
        default: return nil
        }
    }

    // MARK: Rows

    /// Inserts an object.
    ///
    /// - Parameters:
    ///   - values: One for each of ``Table/columns``, `NULL` where it is `nil`; of a key that the database assigns, `NULL`.
    ///   - key: The key among them, where somebody knows it.
    ///   - sql: What ``sql(insertingInto:)`` says of the table, where somebody keeps it.
    /// - Returns: Its key.
    /// - Throws: ``RelataError/alreadyExists(_:)``, ``RelataError/uniqueViolation(entity:properties:)``,
    ///   ``RelataError/invalidReference(entity:property:key:)``, ``RelataError/requiredReference(entity:property:hint:)``.
    package func insert(
        _ table: Table, _ values: [Value?], key: KeyValue? = nil, sql: String? = nil
    ) throws -> KeyValue {
        let given = key ?? KeyValue(table.keyColumns.map { values[$0] ?? .null })
        do {
            let sql = sql ?? Self.sql(insertingInto: table)
            try connection.withStatement(sql) { statement in
                for (index, value) in values.enumerated() {
                    try StatementParameter(statement, Int32(index + 1)).bind(value ?? .null)
                }
                try connection.check(sqlite3_step(statement), statement)
            }
        } catch {
            throw try explained(error, table, given, isInsert: true, values.map { $0 ?? .null })
        }
        let isAssigned = table.entity.isKeyAssigned && given.values == [.null]
        let key = isAssigned ? KeyValue(.integer(connection.lastInsertedRowID)) : given
        connection.recorder?.record(.insert, table.index, key)
        return key
    }

    /// Inserts objects with one statement: all, or none where one can't be.
    ///
    /// Foreign keys are checked after the last one, so that one may point at another.
    ///
    /// - Parameters:
    ///   - rows: The columns of each, in the order of ``Table/columns``.
    ///   - keys: The keys among them.
    ///   - sql: What ``sql(insertingSeveralInto:)`` says of the table.
    /// - Throws: what SQLite says. Who wants to know which object it is about inserts one after another. Triggers and
    ///   constraints that the schema doesn't know of may leave rows behind: the caller has a savepoint.
    package func insert(_ table: Table, _ rows: consuming RowList, keys: [KeyValue], sql: String) throws {
        let statement = try connection.lease(sql)
        defer { connection.release(statement) }
        try connection.check(rows.bind(to: statement.handle, at: 1), statement.handle)
        try connection.check(sqlite3_step(statement.handle), statement.handle)
        connection.recorder?.record(.insert, table.index, KeyList(keys))
    }

    /// The statement that inserts several objects.
    package static func sql(insertingSeveralInto table: Table) -> String { RowSQL.insertRows(table) }

    /// The statement that inserts an object.
    package static func sql(insertingInto table: Table) -> String { RowSQL.insert(table) }

    /// Writes columns of an object.
    ///
    /// - Parameter changes: New values by their index in ``Table/columns``.
    /// - Returns: Whether the object is there.
    /// - Throws: as ``insert(_:_:)``.
    @discardableResult
    package func update(_ table: Table, _ key: KeyValue, _ changes: [Int: Value]) throws -> Bool {
        let columns = changes.keys.sorted()
        guard !columns.isEmpty else { return try connection.isStored(key, in: table) }
        let parameters = columns.map { Parameter.value(changes[$0] ?? .null) }
        let values: [(name: String, value: String)] = columns.enumerated().map {
            (table.columns[$1].name, "?\($0 + 1)")
        }
        var assignments = values.map { "\(RowSQL.quote($0)) = \($1)" }
        assignments += schema.places(
            in: table, setting: values, of: RowSQL.quote(table.sqlName), .sqlite)
        if let revision = table.entity.revision.flatMap({ table.entity.attribute($0)?.column }) {
            assignments.append("\(RowSQL.quote(revision)) = \(RowSQL.quote(revision)) + 1")
        }
        let sql =
            "UPDATE \(RowSQL.quote(table.sqlName)) SET \(assignments.joined(separator: ", ")) WHERE "
            + RowSQL.matches(table.keyColumnNames, from: parameters.count + 1)
        do {
            guard try connection.run(SQLStatement(sql, parameters + key.values.map(Parameter.value))) > 0 else {
                return false
            }
        } catch {
            var values = try row(table, key) ?? []
            for (column, value) in changes where column < values.count { values[column] = value }
            throw try explained(error, table, key, isInsert: false, values)
        }
        connection.recorder?.record(.update, table.index, key, properties: table.properties(of: columns))
        return true
    }

    /// The object's values in the order of ``Table/columns``; `nil` if it isn't stored.
    package func row(_ table: Table, _ key: KeyValue) throws(RelataError) -> [Value]? {
        let statement = SQLStatement(RowSQL.fetch(table), key.values.map(Parameter.value))
        return try connection.values(statement, types: table.columns.map(\.type)).first
    }

    private func explained(
        _ error: any Error, _ table: Table, _ key: KeyValue, isInsert: Bool, _ values: [Value]
    ) throws -> any Error {
        let object = ObjectReference(entity: table.name, key: key)
        return try ConstraintErrors(connection, schema: schema).translate(
            error, object: object, table: table, isInsert: isInsert
        ) { values }
    }
}

extension Table {
    /// The properties that some of the columns store, each once.
    package func properties(of columns: [Int]) -> [String] {
        var properties: [String] = []
        for column in columns where properties.last != self.columns[column].property {
            properties.append(self.columns[column].property)
        }
        return properties
    }
}
