import RelataEngine

extension StoreWriter {
    /// Rebuilds the index of every search, with the words of all objects: ``StoreReader/check()`` advises it for an
    /// index that is damaged, or lacks objects.
    ///
    /// Other writers wait. A large store takes as long as saving all its objects.
    ///
    /// - Returns: The names of the models that are searched.
    /// - Throws: ``RelataError`` if the database can't be written.
    @discardableResult
    @available(*, noasync, message: "write 'try await'; in a main.swift, only inside an async function")
    public func rebuildSearch() throws -> [String] { try _writeOnce { try $0.remakeSearch() } }
}

extension Store {
    /// Rebuilds the index of every search: see ``StoreWriter/rebuildSearch()``.
    ///
    /// - Throws: The errors of the call without `async`; `CancellationError` for a cancelled task.
    @discardableResult
    public func rebuildSearch() async throws -> [String] { try await _writeOnce { try $0.remakeSearch() } }
}

extension WriteTransaction {
    fileprivate func remakeSearch() throws -> [String] {
        try requireEverything(for: "rebuilding a search")
        return try connection.rebuildSearch(schema)
    }
}
