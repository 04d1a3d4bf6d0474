import RelataCore
import RelataEngine

extension Bucket {
    /// Finds the rows that have to wait, or to lose a partner, before others can be written.
    @usableFromInline
    package func prepare(_ run: WriteRun, _ order: WritePlan.Order) throws {
        if run.schema.uniqueSets[tableIndex].isEmpty { return }
        let sets = run.schema.uniqueSets[tableIndex].filter { set in
            guard let reference = set.reference, run.schema.references[reference].isEnforced, !isPlain else {
                return true
            }
            return !run.refersToNewObjects(number, by: reference)
        }
        if sets.isEmpty { return }
        // Objects that wait for others are stored; an object alone can only take the partner of a one-to-one.
        guard sets.contains(where: { $0.reference != nil }) || count > 1 && objects.indices.contains(where: canWait)
        else {
            return
        }
        let writer = RowWriter<M>(table: table, run: run)
        var claimants: [UniqueClaimant] = []
        claimants.reserveCapacity(count)
        for row in objects.indices where roles[row] != .byCaller {
            claimants.append(try claimant(row, writer))
        }
        var exchange = UniqueExchange(run, table, sets)
        try exchange.plan(claimants) { order.places(of: number, count: count) }
        takings = exchange.takings
    }

    private func claimant(_ row: Int, _ writer: RowWriter<M>) throws -> UniqueClaimant {
        let overrides = resolvedOverrides(row, writer.run)
        var values = try writer.columnValues(objects[row], overrides)
        // A new object's key has no references yet.
        for (reference, key) in overrides where key == nil {
            for column in writer.columnIndexes(of: reference) { values[column] = .null }
        }
        let identity = if case .match(let columns) = roles[row] { columns } else { table.keyColumns }
        return UniqueClaimant(
            row: row, values: values, columns: writtenColumns(row, writer),
            identity: identity, yields: roles[row] == .link && !keyless.contains(row), canWait: canWait(row),
            edited: overrides.map(\.reference))
    }

    private func canWait(_ row: Int) -> Bool {
        (roles[row] == .save || roles[row] == .update) && !keyless.contains(row)
    }

    /// Takes the partners of a row from the rows that have them.
    func takePartners(of row: Int, _ run: WriteRun) throws {
        for taking in takings[row] ?? [] {
            // A linked object that is stored stays unchanged.
            if roles[row] == .link, let key = keyValue(row: row), try run.connection.isStored(key, in: table) { return }
            try LinkWriter(run: run).free(
                run.schema.references[taking.reference], from: taking.partner, isCounted: taking.isCounted)
        }
    }
}
