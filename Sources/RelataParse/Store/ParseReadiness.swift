extension ParseStore {
    /// Reads a trifle, to see whether the store answers.
    ///
    /// - Throws: ``RelataError`` where it doesn't: it is closed, or its file is damaged or gone.
    public func check() async throws {
        try await read { transaction in _ = try ParseMetadata.version(of: transaction.connection) }
    }
}
