import RelataCore

/// Saves objects of a model without links: no graph to gather and no order to find, so that a batch runs at the speed
/// of its statement.
struct PlainSave<M: Model> {
    let session: SaveSession
    let table: Table
    /// Whether the transaction does nothing else.
    let isOneCall: Bool

    /// Validates and writes objects of one role.
    func write(_ objects: [M], as role: SaveRole) throws -> [M] {
        var failures: [ValidationFailure] = []
        Validation.check(objects, table, &failures)
        try Validation.refuse(failures)
        if role != .insert { try refuseTwice(objects) }
        let bucket = Bucket(table, session, plain: objects, as: role)
        bucket.endsTransaction = isOneCall && objects.count == 1
        try bucket.prepare(session.run, WritePlan.Order(ofBatchWith: objects.count))
        try bucket.write(objects.indices, session.run)
        bucket.roundAll(session)
        return bucket.objects
    }

    private func refuseTwice(_ objects: [M]) throws {
        guard objects.count > 1 else { return }
        var seen: [StoredKey<M>: Int] = [:]
        seen.reserveCapacity(objects.count)
        for (index, object) in objects.enumerated() {
            guard let key = object.ownKey else { continue }
            if let first = seen.updateValue(index, forKey: key), objects[first] != object {
                throw RelataError.invalidUse(
                    "\(object.reference()) is in the batch twice with different content: save one of them")
            }
        }
    }
}
