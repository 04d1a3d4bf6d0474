/// Saves objects of a model without links: no graph to gather and no order to find, so that a batch runs at the speed of
/// its statement.
struct PlainSave<M: Model> {
    let connection: Connection
    let catalog: ModelCatalog
    let table: Table

    /// Validates and writes objects of one role.
    func write(_ objects: [M], as role: SaveRole) throws -> [M] {
        try validate(objects)
        if role != .insert { try refuseTwice(objects) }
        let session = SaveSession(connection: connection, catalog: catalog)
        let writer = RowWriter<M>(table: table, connection: connection, session: session)
        let mayChange = table.entity.isKeyAssigned || table.entity.hasStamps
        if role == .insert && !mayChange {
            try writer.insertAll(objects)
            return objects
        }
        var saved: [M] = []
        if mayChange { saved.reserveCapacity(objects.count) }
        for (number, object) in objects.enumerated() {
            if number & 0x3ff == 0x3ff, Task.isCancelled { throw CancellationError() }
            var isInserted = false
            var rowID: Int64?
            if role == .insert || role == .save && isNew(object, writer) {
                let inserted = try writer.insert(object, [])
                rowID = object.primaryKey == nil ? inserted : nil
                isInserted = true
            } else if role == .update || table.entity.revision != nil {
                try writer.update(object, columns: nil, [])
            } else {
                isInserted = try writer.save(object, [])
            }
            if mayChange {
                var state = SavedState(session: session, rowID: rowID, isInserted: isInserted)
                saved.append(M(saved: object, &state))
            }
        }
        return mayChange ? saved : objects
    }

    private func isNew(_ object: M, _ writer: RowWriter<M>) -> Bool {
        object.primaryKey == nil || table.entity.revision != nil && writer.revision(of: object) == 0
    }

    private func validate(_ objects: [M]) throws {
        var failures: [ValidationFailure] = []
        Validation.check(objects, table, &failures)
        if !failures.isEmpty { throw RelataError.validation(failures) }
    }

    private func refuseTwice(_ objects: [M]) throws {
        guard objects.count > 1 else { return }
        var seen: [M.Key: Int] = [:]
        seen.reserveCapacity(objects.count)
        for (index, object) in objects.enumerated() {
            guard let key = object.primaryKey else { continue }
            if let first = seen.updateValue(index, forKey: key), objects[first] != object {
                throw RelataError.invalidUse(
                    "\(object.reference()) is in the batch twice with different content: save one of them")
            }
        }
    }
}
