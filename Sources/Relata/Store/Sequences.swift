// Saving more objects than memory should hold.

extension StoreWriter {
    /// Inserts the objects of a sequence, a thousand at a time, and returns how many there were: memory stays the same
    /// whatever their number.
    ///
    /// ```swift
    /// let count = try tx.insert(contentsOf: lines.lazy.map { Measurement(line: $0) })
    /// ```
    ///
    /// All are inserted or, if an error is thrown, none. An object may link to those that came before it, and brings
    /// new objects that it links to along; what only comes later isn't there yet. The sequence is asked for its objects
    /// while the transaction is open, and other writers wait meanwhile.
    ///
    /// - Throws: As ``insert(_:)-(M)``.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func insert<Objects: Sequence>(contentsOf objects: Objects) throws -> Int where Objects.Element: Model {
        try _writeOnce { try $0.write(contentsOf: objects, as: .insert) }
    }

    /// Inserts or updates the objects of a sequence, a thousand at a time, and returns how many there were: memory stays
    /// the same whatever their number.
    ///
    /// All are saved or, if an error is thrown, none. An object may link to those that came before it, and brings new
    /// objects that it links to along; what only comes later isn't there yet. Give each key once: twice in the same
    /// thousand is an error, and further apart the later one is written over the earlier.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save<Objects: Sequence>(contentsOf objects: Objects) throws -> Int where Objects.Element: Model {
        try _writeOnce { try $0.write(contentsOf: objects, as: .save) }
    }
}

extension Store {
    /// Inserts the objects of a sequence, a thousand at a time, in one transaction, and returns how many there were.
    ///
    /// - Throws: As the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func insert<Objects: Sequence>(contentsOf objects: sending Objects) async throws -> Int
    where Objects.Element: Model {
        let sent = SentSequence(objects: AnySequence(objects))
        return try await _writeOnce { try $0.write(contentsOf: sent.objects, as: .insert) }
    }

    /// Inserts or updates the objects of a sequence, a thousand at a time, in one transaction, and returns how many there
    /// were.
    ///
    /// - Throws: As the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func save<Objects: Sequence>(contentsOf objects: sending Objects) async throws -> Int
    where Objects.Element: Model {
        let sent = SentSequence(objects: AnySequence(objects))
        return try await _writeOnce { try $0.write(contentsOf: sent.objects, as: .save) }
    }
}

extension Store {
    /// Inserts what an asynchronous sequence brings, a thousand objects at a time, and returns how many there were.
    ///
    /// ```swift
    /// let count = try await store.insert(contentsOf: url.lines.map { Measurement(line: $0) })
    /// ```
    ///
    /// Each thousand is a transaction of its own, which begins when it is there: nobody waits while the sequence does. If
    /// an error is thrown, by the sequence or by the store, the thousands before it stay, and nothing later is asked for.
    @discardableResult
    public func insert<Objects: AsyncSequence>(contentsOf objects: sending Objects) async throws -> Int
    where Objects.Element: Model {
        try await write(eachThousandOf: objects, as: .insert)
    }

    /// Inserts or updates what an asynchronous sequence brings, a thousand objects at a time, each thousand in a
    /// transaction of its own, and returns how many there were. See ``insert(contentsOf:)``.
    ///
    /// - Throws: What the sequence throws; ``RelataError`` for an object that can't be saved.
    @discardableResult
    public func save<Objects: AsyncSequence>(contentsOf objects: sending Objects) async throws -> Int
    where Objects.Element: Model {
        try await write(eachThousandOf: objects, as: .save)
    }

    private func write<Objects: AsyncSequence>(
        eachThousandOf objects: sending Objects, as role: SaveRole
    ) async throws -> Int where Objects.Element: Model {
        var count = 0
        var chunk: [Objects.Element] = []
        for try await object in objects {
            chunk.append(object)
            if chunk.count < 1000 { continue }
            count += try await _writeOnce { [chunk] in try $0.write(chunk, as: role).count }
            chunk.removeAll(keepingCapacity: true)
        }
        if !chunk.isEmpty { count += try await _writeOnce { [chunk] in try $0.write(chunk, as: role).count } }
        return count
    }
}

extension WriteTransaction {
    fileprivate func write<Objects: Sequence>(contentsOf objects: Objects, as role: SaveRole) throws -> Int
    where Objects.Element: Model {
        try atomically {
            var count = 0
            var chunk: [Objects.Element] = []
            chunk.reserveCapacity(1000)
            for object in objects {
                chunk.append(object)
                if chunk.count < 1000 { continue }
                if Task.isCancelled { throw CancellationError() }
                count += try write(chunk, as: role).count
                chunk.removeAll(keepingCapacity: true)
            }
            return try count + write(chunk, as: role).count
        }
    }
}

/// A sequence on its way into a transaction. Safe to send: its sender gave it away, and the one transaction of the call
/// is all that reads it.
private struct SentSequence<Element>: @unchecked Sendable {
    let objects: AnySequence<Element>
}
