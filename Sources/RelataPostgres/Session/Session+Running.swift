#if PostgreSQL
import RelataCPQ
import RelataCore

extension Session {
    /// Runs SQL text without parameters, which may hold several statements, and drops its rows.
    ///
    /// - Returns: The number of rows the last statement inserted, updated, deleted or returned.
    @discardableResult
    package func run(_ sql: String) throws(PostgresFailure) -> Int {
        let handle = try ready()
        guard !sql.utf8.contains(0) else {
            throw PostgresFailure(.invalidUse("SQL can't contain U+0000: bind it as a parameter"))
        }
        let result = try query(sql, handle)
        defer { PQclear(result) }
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
            return PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0
        case let status: throw unusable(result, status, sql: sql)
        }
    }

    /// Rolls back open work, also after a cancellation.
    func rollBack() {
        guard !isLost, transactionStatus != .idle, let handle = try? idle() else { return }
        PQclear(try? query("ROLLBACK", handle))
    }

    /// Runs a prepared statement to its end.
    package func execute(
        _ statement: PreparedStatement, _ parameters: ParameterBuffer
    ) throws(PostgresFailure) -> ResultSet {
        try check(statement, parameters)
        guard let result = try answer(to: statement, parameters) else { throw failure(nil, sql: statement.sql) }
        return try rows(result, of: statement)
    }

    /// Sends a prepared statement with its parameters, and doesn't wait for its result.
    func send(_ statement: PreparedStatement, _ parameters: ParameterBuffer, _ handle: OpaquePointer) -> Bool {
        parameters.withPointers { values, lengths, formats in
            send(statement, count: parameters.count, values, lengths, formats, handle)
        }
    }

    /// A version of ``send(_:_:_:)`` with parameters in libpq's form.
    func send(
        _ statement: PreparedStatement, count: Int, _ values: UnsafePointer<UnsafePointer<CChar>?>?,
        _ lengths: UnsafePointer<Int32>?, _ formats: UnsafePointer<Int32>?, _ handle: OpaquePointer
    ) -> Bool {
        let format: Int32 = statement.isBinary ? 1 : 0
        guard statement.name.isEmpty else {
            return PQsendQueryPrepared(handle, statement.nameBytes, Int32(count), values, lengths, formats, format) == 1
        }
        // The server, or the one that a pooler chose this time, doesn't have it.
        return PQsendQueryParams(
            handle, statement.sql, Int32(count), statement.parameterOIDs, values, lengths, formats, format) == 1
    }

    /// Prepares and runs a statement that isn't kept.
    package func execute(_ statement: SQLStatement) throws(PostgresFailure) -> ResultSet {
        let prepared = try prepare(name: "", sql: statement.sql)
        let parameters = ParameterBuffer()
        parameters.begin(prepared)
        do throws(RelataError) {
            for parameter in statement.parameters { try parameters.append(parameter) }
        } catch {
            throw PostgresFailure(error)
        }
        return try execute(prepared, parameters)
    }

    /// The result of SQL text: the error, or the result of its last statement.
    func query(_ sql: String, _ handle: OpaquePointer) throws(PostgresFailure) -> OpaquePointer {
        guard PQsendQuery(handle, sql) == 1, let result = lastResult(handle) else { throw failure(nil, sql: sql) }
        return result
    }

    /// Reads all results and keeps the last one, or the error. Stops at the beginning of a `COPY`.
    func lastResult(_ handle: OpaquePointer) -> OpaquePointer? {
        var last: OpaquePointer?
        while let result = nextResult(handle) {
            // After an error, only further errors follow, such as the error of a lost connection.
            if last.map({ PQresultStatus($0) == PGRES_FATAL_ERROR }) == true {
                PQclear(result)
                continue
            }
            PQclear(last)
            last = result
            let status = PQresultStatus(result)
            if status == PGRES_COPY_IN || status == PGRES_COPY_OUT || status == PGRES_COPY_BOTH { break }
        }
        return last
    }

    /// Refuses a statement of an earlier connection, and parameters that aren't complete.
    func check(_ statement: PreparedStatement, _ parameters: ParameterBuffer) throws(PostgresFailure) {
        try check(statement)
        do throws(RelataError) {
            try parameters.checkIsComplete()
        } catch {
            throw PostgresFailure(error)
        }
    }

    /// Refuses a statement of an earlier connection.
    func check(_ statement: PreparedStatement) throws(PostgresFailure) {
        guard statement.generation != generation else { return }
        throw PostgresFailure(
            .invalidUse("the statement was prepared before the connection was lost: prepare it again"))
    }

    /// The rows of a result, which is freed if it is an error.
    ///
    /// - Parameter isKept: Whether the server ran a statement that it keeps prepared; `nil` to decide by its name.
    func rows(
        _ result: OpaquePointer, of statement: PreparedStatement, isKept: Bool? = nil
    ) throws(PostgresFailure) -> ResultSet {
        let isKept = isKept ?? !statement.name.isEmpty
        let status = PQresultStatus(result)
        guard status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY else {
            defer { PQclear(result) }
            throw unusable(result, status, sql: statement.sql)
        }
        let rows = ResultSet(result, of: statement)
        // Cells rely on the described types. For a statement that it keeps, the server reports an altered table; for
        // others, only the rows show it.
        let isSame =
            rows.count == 0
            || Int(PQnfields(result)) == statement.columns.count
                && (isKept
                    || statement.columns.indices.allSatisfy {
                        type(PQftype(result, Int32($0))).kind == statement.columns[$0].type.kind
                    })
        guard isSame else { throw .otherColumns }
        return rows
    }

    /// The failure of a result that holds no rows.
    func unusable(_ result: OpaquePointer, _ status: ExecStatusType, sql: String) -> PostgresFailure {
        switch status {
        case PGRES_COPY_IN, PGRES_COPY_OUT, PGRES_COPY_BOTH:
            leaveCopy(status)
            return PostgresFailure(.invalidUse("COPY isn't run as a statement: use copy(_:columns:)"))
        default: return failure(result, sql: sql)
        }
    }

    /// Ends a `COPY` that is no longer used.
    private func leaveCopy(_ status: ExecStatusType) {
        guard let handle else { return }
        if status == PGRES_COPY_IN { PQputCopyEnd(handle, "nothing is copied") }
        if status == PGRES_COPY_OUT {
            var row: UnsafeMutablePointer<CChar>?
            while PQgetCopyData(handle, &row, 0) > 0 { PQfreemem(row) }
        }
        while let rest = PQgetResult(handle) { PQclear(rest) }
    }
}
#endif
