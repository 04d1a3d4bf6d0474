import RelataCore

/// Rows of one table with values by column: records, and the objects of a protocol.
///
/// Stamps and limits are the caller's affair; the batch counts revisions up.
package final class ValueBatch: RowBatch {
    /// One row.
    package struct Row {
        /// The key; `nil` until the database, or another row, provides it.
        package var key: KeyValue?
        /// The values of all columns as the row will have them, in the order of ``Table/columns``.
        package var values: [Value]
        /// The columns that are written; `nil` for a new row.
        package var columns: [Int]?
        /// References that get the key of another row.
        package var references: [(reference: Int, target: PlannedKey)] = []
        /// The column of its position in a list with unique positions: a placeholder is used until the list is written.
        package var standIn: Int?

        package init(key: KeyValue?, values: [Value], columns: [Int]? = nil) {
            self.key = key
            self.values = values
            self.columns = columns
        }
    }

    /// The statements that insert one row of a table, and several.
    package struct Insertion: Sendable {
        let one, several: String

        package init(into table: Table, _ dialect: Dialect) {
            one = RowSQL(dialect).insertTellingKey(table)
            several = RowSQL(dialect).insertRows(table)
        }

        /// Inserts rows whose keys are derived from their content, so that others may be inserting the same ones. If
        /// so, PostgreSQL finds a conflict with a row that the transaction can't see, and the transaction is retried.
        package init(ofSharedRowsInto table: Table, _ dialect: Dialect) {
            one = RowSQL(dialect).insert(table) + " ON CONFLICT DO NOTHING"
            several = RowSQL(dialect).insertRows(table) + " ON CONFLICT DO NOTHING"
        }
    }

    package let table: Table
    package let tableIndex: Int
    /// The batch's number in its run.
    package let number: Int
    package var rows: [Row] = []
    /// Whether the caller rolls back a failed statement, and finds its cause.
    package var isUndoneByCaller = false
    private let insertion: Insertion
    private var takings: [Int: [UniqueExchange.Taking]] = [:]
    private var isWritten: [Bool] = []
    /// The statement that writes the columns of the row before.
    private var update: (columns: [Int], sql: String)?

    /// Adds an empty batch to a run.
    ///
    /// - Parameter insertion: The statements that insert rows, if they are cached.
    package init(of table: Table, in run: WriteRun, insertion: Insertion? = nil) {
        self.table = table
        tableIndex = table.index
        self.insertion = insertion ?? Insertion(into: table, run.connection.dialect)
        number = run.batches.count
        run.add(self)
    }

    /// Adds a row, and adds it to the plan of the run, and returns its number there.
    package func add(_ row: Row, to run: WriteRun) -> Int {
        rows.append(row)
        return run.plan.addRow(rows.count - 1, of: number)
    }

    package var count: Int { rows.count }

    package func keyValue(row: Int) -> KeyValue? { rows[row].key }

    package func bindKey(row: Int, to binder: inout Binder) throws -> Bool {
        guard let key = rows[row].key else { return false }
        try binder.bind(key)
        return true
    }

    package var isNew: Bool { !isWritten.isEmpty && rows.allSatisfy { $0.columns == nil } }

    package func isInserted(row: Int) -> Bool { rows[row].columns == nil && !isWritten.isEmpty && isWritten[row] }

    package func checkReferences(row: Int, _ run: WriteRun) throws {
        let written = rows[row].columns.map(Set.init)
        let values = rows[row].values.enumerated().map { written?.contains($0) == false ? .null : $1 }
        if let error = try ConstraintErrors(run.connection, schema: run.schema).culprit(table, values) { throw error }
    }

    package func checkWritten(_ run: WriteRun) throws {}

    // MARK: Unique values

    package func prepare(_ run: WriteRun, _ order: WritePlan.Order) throws {
        let sets = run.schema.uniqueSets[tableIndex]
        // Rows that wait for others are stored; a row alone can only take the partner of a one-to-one.
        guard sets.contains(where: { $0.reference != nil }) || count > 1 && rows.contains(where: { $0.columns != nil })
        else { return }
        let claimants = rows.indices.map { row in
            take(referencesOf: row, run)
            return UniqueClaimant(
                row: row, values: rows[row].values, columns: columns(of: row, with: sets), identity: table.keyColumns,
                yields: false, canWait: rows[row].columns != nil, edited: rows[row].references.map(\.reference))
        }
        if sets.allSatisfy({ set in claimants.allSatisfy { !$0.writes(set) } }) { return }
        var exchange = UniqueExchange(run, table, sets)
        try exchange.plan(claimants) { order.places(of: number, count: count) }
        takings = exchange.takings
        for row in exchange.waiting { rows[row].columns = columns(of: row, with: sets) }
    }

    /// The columns of a stored row that are written, with all others of the unique sets that they belong to.
    private func columns(of row: Int, with sets: [UniqueSet]) -> [Int]? {
        guard let columns = rows[row].columns.map(Set.init) else { return nil }
        return sets.reduce(columns) { all, set in columns.isDisjoint(with: set.columns) ? all : all.union(set.columns) }
            .sorted()
    }

    private func takePartners(of row: Int, _ run: WriteRun) throws {
        for taking in takings[row] ?? [] {
            try LinkWriter(run: run).free(
                run.schema.references[taking.reference], from: taking.partner, isCounted: taking.isCounted)
        }
    }

    // MARK: Writing

    package func write(_ range: Range<Int>, _ run: WriteRun) throws {
        if isWritten.isEmpty { isWritten = Array(repeating: false, count: count) }
        var start = range.lowerBound
        while start < range.upperBound {
            var end = start + 1
            while end < range.upperBound, (rows[end].columns == nil) == (rows[start].columns == nil) { end += 1 }
            for row in start..<end { take(referencesOf: row, run) }
            if rows[start].columns == nil {
                try insert(start..<end, run)
            } else {
                for row in start..<end { try update(row, run) }
            }
            run.noteWritten(start..<end, of: number)
            start = end
        }
    }

    /// Sets the keys of other rows, if they are known.
    private func take(referencesOf row: Int, _ run: WriteRun) {
        for (number, target) in rows[row].references {
            guard let key = run.keyValue(target) else { continue }
            let columns = table.columns.indices.filter { table.columns[$0].reference == number }
            for (column, value) in zip(columns, key.values) { rows[row].values[column] = value }
        }
        guard rows[row].key == nil, !table.entity.isKeyAssigned else { return }
        let key = table.keyColumns.map { rows[row].values[$0] }
        if !key.contains(.null) { rows[row].key = KeyValue(key) }
    }

    private func insert(_ range: Range<Int>, _ run: WriteRun) throws {
        if range.count > 1, try insertTogether(range, run) { return }
        for row in range {
            try takePartners(of: row, run)
            if let column = rows[row].standIn { rows[row].values[column] = .integer(run.nextStandIn()) }
            let earlier = run.connection.totalChanges
            do {
                try run.connection.withStatement(insertion.one) { statement in
                    for (index, value) in rows[row].values.enumerated() {
                        try StatementParameter(statement, Int32(index + 1)).bind(value)
                    }
                    try run.connection.check(statement.step(), statement)
                }
                try run.connection.checkInserted(1, of: table, key: rows[row].key)
            } catch {
                throw try explained(error, row, run)
            }
            if rows[row].key == nil {
                let key = Value.integer(run.connection.lastInsertedRowID)
                rows[row].key = KeyValue(key)
                if let column = table.keyColumns.first { rows[row].values[column] = key }
            }
            try run.connection.checkKept(rows[row...row].compactMap(\.key), of: table, since: earlier)
            isWritten[row] = true
            if let key = rows[row].key { run.connection.recorder?.record(.insert, tableIndex, key) }
        }
    }

    /// Inserts rows with known keys by one statement. References are checked after the last one, so one row may point
    /// at another.
    ///
    /// - Returns: Whether they are inserted. If one can't be, none is, and they are inserted one by one, to find the
    ///   cause.
    private func insertTogether(_ range: Range<Int>, _ run: WriteRun) throws -> Bool {
        guard takings.isEmpty, table.columns.count <= KeyValue.maximumParts,
            rows[range].allSatisfy({ $0.key != nil && $0.standIn == nil })
        else { return false }
        do {
            let statement = try run.connection.lease(insertion.several)
            defer { run.connection.release(statement) }
            try run.connection.driver.bind(
                rows: range, columns: table.columns.count, to: statement.running, at: 1
            ) { rows[$0].values }
            let keys = rows[range].compactMap(\.key)
            func step() throws {
                let earlier = run.connection.totalChanges
                try run.connection.check(statement.running.step(), statement.running)
                try run.connection.checkInserted(range.count, of: table)
                try run.connection.checkKept(keys, of: table, since: earlier)
            }
            // A trigger, or a constraint of another program's table, may keep rows of a statement that fails.
            try isUndoneByCaller ? step() : run.connection.savepoint(step)
        } catch {
            guard !isUndoneByCaller, ConstraintErrors.isOfConstraint(error) else { throw error }
            return false
        }
        for row in range { isWritten[row] = true }
        run.connection.recorder?.record(.insert, tableIndex, KeyList(rows[range].compactMap(\.key)))
        return true
    }

    private func update(_ row: Int, _ run: WriteRun) throws {
        guard let key = rows[row].key, let columns = rows[row].columns, !columns.isEmpty else { return }
        try takePartners(of: row, run)
        let parameters = columns.map { Parameter.value(rows[row].values[$0]) } + key.values.map(Parameter.value)
        let isStored: Bool
        do {
            let sql = sql(updating: columns, run)
            isStored = try run.connection.run(SQLStatement(sql, parameters)) > 0
        } catch {
            throw try explained(error, row, run)
        }
        guard isStored else { throw try run.connection.reasonOfNoUpdate(of: key, in: table) }
        isWritten[row] = true
        if let column = table.entity.revision.flatMap({ table.columnIndexes(of: $0).first }),
            case .integer(let revision) = rows[row].values[column]
        {
            rows[row].values[column] = .integer(revision &+ 1)
        }
        run.connection.recorder?.record(.update, tableIndex, key, properties: table.properties(of: columns))
    }

    private func sql(updating columns: [Int], _ run: WriteRun) -> String {
        let (schema, rowSQL) = (run.schema, run.rowSQL)
        if let update, update.columns == columns { return update.sql }
        let values: [(name: String, value: String)] = columns.enumerated().map {
            (table.columns[$1].name, rowSQL.written($1, to: $0 + 1, table))
        }
        var assignments = values.map { "\(rowSQL.quote($0)) = \($1)" }
        assignments += schema.places(in: table, setting: values, of: rowSQL.quote(table.sqlName), rowSQL.dialect)
        if let revision = table.entity.revision.flatMap({ table.entity.attribute($0)?.column }) {
            assignments.append("\(rowSQL.quote(revision)) = \(rowSQL.quote(revision)) + 1")
        }
        let sql =
            "UPDATE \(rowSQL.quote(table.sqlName)) SET \(assignments.joined(separator: ", ")) WHERE "
            + rowSQL.matches(table.keyColumnNames, from: columns.count + 1)
        update = (columns, sql)
        return sql
    }

    private func explained(_ error: any Error, _ row: Int, _ run: WriteRun) throws -> any Error {
        let key = rows[row].key ?? KeyValue(table.keyColumns.map { rows[row].values[$0] })
        return try ConstraintErrors(run.connection, schema: run.schema).translate(
            error, object: ObjectReference(entity: table.name, key: key), table: table,
            isInsert: rows[row].columns == nil
        ) { rows[row].values }
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
