import Foundation
import RelataCore
import RelataEngine

/// Rows that one statement writes together, on engines whose statements each take a round trip.
extension RowWriter {
    /// Whether the engine takes many rows with one statement.
    var writesTogether: Bool { connection.driver.capabilities.rowsTogether > 1 }

    /// Writes objects, many with each statement. If a statement is refused, its rows are written again in halves, so
    /// that the error belongs to the first object that can't be written, as if they had been written one by one.
    ///
    /// - Parameter first: The bucket's row of the first one.
    func writeTogether(_ objects: [M], _ kind: RowStatement, _ observer: BucketWrite<M>?, from first: Int) throws {
        let group = RowGroup(writer: self, objects: objects, kind: kind, observer: observer, first: first)
        for part in parts(of: objects, kind) {
            if try group.copy(part) { continue }
            let count = connection.driver.capabilities.rowsTogether
            for start in stride(from: part.lowerBound, to: part.upperBound, by: count) {
                try group.write(start..<min(start + count, part.upperBound))
            }
        }
    }

    /// The objects that can be inserted with one statement: either all or none of them have a key.
    private func parts(of objects: [M], _ kind: RowStatement) -> [Range<Int>] {
        guard kind == .insert, table.entity.isKeyAssigned else { return [0..<objects.count] }
        var parts: [Range<Int>] = []
        var start = 0
        for index in objects.indices where index > start {
            let isLike = (objects[index].primaryKey == nil) == (objects[start].primaryKey == nil)
            if isLike { continue }
            parts.append(start..<index)
            start = index
        }
        return parts + [start..<objects.count]
    }
}

/// Objects of one model that are written in one way.
private final class RowGroup<M: Model> {
    private let writer: RowWriter<M>
    private let objects: [M]
    private let kind: RowStatement
    private let observer: BucketWrite<M>?
    private let first: Int
    /// Whether linked objects are treated as new ones, until one is found to exist: most are new, and can then be copied.
    /// `ON CONFLICT` takes 1.5 times as long as a plain insertion of 2,000 rows, and a query for their keys before it
    /// 1.4 times.
    private var areTakenForNew: Bool

    init(writer: RowWriter<M>, objects: [M], kind: RowStatement, observer: BucketWrite<M>?, first: Int) {
        self.writer = writer
        self.objects = objects
        self.kind = kind
        self.observer = observer
        self.first = first
        areTakenForNew = kind == .insertIfAbsent && writer.bucket?.confirmed.isEmpty == true
    }

    private var connection: Connection { writer.connection }
    private var table: Table { writer.table }

    /// Copies new objects into their table, if that is faster.
    ///
    /// - Returns: Whether they are written. If they can't be copied, nothing has happened.
    func copy(_ range: Range<Int>) throws -> Bool {
        // A copy neither returns assigned values nor advances a sequence.
        guard kind == .insert || areTakenForNew, range.count >= connection.driver.capabilities.rowsCopied,
            !table.entity.isKeyAssigned
        else { return false }
        return try withCollector(range) { collector in
            guard let copier = try connection.driver.copier(into: table, like: collector) else { return false }
            do {
                try collect(range, copier)
                _ = try copier.write()
            } catch {
                // The cause is found by writing the rows in another way.
                try copier.discard()
                guard canBeExplained(error) else { throw error }
                areTakenForNew = false
                return false
            }
            try tell(range, RowsOutcome(first: range.lowerBound))
            return true
        } ?? false
    }

    /// Writes objects with one statement, or finds the one that can't be written.
    func write(_ range: Range<Int>) throws {
        if Task.isCancelled { throw CancellationError() }
        if range.count == 1 { return try writeOne(range.lowerBound) }
        let isWritten = try withCollector(range) { collector in
            do {
                try collect(range, collector)
                _ = try collector.write()
            } catch {
                try collector.discard()
                guard canBeExplained(error) else { throw error }
                return false
            }
            try tell(range, outcome(of: range, collector))
            return true
        }
        guard let isWritten else {
            for index in range { try writeOne(index) }
            return
        }
        if isWritten { return }
        if areTakenForNew {
            areTakenForNew = false
            return try write(range)
        }
        let middle = range.lowerBound + range.count / 2
        try write(range.lowerBound..<middle)
        try write(middle..<range.upperBound)
    }

