public import Relata

extension StoreWriter {
    /// Fills the store with a sample: objects of a model, and of all models that it is linked to, with values and links
    /// that are the same for the same seed in a new store on every machine.
    ///
    /// ```swift
    /// let books = try tx.insertSample(Book.self, count: 20, seed: 7)
    /// ```
    ///
    /// - Every attribute gets a value that meets its limits and unique sets; one that may be unset is so now and then.
    /// - Every to-one gets a target, one that may be unset mostly; lists get members within their declared counts.
    /// - Of each model that can be reached over links, `related` objects are made, or as many as required links and
    ///   counts need. Of one that the store has objects of, those are linked to instead: to have samples of your own,
    ///   insert them first.
    /// - What `validate()` refuses is made anew, up to a hundred times.
    ///
    /// Enums must be `CaseIterable` or have numbers as raw values; `Codable` types are made by their own decoding. Other
    /// types, and those whose values should mean something, conform to ``SampleValue``; what can't be made is unset or
    /// the attribute's default, where it may be. Patterns may hold characters, classes, groups, alternatives and
    /// repetitions; an attribute with another pattern is for `adjust` to set.
    ///
    /// Rows are written as SQL of one's own would be, so observers learn of tables and not of objects. With `adjust` the
    /// objects are saved once more: their stamps of update are of now.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - count: How many objects of it are made.
    ///   - related: How many objects of each other model are made; `count` by default.
    ///   - seed: What all random numbers follow from.
    ///   - adjust: Changes each object of the model before it is written: its attributes, links and edits on links.
    /// - Returns: The objects of the model, in the order in which they were made.
    /// - Throws: ``RelataError/invalidUse(_:)`` where an object can't be made, with the property and the mend, and
    ///   whatever `adjust` throws. Nothing is written then.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func insertSample<M: Model>(
        _ model: M.Type, count: Int, related: Int? = nil, seed: UInt64,
        adjust: ((_ object: inout M, _ random: inout SampleRandom) throws -> Void)? = nil
    ) throws -> [M] {
        try write { transaction in
            try transaction.savepoint { transaction in
                try SampleGraph(count: count, related: related ?? count, seed: seed, adjust: adjust, in: transaction)
                    .insert()
            }
        }
    }
}

extension Store {
    /// Fills the store with a sample: objects of a model, and of all models that it is linked to, with values and links
    /// that are the same for the same seed on every machine. What it makes stands with the same call of ``StoreWriter``.
    ///
    /// ```swift
    /// let books = try await store.insertSample(Book.self, count: 20, seed: 7) { book, random in
    ///     book.year = .random(in: 1950...2020, using: &random)
    /// }
    /// ```
    ///
    /// - Throws: The errors of the call without `async`.
    @discardableResult
    public func insertSample<M: Model>(
        _ model: M.Type, count: Int, related: Int? = nil, seed: UInt64,
        adjust: (@Sendable (_ object: inout M, _ random: inout SampleRandom) throws -> Void)? = nil
    ) async throws -> [M] {
        try await write { try $0.insertSample(model, count: count, related: related, seed: seed, adjust: adjust) }
    }
}
