import RelataCore

/// Several queries that don't depend on each other. An engine that is reached over a connection is sent them together,
/// so that they wait for it once.
extension Connection {
    /// Runs queries, and passes the statement of each to `body`, which steps it and runs nothing else on the connection.
    ///
    /// - Parameter body: Also gets the query's number, and the number of rows it had the last time, which it replaces.
    package func withQueries(
        _ queries: [SQLStatement],
        _ body: (_ number: Int, _ statement: RunningStatement, _ rowCount: inout Int) throws -> Void
    ) throws {
        var number = 0
        while number < queries.count {
            let leased = try lease(queries[number...])
            defer { release(leased) }
            for statement in leased {
                try body(number, statement.running, &statement.rowCount)
                // Its rows shouldn't be in memory beside those of the next.
                statement.running.finish()
                number += 1
            }
        }
    }

    /// Runs queries, and passes each row of each to `body`, with the query's number.
    package func rows(
        _ queries: [SQLStatement], _ body: (_ number: Int, _ row: Row) throws(RelataError) -> Void
    ) throws(RelataError) {
        var number = 0
        while number < queries.count {
            let leased = try lease(queries[number...])
            defer { release(leased) }
            for statement in leased {
                while try step(statement.running) { try body(number, Row(statement.running)) }
                statement.running.finish()
                number += 1
            }
        }
    }

    /// Divides work into the parts whose queries are run together. An engine within the process reads one after the other,
    /// so each part is one item, and only one's keys are in memory.
    package func sentTogether<Work>(_ work: [Work]) -> [[Work]] {
        driver.capabilities.sendsTogether ? [work] : work.map { [$0] }
    }

    /// Statements for the first of some queries, with their values: for several if they are sent together, otherwise for
    /// one.
    private func lease(_ queries: ArraySlice<SQLStatement>) throws(RelataError) -> [Statement] {
        var leased: [Statement] = []
        do throws(RelataError) {
            for query in together(queries) {
                let statement = try lease(query.sql)
                leased.append(statement)
                try bind(query.parameters, to: statement.running)
            }
            if leased.count > 1 { try driver.send(leased.map(\.running)) }
        } catch {
            for statement in leased { release(statement) }
            throw error
        }
        return leased
    }

    /// The first of some queries, as many as are sent together. A text that occurs again waits, because its statement is
    /// in use: preparing another one would take as long.
    private func together(_ queries: ArraySlice<SQLStatement>) -> ArraySlice<SQLStatement> {
        guard queries.count > 1, driver.canSendTogether else { return queries.prefix(1) }
        var texts: Set<Value> = []
        return queries.prefix { texts.insert(.text($0.sql)).inserted }
    }

    private func release(_ statements: [Statement]) {
        if statements.count > 1 { driver.endSending() }
        for statement in statements { release(statement) }
    }
}
