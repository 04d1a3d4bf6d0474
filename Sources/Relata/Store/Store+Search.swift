import RelataEngine

extension StoreWriter {
    /// Makes the index of every search anew, with the words of all objects: what ``StoreReader/check()`` advises where one
    /// is damaged, or misses objects.
    ///
    /// Nobody else writes meanwhile. A large store takes as long as it would to save all its objects.
    ///
    /// - Returns: The names of the models that are searched.
    /// - Throws: ``RelataError`` where the database can't be written.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func rebuildSearch() throws -> [String] { try _writeOnce { try $0.remakeSearch() } }
}

extension Store {
    /// Makes the index of every search anew: see ``StoreWriter/rebuildSearch()``.
    ///
    /// - Throws: As the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func rebuildSearch() async throws -> [String] { try await _writeOnce { try $0.remakeSearch() } }
}

extension WriteTransaction {
    fileprivate func remakeSearch() throws -> [String] {
        try access.requireEverything(for: "making a search anew")
        return try connection.rebuildSearch(schema)
    }
}
