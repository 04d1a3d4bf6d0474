public import Relata

extension StoreWriter {
    /// Fills the store with a sample: objects of a model, and of all models that it links to. Their values and links
    /// are equal for equal seeds in new stores on every machine.
    ///
    /// ```swift
    /// let books = try tx.insertSample(Book.self, count: 20, seed: 7)
    /// ```
    ///
    /// - Every attribute gets a value that meets its limits and unique sets; optional attributes are sometimes unset.
    /// - Every to-one gets a target, optional ones in most cases; lists get members within their declared counts.
    /// - For each model that links can reach, `related` objects are created, or the number that required links and
    ///   counts need. If the store already has objects of the model, they become the targets instead: insert your own
    ///   samples first.
    /// - Objects that `validate()` refuses are generated again, up to a hundred times.
    ///
    /// Enums must be `CaseIterable` or have numbers as raw values; `Codable` types generate themselves by decoding.
    /// Conform other types, and types whose values should be meaningful, to ``SampleValue``. A value that can't be
    /// generated is unset or the attribute's default, if that is allowed. Patterns may contain characters, classes,
    /// groups, alternatives and repetitions; set attributes with other patterns in `adjust`.
    ///
    /// The rows are written with SQL, so observers learn of changed tables, not of objects. With `adjust`, the objects
    /// are saved again: their update stamps have the current time.
    ///
    /// - Parameters:
    ///   - model: The model.
    ///   - count: The number of objects of it to create.
    ///   - related: The number of objects of each other model to create; `count` by default.
    ///   - seed: The seed of all random numbers.
    ///   - adjust: Changes each object of the model before it is written: its attributes, links and edits on links.
    /// - Returns: The objects of the model, in the order of their creation.
    /// - Throws: `RelataError.invalidUse` if an object can't be created, with the property and a solution, and
    ///   the errors of `adjust`. After an error, nothing is written.
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
    /// Fills the store with a sample: objects of a model, and of all models that it links to. Their values and links
    /// are equal for equal seeds on every machine. The call of ``StoreWriter`` describes the sample.
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
