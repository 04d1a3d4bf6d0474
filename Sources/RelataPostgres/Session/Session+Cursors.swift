#if PostgreSQL
import RelataCPQ
import RelataCore

/// Cursors: rows that are fetched part by part, with other statements in between.
extension Session {
    /// Declares a cursor for a query whose parameters are those of a prepared statement.
    func declare(
        _ sql: String, like statement: PreparedStatement, _ parameters: ParameterBuffer
    ) throws(PostgresFailure) {
        let handle = try ready()
        try check(statement, parameters)
        var types = statement.parameters.map(\.oid)
        let result = parameters.withPointers { values, lengths, formats in
            PQexecParams(handle, sql, Int32(parameters.count), &types, values, lengths, formats, 0)
        }
        guard let result else { throw failure(nil, sql: sql) }
        defer { PQclear(result) }
        guard PQresultStatus(result) == PGRES_COMMAND_OK else { throw failure(result, sql: sql) }
    }

    /// Rows of a cursor, in the form of the statement that it was declared for.
    func fetch(_ sql: String, like statement: PreparedStatement) throws(PostgresFailure) -> ResultSet {
        let handle = try ready()
        guard let result = PQexecParams(handle, sql, 0, nil, nil, nil, nil, statement.isBinary ? 1 : 0) else {
            throw failure(nil, sql: sql)
        }
        return try rows(result, of: statement, isKept: false)
    }
}
#endif
