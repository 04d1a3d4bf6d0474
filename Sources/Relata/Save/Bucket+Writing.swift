import RelataCore
import RelataEngine

/// The statement that writes a row.
enum RowStatement: Equatable {
    case insert
    /// Keeps the existing row.
    case insertIfAbsent
    /// Inserts the row, or updates the existing one: two statements, because one that does either makes SQLite copy
    /// each page it changes if the table has foreign keys.
    case save
    case update
    case updateColumns([Int])
    case match([Int])
    case byCaller

    var slot: RowSQL.Slot {
        switch self {
        case .insert, .match: .insert
        case .insertIfAbsent, .save: .insertIfAbsent
        case .update, .updateColumns, .byCaller: .update
        }
    }
}

extension Bucket {
    /// Writes rows, consecutive ones with one statement.
    @usableFromInline
    package func write(_ rows: Range<Int>, _ run: WriteRun) throws {
        let writer = RowWriter<M>(table: table, run: run, bucket: self)
        var start = rows.lowerBound
        while start < rows.upperBound {
            let statement = statement(for: start, writer)
            var end = start + 1
            while end < rows.upperBound, self.statement(for: end, writer) == statement { end += 1 }
            try write(start..<end, statement, writer)
            run.noteWritten(start..<end, of: number)
            start = end
        }
    }

    private func statement(for row: Int, _ writer: RowWriter<M>) -> RowStatement {
        switch roles[row] {
        case .insert: return .insert
        case .link: return keyless.contains(row) ? .insert : .insertIfAbsent
        case .save:
            if keyless.contains(row) { return .insert }
            guard table.entity.revision != nil else { return .save }
            return writer.revision(of: objects[row]) == 0 ? .insert : .update
        case .update: return .update
        case .updateColumns(let columns): return .updateColumns(columns)
        case .match(let columns): return .match(columns)
        case .byCaller: return .byCaller
        }
    }

    private func write(_ rows: Range<Int>, _ statement: RowStatement, _ writer: RowWriter<M>) throws {
        if case .match(let columns) = statement {
            for row in rows { try match(row, columns, writer) }
            return note(rows, .written)
        }
        if statement == .byCaller {
            for row in rows { try writeByCaller(row, writer) }
            return
        }
        if statement == .updateColumns([]), rows.allSatisfy({ overrides[$0] == nil }) { return note(rows, .written) }
        let batch = rows.count == objects.count ? objects : Array(objects[rows])
        let isRecorded = writer.run.connection.recorder?.listsRows == true
        let isPlain =
            switch statement {
            case .insert: keyless.isEmpty
            case .insertIfAbsent: !isRecorded && !session.hasEdits(self) && writer.run.wait == nil
            // Edits need to know whether their owner is new, which isn't known for rows that are written together.
            case .save: !isRecorded && !(writer.writesTogether && session.hasEdits(self))
            case .update: !isRecorded
            case .updateColumns, .match, .byCaller: false
            }
        let needsObserver = !isPlain || !overrides.isEmpty || !takings.isEmpty || table.entity.hasStamps
        if rows.count > 1, takings.isEmpty, writer.writesTogether {
            let observer = needsObserver ? BucketWrite(self, writer, statement, first: rows.lowerBound) : nil
            try writer.writeTogether(batch, statement, observer, from: rows.lowerBound)
            return needsObserver ? () : try noteWritten(rows, batch, statement, writer)
        }
        guard !needsObserver else {
            let observer = BucketWrite(self, writer, statement, first: rows.lowerBound)
            if statement == .insert, table.entity.isKeyAssigned, rows.count >= RowSQL.rowsAtOnce,
                takings.isEmpty, rows.allSatisfy(keyless.contains)
            {
                return try writer.insertSeveral(batch, observer)
            }
            return try writer.write(batch, statement, observer, from: rows.lowerBound)
        }
        if endsTransaction, rows.count == 1, statement == .insert || statement == .update {
            try writer.run.connection.withOnlyStatement {
                try writer.write(batch, statement, nil, from: rows.lowerBound)
            }
        } else {
            try writer.write(batch, statement, nil, from: rows.lowerBound)
        }
        try noteWritten(rows, batch, statement, writer)
    }

