/// Saves each object separately, in the required order, and keeps the error of each that fails.
///
/// The engine's refusal is the result: only it knows all constraints and triggers, and what a query found before may be
/// outdated when the object is written.
struct IndependentSave {
    let transaction: WriteTransaction

    func save(_ objects: [any Model]) throws -> [Result<any Model, any Error>] {
        let order = try order(objects)
        var results: [Result<any Model, any Error>?] = Array(repeating: nil, count: objects.count)
        var failed: Set<ObjectReference> = []
        for index in order {
            let object = objects[index]
            do {
                results[index] = .success(try transaction.savepoint { _ in try save(object, avoiding: failed) })
            } catch let error as CancellationError {
                throw error
            } catch {
                if !transaction.connection.isInTransaction { throw error }  // the disk is full: all is rolled back
                // Only objects that depend on a failed new object fail with it: a stored one still exists.
                if try !isStored(object) { failed.insert(object.reference()) }
                results[index] = .failure(error)
            }
        }
        return results.map { $0 ?? .failure(RelataError.invalidUse("the object wasn't reached")) }
    }

    private func isStored<M: Model>(_ object: M) throws -> Bool {
        guard let key = object.primaryKey else { return false }
        return try transaction.connection.isStored(M.keyValue(key), in: transaction.catalog.table(M.self))
    }

    /// The order of the whole batch, as for a batch that is saved in one call.
    private func order(_ objects: [any Model]) throws -> [Int] {
        let session = transaction.makeSession()
        var places: [Int: [Int]] = [:]
        for (index, object) in objects.enumerated() {
            // A repeated object is an error of the second, found when it is saved.
            if let node = try? session.add(object, as: .save) { places[node, default: []].append(index) }
        }
        var order = try session.plannedOrder().flatMap { places[$0] ?? [] }
        let planned = Set(order)
        order += objects.indices.filter { !planned.contains($0) }
        return order
    }

    private func save<M: Model>(_ object: M, avoiding failed: Set<ObjectReference>) throws -> M {
        try transaction.refuseHidden(object)
        let session = transaction.makeSession()
        let node = try session.add(object, as: .save)
        try session.gather()
        if let (reference, property) = session.firstReference(to: failed, from: node) {
            throw RelataError.invalidReference(entity: M.entityName, property: property, key: reference.key)
        }
        try session.save()
        try session.finish([node])
        return session.finished(node, as: M.self)
    }
}
