import RelataCore

extension CopiedTable {
    /// Inserts rows that have a value for each column, in the open transaction.
    package func insert(_ rows: [[Value]], on connection: Connection) throws {
        if rows.isEmpty { return }
        try connection.withStatement(insertion(connection.dialect)) { statement in
            if let collector = connection.driver.collector(for: statement) {
                let collecting = RunningStatement(collector)
                for row in rows {
                    try bind(row, to: collecting)
                    guard collecting.step().isError else { continue }
                    throw collector.failure ?? .database(code: 0, message: "rows weren't taken", sql: nil)
                }
                _ = try collector.write()
                return
            }
            for row in rows {
                try bind(row, to: statement)
                _ = try connection.step(statement)
                statement.reset()
            }
        }
    }

    private func bind(_ row: [Value], to statement: RunningStatement) throws(RelataError) {
        for (index, value) in row.enumerated() { try StatementParameter(statement, Int32(index + 1)).bind(value) }
    }
}

extension RelataError {
    /// Whether other values may be used if these are refused.
    package var isAboutValues: Bool {
        switch self {
        case .database, .uniqueViolation, .invalidUse: !isInterruption
        default: false
        }
    }
}
