import RelataRecords

extension ParseStore {
    /// Reads a trifle, to see whether the store answers. Where the disk was full when something was written last, a little
    /// is written, too.
    ///
    /// - Throws: ``RelataError`` where it doesn't: it is closed, its file is damaged or gone, or the disk is still full.
    public func check() async throws {
        try await read(as: .master) { transaction in
            try transaction.connection.driver.checkIsInPlace()
            _ = try RecordClasses.version(of: transaction.connection)
        }
        guard isDiskFull else { return }
        try await write(as: .master) { transaction in try KeptRequests.takeRoom(on: transaction.connection) }
    }
}
