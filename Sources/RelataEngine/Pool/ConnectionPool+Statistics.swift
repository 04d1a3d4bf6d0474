import RelataCore

/// Keeps a database small, and its planner's statistics current.
extension ConnectionPool {
    /// Shrinks a database to its contents, and updates the planner's statistics.
    ///
    /// - Parameter access: The caller's access, which must include every row.
    package func compact(by access: Access) async throws {
        try access.requireEverything(for: "compacting")
        try await onOwnThread {
            try await self.alone { try $0.compact() }
        }
    }

    /// Shrinks a database to its contents, on the calling thread.
    package func compact(by access: Access) throws {
        try access.requireEverything(for: "compacting")
        try withWriter { try $0.compact() }
    }
}

extension Connection {
    fileprivate func compact() throws(RelataError) {
        for statement in dialect == .sqlite ? ["VACUUM", "ANALYZE"] : ["VACUUM (ANALYZE)"] { try execute(statement) }
    }

    /// Updates the planner's statistics.
    ///
    /// - Parameter tables: The tables, in SQL.
    package func gatherStatistics(of tables: [String]) throws(RelataError) {
        for table in tables { try execute("ANALYZE \(table)") }
    }
}
