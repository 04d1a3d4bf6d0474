import Foundation
import RelataCore

/// Executes a ``WritePlan``: first the rows, then the edits on links, then the checks of changed lists' counts.
@usableFromInline
package final class WriteRun {
    package let connection: Connection
    package let schema: Schema
    /// The SQL of single rows.
    package var rowSQL: RowSQL { connection.rowSQL }
    /// The stamp of all objects, as exact as a date column keeps it.
    package let now: Date
    // One task saves, so the properties that each row uses do without exclusivity checks.
    @exclusivity(unchecked) package var plan = WritePlan()
    /// The rows, by the numbers of the plan's batches.
    @exclusivity(unchecked) package private(set) var batches: [any RowBatch] = []
    /// The period without reference checks, because some rows need each other, or exchange references; and the rows
    /// written in it.
    package private(set) var wait: ForeignKeyWait?
    private var unchecked: [(batch: Int, rows: Range<Int>)] = []
    /// Rows that edits on links have changed, by table.
    package private(set) var touched: [Int: Set<KeyValue>] = [:]
    /// The number of placeholders for positions in lists.
    private var standInCount: Int64 = 0
    /// The lists that may have too few or too many members.
    package var counted = CountCheck()
    /// Objects that edits removed from lists with the rule to delete them, with their former owners.
    var removed: [(reference: Int, owner: KeyValue, keys: [KeyValue])] = []

    /// Whether the connection's tables match the schema as long as it is open, so that statements are found by number.
    let isSchemaFixed: Bool

    package init(_ connection: Connection, schema: Schema, isSchemaFixed: Bool, now: Date) {
        self.connection = connection
        self.isSchemaFixed = isSchemaFixed
        self.schema = schema
        self.now = DateText.microseconds(of: now).map { DateText.date(microseconds: $0) } ?? now
    }

    /// Adds a batch, which gets the next number.
    package func add(_ batch: any RowBatch) { batches.append(batch) }

    // MARK: Keys

    package func batch(of row: Int) -> any RowBatch { batches[plan.rows[row].batch] }

    /// The key of a row of the plan, if it is known.
    package func key(row: Int) -> KeyValue? { batch(of: row).keyValue(row: plan.rows[row].row) }

    /// A key, if it is known.
    package func keyValue(_ key: PlannedKey) -> KeyValue? {
        switch key {
        case .key(let key), .dropped(let key): key
        case .row(let row): self.key(row: row)
        }
    }

    /// The key of a row once it is written.
    package func writtenKey(_ row: Int) throws -> KeyValue {
        guard let key = key(row: row) else {
            throw RelataError.invalidUse("\(batch(of: row).table.name) has no key after it was saved")
        }
        return key
    }

    /// The key after everything is written.
    func key(_ key: PlannedKey) throws -> KeyValue {
        switch key {
        case .key(let key), .dropped(let key): key
        case .row(let row): try writtenKey(row)
        }
    }

    /// Binds a key; returns whether it is known.
    func bind(_ key: PlannedKey, to binder: inout Binder) throws -> Bool {
        switch key {
        case .key(let key):
            try binder.bind(key)
            return true
        case .row(let number):
            let row = plan.rows[number]
            return try batches[row.batch].bindKey(row: row.row, to: &binder)
        case .dropped: return false
        }
    }

    /// Whether the run has inserted an object that has edits on links.
    func isInserted(_ key: PlannedKey) -> Bool {
        guard case .row(let row) = key else { return false }
        return batch(of: row).isInserted(row: plan.rows[row].row)
    }

    /// A place that no list has.
    package func nextStandIn() -> Int64 {
        standInCount += 1
        return .min + standInCount
    }

    /// Records that a row was changed beyond the values of its object.
    func touch(_ table: Int, _ key: KeyValue) { touched[table, default: []].insert(key) }

    // MARK: Running

    /// Writes everything and checks the counts.
    package func run() throws {
        try write()
        try counted.check(connection: connection, schema: schema)
    }

    /// Writes everything. The lists whose counts must still be checked are in ``counted``.
    package func write() throws {
        let lists = try orderedLists()
        try noteCounts()
        let lateKeys = try writeRows()
        for batch in batches { try batch.checkWritten(self) }
        for late in lateKeys {
            guard let key = self.key(row: late.row), let target = self.key(row: late.target) else { continue }
            try setReference(schema.references[late.reference], of: key, to: target)
        }
        try LinkWriter(run: self).write(plan.edits, lists)
        guard schema.hasCounts else { return }
        for row in plan.rows.indices { counted.noteObject(try writtenKey(row), batch(of: row).table) }
        try noteCounts()
    }

    /// Writes all rows.
    ///
    /// - Returns: The references that are yet to be set.
    private func writeRows() throws -> [(row: Int, reference: Int, target: Int)] {
        defer {
            wait?.cancel()
            wait = nil
        }
        let order = try plan.order(of: batches.map(\.count)) { key(row: $0) != nil }
        if order.waitsForReferences { try deferReferences() }
        if !order.isByBatch { for batch in batches { try batch.prepare(self, order) } }
        for (number, step) in order.steps.enumerated() {
            if number & 0x3ff == 0x3ff, Task.isCancelled { throw CancellationError() }
            if order.isByBatch { try batches[step.batch].prepare(self, order) }
            try batches[step.batch].write(step.rows, self)
        }
        if let wait, wait.hasDangling {
            // Here it can be named.
            for (batch, rows) in unchecked { for row in rows { try batches[batch].checkReferences(row: row, self) } }
        }
        return order.lateKeys
    }

    /// Whether each row of a batch has a one-to-one to a separate object that the run has inserted: no other row can
    /// have that.
    package func refersToNewObjects(_ batch: Int, by reference: Int) -> Bool {
        let target = schema.references[reference].target
        guard let others = batches.first(where: { $0.tableIndex == target }), others.isNew else { return false }
        return plan.refersToOthers(batch, by: reference)
    }

    /// Makes the database check references only at the end, while rows are written.
    package func deferReferences() throws {
        if wait == nil { wait = try ForeignKeyWait(on: connection) }
    }

    /// Records rows whose references the database may not have checked.
    package func noteWritten(_ rows: Range<Int>, of batch: Int) {
        if wait != nil { unchecked.append((batch, rows)) }
    }

    // MARK: Counts

    /// Records the lists of the plan's objects: called before they are written, and again afterwards.
    private func noteCounts() throws {
        guard schema.hasCounts else { return }
        for reference in schema.references {
            for row in plan.rows.indices where batch(of: row).tableIndex == reference.source {
                guard let key = key(row: row) else { continue }
                try noteOwner(of: reference, from: key)
            }
        }
    }
}