    /// Writes one object by itself, for its error.
    private func writeOne(_ index: Int) throws {
        let row = first + index
        let observer = observer == nil ? nil : writer.bucket.map { BucketWrite($0, writer, kind, first: row) }
        try writer.write([objects[index]], kind, observer, from: row)
    }

    private func collect(_ range: Range<Int>, _ rows: RemoteRows) throws {
        var loop = WriteLoop(collecting: range, of: objects, rows, observer)
        defer { if loop.hasRounded { writer.bucket?.hasRounded = true } }
        try M.write(&loop)
        if loop.result != .done { throw rows.failure ?? .database(code: 0, message: "rows weren't taken", sql: nil) }
    }

    /// Provides the collector of the objects for their statement; `nil` if they are written one by one.
    private func withCollector<Result>(_ range: Range<Int>, _ body: (RemoteRows) throws -> Result) throws -> Result? {
        func collect(_ statement: RunningStatement) throws -> Result? {
            guard let collector = connection.driver.collector(for: statement) else { return nil }
            return try body(collector)
        }
        if let columns = observer?.columns {
            return try connection.withStatement(
                writer.rowSQL.updateTogether(table, writer.run.schema, columns: columns), collect)
        }
        return try writer.withStatement(slot(range), collect)
    }

    private func slot(_ range: Range<Int>) -> RowSQL.Slot {
        switch kind {
        case .insert, .match: isAssigned(range) ? .insertAssigning : .insertTogether
        case .insertIfAbsent: areTakenForNew ? .insertTogether : .insertAbsent
        case .save: observer == nil ? .save : .saveTelling
        case .update, .updateColumns, .byCaller: .updateTogether
        }
    }

    private func isAssigned(_ range: Range<Int>) -> Bool {
        table.entity.isKeyAssigned && objects[range.lowerBound].primaryKey == nil
    }

    private func outcome(of range: Range<Int>, _ rows: RemoteRows) throws -> RowsOutcome {
        let first = range.lowerBound
        switch slot(range) {
        case .insertAssigning:
            let outcome = try RowsOutcome(assignedKeysOf: rows, first: first)
            guard outcome.assignedCount == range.count else {
                throw RelataError.invalidUse(
                    "a trigger or a rule of the database kept some \(table.name) from being inserted: make it accept them"
                )
            }
            return outcome
        case .insertAbsent, .saveTelling, .updateTogether:
            let creation = table.entity.createdAt.flatMap { table.columnIndexes(of: $0).first }
            return try RowsOutcome(
                rowsOf: rows, first: first, count: range.count,
                createdAt: creation.map { table.columns[$0].type })
        default: return RowsOutcome(first: first)
        }
    }

    /// Records the results of the objects.
    private func tell(_ range: Range<Int>, _ outcome: RowsOutcome) throws {
        let updates = kind.slot == .update
        if let observer {
            observer.outcome = outcome
            defer { observer.outcome = nil }
            for index in range {
                // It doesn't exist, or the same statement has written it before.
                if updates, !outcome.isWritten(index) { try writeOne(index) } else { try observer.didWrite(index) }
            }
        } else if updates {
            for index in range where !outcome.isWritten(index) { try writeOne(index) }
        } else if kind == .insertIfAbsent {
            for index in range where !outcome.isInserted(index) { writer.bucket?.kept.insert(first + index) }
        }
    }

    /// Whether an error is about an object, which another try with fewer of them names.
    private func canBeExplained(_ error: any Error) -> Bool {
        switch error {
        case RelataError.database(_, _, _), RelataError.validation, RelataError.invalidUse:
            connection.isInTransaction && !((error as? RelataError)?.isInterruption ?? false)
        default: false
        }
    }
}
