import RelataCore

/// What keeps a database small, and its planner informed.
extension ConnectionPool {
    /// Makes a database as small as what it holds, and counts anew what the planner goes by.
    ///
    /// - Parameter access: Of whoever wants it, who must see every row.
    package func compact(by access: Access) async throws {
        try access.requireEverything(for: "compacting")
        try await onOwnThread {
            try await self.alone { try $0.compact() }
        }
    }

    /// Makes a database as small as what it holds, on the calling thread.
    package func compact(by access: Access) throws {
        try access.requireEverything(for: "compacting")
        try withWriter { try $0.compact() }
    }
}

extension Connection {
    fileprivate func compact() throws(RelataError) {
        for statement in dialect == .sqlite ? ["VACUUM", "ANALYZE"] : ["VACUUM (ANALYZE)"] { try execute(statement) }
    }

    /// Counts anew what the planner goes by.
    ///
    /// - Parameter tables: The tables, in SQL.
    package func gatherStatistics(of tables: [String]) throws(RelataError) {
        for table in tables { try execute("ANALYZE \(table)") }
    }
}
