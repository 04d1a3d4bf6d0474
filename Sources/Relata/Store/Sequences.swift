// Saving more objects than memory should hold.

extension StoreWriter {
    /// Inserts the objects of a sequence, a thousand at a time, in constant memory, and returns their number.
    ///
    /// ```swift
    /// let count = try tx.insert(contentsOf: lines.lazy.map { Measurement(line: $0) })
    /// ```
    ///
    /// All are inserted or, if an error is thrown, none. An object may link to those that precede it, and new linked
    /// objects are inserted with it; later ones don't exist yet. The sequence is iterated while the transaction is
    /// open, and other writers wait.
    ///
    /// - Throws: The errors of `insert(_:)`.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func insert<Objects: Sequence>(contentsOf objects: Objects) throws -> Int where Objects.Element: Model {
        try _writeOnce { try $0.write(contentsOf: objects, as: .insert) }
    }

    /// Inserts or updates the objects of a sequence, a thousand at a time, in constant memory, and returns their
    /// number.
    ///
    /// All are saved or, if an error is thrown, none. An object may link to those that precede it, and new linked
    /// objects are inserted with it; later ones don't exist yet. Give each key once: twice in the same thousand is an
    /// error, and further apart the later one overwrites the earlier.
    ///
    /// - Throws: The errors of `save(_:)`, and ``RelataError/alreadyExists(_:)`` for a key that is given twice in a
    ///   thousand.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func save<Objects: Sequence>(contentsOf objects: Objects) throws -> Int where Objects.Element: Model {
        try _writeOnce { try $0.write(contentsOf: objects, as: .save) }
    }
}

extension Store {
    /// Inserts the objects of a sequence, a thousand at a time, in one transaction, and returns their number.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func insert<Objects: Sequence>(contentsOf objects: sending Objects) async throws -> Int
    where Objects.Element: Model {
        let sent = SentSequence(objects: AnySequence(objects))
        return try await _writeOnce { try $0.write(contentsOf: sent.objects, as: .insert) }
    }

    /// Inserts or updates the objects of a sequence, a thousand at a time, in one transaction, and returns their
    /// number.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func save<Objects: Sequence>(contentsOf objects: sending Objects) async throws -> Int
    where Objects.Element: Model {
        let sent = SentSequence(objects: AnySequence(objects))
        return try await _writeOnce { try $0.write(contentsOf: sent.objects, as: .save) }
    }
}

extension Store {
    /// Inserts the objects of an asynchronous sequence, a thousand at a time, and returns their number.
    ///
    /// ```swift
    /// let count = try await store.insert(contentsOf: url.lines.map { Measurement(line: $0) })
    /// ```
    ///
    /// Each thousand is a separate transaction, which begins when its objects are available: others don't wait for the
    /// sequence. After an error, by the sequence or by the store, the earlier thousands stay, and no further object is
    /// requested.
    ///
    /// - Throws: The errors of the sequence; ``RelataError`` for an object that can't be saved.
    @discardableResult
    public func insert<Objects: AsyncSequence>(contentsOf objects: sending Objects) async throws -> Int
    where Objects.Element: Model {
        try await write(eachThousandOf: objects, as: .insert)
    }

    /// Inserts or updates the objects of an asynchronous sequence, a thousand at a time, each thousand in a separate
    /// transaction, and returns their number. See `insert(contentsOf:)`.
    ///
    /// - Throws: The errors of the sequence; ``RelataError`` for an object that can't be saved.
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

/// A sequence on its way into a transaction. Safe to send: its sender gave it away, and only the call's one transaction
/// reads it.
private struct SentSequence<Element>: @unchecked Sendable {
    let objects: AnySequence<Element>
}