    /// Records rows that were written without an observer.
    private func noteWritten(
        _ rows: Range<Int>, _ batch: [M], _ statement: RowStatement, _ writer: RowWriter<M>
    ) throws {
        // A save has noted the rows that it found stored.
        noteRest(rows, statement == .insert || statement == .save && !writer.writesTogether ? .inserted : .written)
        if statement == .insert { try writer.noteInserted(batch) }
    }

    private func match(_ row: Int, _ columns: [Int], _ writer: RowWriter<M>) throws {
        let sql = writer.rowSQL.match(table, writer.run.schema, columns: columns)
        try takePartners(of: row, writer.run)
        let key = try writer.returningKey(objects[row], resolvedOverrides(row, writer.run), sql)
        if let stored = try writer.stored(key) { objects[row] = stored }
        rows[StoredKey(key)] = row
    }

    /// Has the caller write a row.
    private func writeByCaller(_ row: Int, _ writer: RowWriter<M>) throws {
        guard let caller = session.caller else { return }
        var given: [Int: Value] = [:]
        for case (let reference, let key?) in resolvedOverrides(row, writer.run) {
            for (column, value) in zip(writer.columnIndexes(of: reference), key.values) { given[column] = value }
        }
        give(try caller.write(given), toRow: row)
        note(row..<row + 1, caller.isNew ? .inserted : .written)
    }

    @usableFromInline
    package func checkReferences(row: Int, _ run: WriteRun) throws {
        let writer = RowWriter<M>(table: table, run: run)
        let values = try writer.columnValues(
            objects[row], resolvedOverrides(row, run), only: writtenColumns(row, writer))
        if let error = try ConstraintErrors(run.connection, schema: run.schema).culprit(table, values) {
            throw error
        }
    }

    /// The columns of a row that are written; `nil` for all.
    func writtenColumns(_ row: Int, _ writer: RowWriter<M>) -> [Int]? {
        let own: [Int]
        switch roles[row] {
        case .updateColumns(let columns):
            own =
                columns
                + [table.entity.revision, table.entity.updatedAt].compactMap(\.self).flatMap {
                    table.columnIndexes(of: $0)
                }
        case .link where kept.contains(row): own = []
        default: return nil
        }
        return Set(own + overrides[row, default: []].flatMap { writer.columnIndexes(of: $0.reference) }).sorted()
    }

    /// The keys that other objects give this one; unknown ones are written later.
    func resolvedOverrides(_ row: Int, _ run: WriteRun) -> RowWriter<M>.Overrides {
        if overrides.isEmpty { return [] }
        return (overrides[row] ?? []).map { ($0.reference, run.keyValue($0.owner)) }
    }
}

/// Rows of a bucket while they are written with one statement.
final class BucketWrite<M: Model>: RowObserver {
    private let bucket: Bucket<M>
    private let writer: RowWriter<M>
    private let statement: RowStatement
    /// The first row.
    private(set) var first: Int
    /// The number of rows the statement writes at a time.
    var rowsAtOnce = 1
    /// The results of rows that were written together, while they are reported.
    var outcome: RowsOutcome?
    /// The columns that an update of some writes.
    let columns: [Int]?
    /// Updates rows that a save finds.
    private lazy var updating = BucketWrite(bucket, writer, .update, first: first)
    /// The values that other objects give to the current row.
    private(set) var overrides: RowWriter<M>.Overrides = []

    init(_ bucket: Bucket<M>, _ writer: RowWriter<M>, _ statement: RowStatement, first: Int) {
        self.bucket = bucket
        self.writer = writer
        self.statement = statement
        self.first = first
        columns = if case .updateColumns = statement { bucket.writtenColumns(first, writer) } else { nil }
    }

