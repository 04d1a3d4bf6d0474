#if PostgreSQL
import RelataCPQ
import RelataCore

/// A statement together with others that begin or end a transaction around it, in one round trip.
extension Session {
    /// Runs a prepared statement between others that have neither parameters nor rows. If one fails, those after it
    /// don't run.
    ///
    /// - Parameter last: A statement that runs right after it.
    func execute(
        _ statement: PreparedStatement, _ parameters: ParameterBuffer, between before: [String],
        then last: OwnStatement? = nil, _ after: [String]
    ) throws(PostgresFailure) -> ResultSet {
        if before.isEmpty, last == nil, after.isEmpty { return try execute(statement, parameters) }
        try check(statement, parameters)
        return try parameters.withPointers { values, lengths, formats in
            Result { () throws(PostgresFailure) in
                try execute(
                    statement,
                    Parameters(
                        count: Int32(parameters.count), values: values, lengths: lengths, formats: formats),
                    between: before, then: last, after)
            }
        }.get()
    }

    /// A version with parameters in libpq's form.
    func execute(
        _ statement: PreparedStatement, _ parameters: Parameters, between before: [String],
        then last: OwnStatement? = nil, _ after: [String]
    ) throws(PostgresFailure) -> ResultSet {
        let handle = try ready()
        try check(statement)
        if let last { try check(last.statement, last.parameters) }
        guard PQenterPipelineMode(handle) == 1 else { throw failure(nil, sql: statement.sql) }
        let isSent =
            before.allSatisfy { send($0, handle) }
            && send(
                statement, count: Int(parameters.count), parameters.values, parameters.lengths, parameters.formats,
                handle)
            && (last.map { send($0.statement, $0.parameters, handle) } ?? true)
            && after.allSatisfy { send($0, handle) } && PQpipelineSync(handle) == 1
        guard isSent else {
            let failure = failure(nil, sql: statement.sql)
            leavePipelineMode(handle)
            throw failure
        }
        var rows: OpaquePointer?
        var failed: PostgresFailure?
        // Each statement's results end with a missing one.
        var place = 0
        results: while true {
            guard let result = nextResult(handle) else {
                place += 1
                if PQstatus(handle) == CONNECTION_OK { continue }
                failed = failed ?? failure(nil, sql: statement.sql)
                break
            }
            switch PQresultStatus(result) {
            case PGRES_PIPELINE_SYNC:
                PQclear(result)
                break results
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                if place == before.count, rows == nil { rows = result } else { PQclear(result) }
            case PGRES_PIPELINE_ABORTED: PQclear(result)
            case let status:
                failed = failed ?? unusable(result, status, sql: statement.sql)
                PQclear(result)
            }
        }
        leavePipelineMode(handle)
        if let failed {
            PQclear(rows)
            throw failed
        }
        guard let rows else { throw failure(nil, sql: statement.sql) }
        return try self.rows(rows, of: statement)
    }

    private func send(_ sql: String, _ handle: OpaquePointer) -> Bool {
        PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 0) == 1
    }
}
#endif
