import RelataRecords

extension ParseStore {
    /// Reads a single value, to check that the store answers. If the disk was full at the last write, a small write is
    /// tried too.
    ///
    /// - Throws: `RelataError` if it doesn't: it is closed, its file is damaged or missing, or the disk is still
    ///   full.
    public func check() async throws {
        try await read(as: .master) { transaction in
            try transaction.connection.driver.checkIsInPlace()
            _ = try RecordClasses.version(of: transaction.connection)
        }
        guard isDiskFull else { return }
        try await write(as: .master) { transaction in try KeptRequests.takeRoom(on: transaction.connection) }
    }
}