    func willWrite(_ index: Int, _ pointer: RunningStatement) throws {
        if !bucket.takings.isEmpty { try bucket.takePartners(of: first + index, writer.run) }
        let object = bucket.objects[first + index]
        overrides = bucket.resolvedOverrides(first + index, writer.run)
        let offset = index % rowsAtOnce * bucket.table.columns.count
        try writer.bind(overrides, of: object, to: pointer, isInsert: statement.slot != .update, offset: offset)
        if !bucket.standIns.isEmpty, statement.slot != .update, let column = bucket.standIns[first + index] {
            try writer.bind(.integer(writer.run.nextStandIn()), to: pointer, column: column + offset)
        }
    }

    func didWrite(_ index: Int) throws {
        let row = first + index
        let object = bucket.objects[row]
        switch statement {
        case .insert, .match:
            // Several rows are reported one after another, when the statement has written all of them.
            if outcome == nil, statement == .insert, index % rowsAtOnce == 0 {
                try writer.run.connection.checkInserted(rowsAtOnce, of: bucket.table)
            }
            bucket.note(row..<row + 1, .inserted)
            let isKeyless = bucket.keyless.contains(row)
            let rowID = bucket.table.entity.isKeyAssigned && isKeyless ? assignedKey(index) : nil
            if rowsAtOnce > 1 || outcome != nil { overrides = bucket.resolvedOverrides(row, writer.run) }
            if isKeyless, rowID == nil { bucket.give(try writer.key(of: object, overrides), toRow: row) }
            try writer.note(.insert, object, overrides, rowID: rowID)
            bucket.stamp(row, isInserted: true, rowID)
        case .insertIfAbsent, .save:
            if outcome != nil { return try didWriteTogether(index, row, object) }
            bucket.note(row..<row + 1, writer.run.connection.changes > 0 ? .inserted : .written)
            if writer.run.connection.changes > 0 {
                try writer.note(.insert, object, overrides)
                bucket.stamp(row, isInserted: true, nil)
            } else if statement == .save {
                updating.first = row
                try writer.write([object], .update, updating, from: row)
            } else {
                try keep(row, object)
            }
        case .update, .updateColumns, .byCaller:
            if outcome != nil { overrides = bucket.resolvedOverrides(row, writer.run) }
            bucket.note(row..<row + 1, .written)
            try writer.note(.update, object, overrides, columns: columns)
            let creation =
                outcome == nil ? try writer.creation(of: object, overrides) : outcome?.creations[index]
            bucket.stamp(row, isInserted: false, nil, creation: creation)
        }
    }

    /// The key that the database gave a row.
    private func assignedKey(_ index: Int) -> Int64 {
        if let outcome { return outcome.assignedKey(index) }
        // The keys of rows that one statement inserts are consecutive.
        return writer.run.connection.lastInsertedRowID - Int64(rowsAtOnce - 1 - index % rowsAtOnce)
    }

    private func didWriteTogether(_ index: Int, _ row: Int, _ object: M) throws {
        overrides = bucket.resolvedOverrides(row, writer.run)
        let isInserted = outcome?.isInserted(index) == true
        bucket.note(row..<row + 1, isInserted ? .inserted : .written)
        if !isInserted, statement != .save { return try keep(row, object) }
        try writer.note(isInserted ? .insert : .update, object, overrides)
        bucket.stamp(row, isInserted: isInserted, nil, creation: outcome?.creations[index])
    }

    /// An existing linked object stays unchanged, except for references that other objects give it.
    private func keep(_ row: Int, _ object: M) throws {
        bucket.kept.insert(row)
        if writer.run.plan.rows[bucket.nodes[row]].isEdited {
            throw RelataError.invalidUse(
                "\(object.reference()) is stored already and only linked here, so its edits on links would be lost: link the object that 'save' returned, or its key, or save it itself"
            )
        }
        for case (let reference, let key?) in overrides {
            guard let own = bucket.keyValue(row: row) else { continue }
            try writer.run.setReference(
                writer.run.schema.references[reference], of: own, to: key, isPlaced: bucket.standIns[row] != nil)
        }
    }
}
