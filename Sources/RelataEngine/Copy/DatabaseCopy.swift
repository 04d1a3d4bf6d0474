import RelataCore

/// Copies a database into an empty one, of the same engine or another: the rows of all entities and links with their
/// keys, and the metadata of models.
///
/// An interrupted copy continues when it is run again. At the end, both databases are read and compared.
package struct DatabaseCopy {
    private let source: Connection
    private let destination: Connection
    private let schema: Schema
    private let tables: [CopiedTable]
    /// The columns that are copied without a property, by their tables.
    private let undeclared: [String: [UndeclaredColumn]]
    private let state: CopyState
    private let batch: BatchLimit
    private let report: (Progress) throws -> Void

    /// The largest amount that is written in one transaction.
    package struct BatchLimit: Sendable {
        package var rows = 2000
        package var bytes = 4 << 20

        package init() {}
    }

    /// The progress of a copy.
    package enum Progress: Hashable, Sendable {
        /// The omitted parts, a phrase each, before anything is written.
        case leavingOut([String])
        /// This number of rows of an entity or a link is copied.
        case copied(String, rows: Int)
        /// An entity or a link is compared.
        case verifying(String)
        /// References are checked.
        case finishing
    }

    /// The rows of an entity or a link, in both databases.
    package struct Outcome: Hashable, Sendable {
        /// The entity, or the entity and its relationship: `Playlist.tracks`.
        package let name: String
        /// The number of rows it has.
        package let rows: Int
        /// A checksum of its rows, the same on any engine.
        package let checksum: String
    }

    /// Starts or continues the copy.
    ///
    /// - Parameters:
    ///   - source: Read in its open transaction, or in a separate one, which sees one state.
    ///   - destination: A database without tables, or one with an unfinished copy of the same source.
    ///   - batch: The largest amount that is written in one transaction.
    ///   - report: Called with each step. An error that it throws stops the copy.
    /// - Throws: ``RelataError/invalidUse(_:)`` for a destination with other contents, and for an object that the
    ///   destination can't store, which is named; ``RelataError/schemaMismatch(_:)`` if the two differ at the end, for
    ///   example because the source was changed since an earlier run.
    @discardableResult
    package static func run(
        from source: Connection, to destination: Connection, batch: BatchLimit = BatchLimit(),
        _ report: (Progress) throws -> Void = { _ in }
    ) throws -> [Outcome] {
        try withoutActuallyEscaping(report) { report in
            if source.isInTransaction { return try run(source, destination, batch, report) }
            try source.begin()
            defer { source.endReading() }
            return try run(source, destination, batch, report)
        }
    }

    private static func run(
        _ source: Connection, _ destination: Connection, _ batch: BatchLimit,
        _ report: @escaping (Progress) throws -> Void
    ) throws -> [Outcome] {
        let found = try Introspection.read(source)
        let schema = try Schema(found.entities)
        try MovableTables.check(schema.tables.indices, of: schema, in: source)
        let undeclared = try UndeclaredColumns.find(in: source, schema, for: destination.dialect)
        let copy = DatabaseCopy(
            source: source, destination: destination, schema: schema,
            tables: CopiedTable.tables(of: schema, dialect: destination.dialect, besides: undeclared),
            undeclared: undeclared, state: CopyState(of: schema, undeclared, in: source, destination), batch: batch,
            report: report)
        return try copy.run(leavingOut: found.notes.map(\.description))
    }

    private func run(leavingOut notes: [String]) throws -> [Outcome] {
        // Other processes can't change tables in the meantime, or continue the same copy.
        try destination.driver.changingTables(destination) {
            let hasBegun = try state.check()
            try checkSource()
            try report(.leavingOut(try CopyOmissions.find(in: source, schema, undeclared) + notes))
            try destination.driver.makeReady(destination)
            if !hasBegun {
                // In one transaction: unfinished tables are never visible as finished.
                try destination.transaction {
                    try Migrator.apply(schema, steps: [], on: destination)
                    try addUndeclaredColumns()
                    try dropReferences()
                    try state.begin()
                }
            }
            for table in tables { try copy(table) }
            let outcomes = try verify()
            try report(.finishing)
            for table in tables { try moveKeysOn(table) }
            try destination.transaction {
                try addReferences()
                try ClassOptionsTable.copy(from: source, to: destination)
                try state.finish(remembering: source)
            }
            return outcomes
        }
    }

    /// Refuses rows that can't be copied, before the first one is written.
    private func checkSource() throws {
        // Rules that a database can't check are checked in the copy.
        let dangling = (try? source.driver.danglingReferences(source)) ?? [:]
        guard let (tables, count) = dangling.min(by: { $0.key.lexicographicallyPrecedes($1.key) }) else { return }
        throw RelataError.invalidUse(
            "\(count) reference(s) of \(tables[0]) lead to missing rows of \(tables[1]), which the copy would refuse: "
                + "relata check names them. Fix the source first")
    }

    /// The app that opens the copy leaves them alone, as it does in the source.
    private func addUndeclaredColumns() throws(RelataError) {
        let dialect = destination.dialect
        for table in SchemaDDL.tables(of: schema, dialect: dialect) {
            for column in undeclared[table.name] ?? [] {
                let definition = SchemaDDL.columnDefinition(column.description(dialect), of: table, dialect: dialect)
                try destination.execute("ALTER TABLE \(dialect.quote(table.name)) ADD COLUMN \(definition)")
            }
        }
    }

    // MARK: References

    /// Rows may refer to later ones, in cycles too. SQLite doesn't enforce references while tables change; on other
    /// engines, they are created after all rows.
    private func dropReferences() throws {
        guard destination.dialect.altersTables else { return }
        let tables = try Introspection.tables(of: destination)
        for table in tables {
            for name in table.foreignKeys.compactMap(\.name) {
                let (table, constraint) = (destination.dialect.quote(table.name), destination.dialect.quote(name))
                try destination.execute("ALTER TABLE \(table) DROP CONSTRAINT \(constraint)")
            }
        }
    }

    private func addReferences() throws {
        for table in SchemaDDL.tables(of: schema, dialect: destination.dialect) {
            let statements = SchemaDDL.addForeignKeys(of: table, dialect: destination.dialect)
            for (statement, key) in zip(statements, table.foreignKeys) {
                try add(statement, from: table.name, to: key.target)
            }
        }
        let dangling = try destination.driver.danglingReferences(destination)
        if let tables = dangling.keys.min(by: { $0.lexicographicallyPrecedes($1) }) {
            throw Self.dangling(tables[0], tables[1])
        }
    }

    private func add(_ reference: String, from table: String, to target: String) throws(RelataError) {
        do {
            try destination.execute(reference)
        } catch {
            if case .database(ConstraintCode.foreignKey, _, _) = error { throw Self.dangling(table, target) }
            throw error
        }
    }

    private static func dangling(_ table: String, _ target: String) -> RelataError {
        .invalidUse(
            "rows of \(table) refer to missing rows of \(target): fix the source, and start again with an empty database"
        )
    }

    // MARK: Rows

    /// Reads the rows of a table in the order of their keys, from the end of an earlier run.
    private func copy(_ table: CopiedTable) throws {
        var place = try state.place(of: table)
        if place.isDone { return }
        let cursor = try RowCursor(table.rows(source.dialect, after: place.last), on: source, isStreamed: true)
        defer { cursor.close() }
        var rows: [[Value]] = []
        var size = 0
        while let row = try cursor.next() {
            let values = table.values(row)
            rows.append(try table.fitting(values, for: destination.dialect))
            size += values.reduce(0) { $0 + $1.size }
            guard rows.count >= batch.rows || size >= batch.bytes else { continue }
            place = try write(rows, of: table, since: place, last: table.key.map { values[$0] })
            (rows, size) = ([], 0)
        }
        _ = try write(rows, of: table, since: place, last: nil)
    }

    /// Writes rows and notes the last key in one transaction.
    ///
    /// - Parameter last: `nil` if all are copied.
    /// - Returns: The new progress of the table.
    private func write(
        _ rows: [[Value]], of table: CopiedTable, since before: CopyState.Place, last: [Value]?
    ) throws -> CopyState.Place {
        try Task.checkCancellation()
        let place = CopyState.Place(
            rows: before.rows + rows.count, last: last ?? before.last, isDone: last == nil)
        do {
            try destination.transaction {
                try table.insert(rows, on: destination)
                try state.note(place, since: before, of: table)
            }
        } catch let error as RelataError where error.isAboutValues {
            throw explained(error, rows, of: table)
        }
        try report(.copied(table.name, rows: place.rows))
        return place
    }

    /// An error that names the first of the refused rows, if one is refused by itself.
    private func explained(_ error: RelataError, _ rows: [[Value]], of table: CopiedTable) -> RelataError {
        for row in rows {
            guard let refusal = refusal(of: row, table) else { continue }
            return .invalidUse(
                "\(table.object(row)) can't be copied: \(refusal). Fix the source, and run the copy again")
        }
        return .invalidUse(
            "rows of \(table.name) can't be copied: \(error). Fix the source (relata check finds what contradicts its "
                + "schema), and start again with an empty database")
    }

    /// The error that refuses a row by itself.
    private func refusal(of row: [Value], _ table: CopiedTable) -> (any Error)? {
        defer { try? destination.execute(SQLStatement("ROLLBACK")) }
        do {
            try destination.begin(destination.dialect.beginWriting)
            try table.insert([row], on: destination)
            return nil
        } catch {
            return error
        }
    }

    /// Keys that were assigned once are never assigned again.
    private func moveKeysOn(_ table: CopiedTable) throws {
        guard let key = table.assignedKey else { return }
        let last = try source.driver.lastAssignedKey(of: table.table, source)
        try destination.driver.assignKeys(after: last, of: table.table, column: key, destination)
    }

    // MARK: Verifying

    private func verify() throws -> [Outcome] {
        var outcomes: [Outcome] = []
        var problems: [SchemaProblem] = []
        for table in tables {
            try report(.verifying(table.name))
            let (original, copy) = (try checksum(table, source), try checksumOfCopy(table))
            outcomes.append(Outcome(name: table.name, rows: copy.rows, checksum: copy.digits))
            if original == copy { continue }
            let what =
                original.rows == copy.rows
                ? "its \(copy.rows) rows aren't the same"
                : "the source has \(original.rows) rows and the copy \(copy.rows)"
            problems.append(
                SchemaProblem(
                    entity: table.name,
                    message: what + ": the source was changed since the copy began. Start again with an empty database")
            )
        }
        if !problems.isEmpty { throw RelataError.schemaMismatch(problems) }
        return outcomes
    }

    private func checksumOfCopy(_ table: CopiedTable) throws -> RowChecksum {
        try destination.begin()
        defer { destination.endReading() }
        return try checksum(table, destination)
    }

    private func checksum(_ table: CopiedTable, _ connection: Connection) throws -> RowChecksum {
        var checksum = RowChecksum()
        let cursor = try RowCursor(table.allRows(connection.dialect), on: connection, isStreamed: true)
        defer { cursor.close() }
        while let row = try cursor.next() {
            if checksum.rows % 1000 == 0 { try Task.checkCancellation() }
            checksum.add(try table.fitting(table.values(row), for: destination.dialect), of: table)
        }
        return checksum
    }
}

extension Value {
    /// The approximate number of bytes it takes.
    package var size: Int {
        switch self {
        case .text(let text): text.utf8.count + 16
        case .blob(let data): data.count + 16
        case .null, .integer, .real, .uuid: 16
        }
    }
}