extension Connection {
    /// Refuses an insertion from which the database skipped rows, for example by a trigger or a table of another
    /// program (`RAISE(IGNORE)`, `ON CONFLICT IGNORE`): the returned keys would belong to other rows.
    ///
    /// - Parameter count: The number of rows the last statement had.
    package func checkInserted(_ count: Int, of table: Table, key: KeyValue? = nil) throws(RelataError) {
        guard changes < count else { return }
        throw .validation([
            ValidationFailure(
                entity: table.name, property: nil, key: key,
                message:
                    "it was not inserted: a trigger of the table \(table.sqlName), or a constraint that ignores such rows, keeps it out"
            )
        ])
    }

    /// Refuses an insertion whose rows a trigger has deleted at once. They are checked only if the database counts more
    /// changes than inserted rows.
    ///
    /// - Parameter earlier: ``totalChanges`` before the statement.
    func checkKept(_ keys: [KeyValue], of table: Table, since earlier: Int) throws(RelataError) {
        guard driver.capabilities.countsActions, totalChanges - earlier > keys.count else { return }
        for key in keys where try !isStored(key, in: table) {
            throw .validation([
                ValidationFailure(
                    entity: table.name, property: nil, key: key,
                    message: "it was not kept: a trigger of the table \(table.sqlName) deletes it at once")
            ])
        }
    }
}
