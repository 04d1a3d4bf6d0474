import RelataCore

/// Rows of a join table that are collected from the edits of several objects, and inserted with one statement if the
/// engine takes many rows with each.
final class JoinBatch {
    private struct Row {
        let owner: PlannedKey
        let member: PlannedKey
        let place: Int64?
    }

    private let run: WriteRun
    private let rows: JoinRows
    private var pending: [Row] = []

    /// `nil` if the engine takes rows one by one, or a row depends on those before it.
    init?(_ run: WriteRun, _ rows: JoinRows) {
        guard run.connection.driver.capabilities.rowsTogether > 1, rows.areInsertedTogether else { return nil }
        self.run = run
        self.rows = rows
    }

    /// Takes edits that only add members, to an object without any if the order matters.
    ///
    /// - Returns: Whether they were taken.
    func take(_ edits: LinkEdits, _ list: OrderedList?) throws -> Bool {
        let isNew = rows.isNew(edits.owner)
        var added: [PlannedKey] = []
        for (number, change) in edits.changes.enumerated() {
            switch change {
            case .add(let member): added.append(member)
            case .set(let members) where isNew && number == 0: added += members
            case .set, .place, .remove: return false
            }
        }
        guard var list else {
            for member in added where !member.isDropped {
                pending.append(Row(owner: edits.owner, member: member, place: nil))
            }
            return true
        }
        // In a list with members, positions change.
        guard isNew, !added.contains(where: \.isDropped) else { return false }
        let keys = try added.map(run.key)
        guard Set(keys).count == keys.count else { return false }
        list.set(keys)
        let places = list.changedPositions()
        guard places.count == keys.count else { return false }
        let placed = Dictionary(places) { first, _ in first }
        for (member, key) in zip(added, keys) {
            pending.append(Row(owner: edits.owner, member: member, place: placed[key]))
        }
        return true
    }

    /// Inserts the rows that were collected.
    func write() throws {
        let all = pending
        pending = []
        guard all.count > 1 else { return try writeSingly(all[...]) }
        let count = run.connection.driver.capabilities.rowsTogether
        for start in stride(from: 0, to: all.count, by: count) {
            let part = all[start..<min(start + count, all.count)]
            if try !write(part) { try writeSingly(part) }
        }
    }

    /// Inserts rows with one statement.
    ///
    /// - Returns: Whether they are inserted. If one is refused, none is, and separate statements find the cause.
    private func write(_ part: ArraySlice<Row>) throws -> Bool {
        let connection = run.connection
        let isRecorded = connection.recorder?.listsRows == true
        let isPlaced = part.first?.place != nil
        guard part.allSatisfy({ ($0.place != nil) == isPlaced }) else { return false }
        let sql = rows.insertTogether(isPlaced: isPlaced, tells: isRecorded)
        return try connection.withStatement(sql) { statement in
            guard let collector = connection.driver.collector(for: statement) else { return false }
            let target = RunningStatement(collector)
            do {
                for row in part {
                    try rows.noteCounts(owner: row.owner, member: row.member)
                    var binder = Binder(target)
                    guard try run.bind(row.owner, to: &binder), try run.bind(row.member, to: &binder) else {
                        throw JoinRows.withoutKey
                    }
                    if let place = row.place { try StatementParameter(target, binder.index).bind(place) }
                    if target.step() != .done, let failure = collector.failure { throw failure }
                }
                _ = try collector.write()
            } catch {
                try collector.discard()
                guard ConstraintErrors.isOfConstraint(error) else { throw error }
                return false
            }
            if isRecorded { try rows.recordReturned(collector) }
            return true
        }
    }

    private func writeSingly(_ part: ArraySlice<Row>) throws {
        for row in part { try rows.insert(row.member, to: row.owner, at: row.place) }
    }
}
