#if PostgreSQL
import Foundation
import RelataCPQ
import RelataCore

/// A statement that the server has planned for, with the types of its parameters and columns.
@usableFromInline
package final class PreparedStatement {
    /// Its name in the session; empty for one that the server doesn't keep and is sent its text each time.
    package let name: String
    /// Its text.
    package let sql: String
    /// The types of its parameters, from `$1` on.
    package let parameters: [TypeCode]
    /// The columns of its rows.
    package let columns: [Column]
    /// Whether its rows come in binary form. They do unless one of the columns can only be read as text.
    @usableFromInline package let isBinary: Bool
    /// The session's ``Session/generation`` it belongs to.
    let generation: Int
    /// The name in libpq's form.
    let nameBytes: UnsafeMutablePointer<CChar>
    /// The types of the parameters as the server numbers them.
    let parameterOIDs: [UInt32]
    /// The types of the columns and of the parameters, which cells and parameters look into without any check.
    @usableFromInline let columnTypes: UnsafeMutablePointer<TypeCode>
    @usableFromInline let parameterTypes: UnsafeMutablePointer<TypeCode>

    /// A column of a result.
    package struct Column: Hashable, Sendable {
        /// Its name.
        package let name: String
        /// Its type; of a domain the one below.
        package let type: TypeCode
    }

    init(name: String, sql: String, parameters: [TypeCode], columns: [Column], generation: Int) {
        self.name = name
        self.sql = sql
        self.parameters = parameters
        self.columns = columns
        self.generation = generation
        parameterOIDs = parameters.map(\.oid)
        isBinary = columns.allSatisfy(\.type.isReadInBinary)
        nameBytes = .allocate(capacity: name.utf8.count + 1)
        for (index, byte) in name.utf8.enumerated() { nameBytes[index] = CChar(bitPattern: byte) }
        nameBytes[name.utf8.count] = 0
        columnTypes = .allocate(capacity: max(1, columns.count))
        for (index, column) in columns.enumerated() { columnTypes[index] = column.type }
        parameterTypes = .allocate(capacity: max(1, parameters.count))
        for (index, type) in parameters.enumerated() { parameterTypes[index] = type }
    }

    deinit {
        nameBytes.deallocate()
        columnTypes.deallocate()
        parameterTypes.deallocate()
    }
}

extension Session {
    /// Prepares a statement and learns the types of its parameters and columns, in one round trip.
    ///
    /// - Parameter name: A name that no other statement of the session has; empty for one that the server doesn't keep.
    package func prepare(name: String, sql: String) throws(PostgresFailure) -> PreparedStatement {
        let handle = try ready()
        guard !sql.utf8.contains(0), !name.utf8.contains(0) else {
            throw PostgresFailure(.invalidUse("SQL can't contain U+0000: bind it as a parameter"))
        }
        var types = Self.unusedParameters(in: sql)
        guard PQenterPipelineMode(handle) == 1 else { throw failure(nil, sql: sql) }
        let isSent =
            PQsendPrepare(handle, name, sql, Int32(types.count), &types) == 1
            && PQsendDescribePrepared(handle, name) == 1
            && PQpipelineSync(handle) == 1
        guard isSent else {
            let failure = failure(nil, sql: sql)
            leavePipelineMode(handle)
            throw failure
        }
        var description: OpaquePointer?
        defer { PQclear(description) }
        var failed: PostgresFailure?
        // Two statements, each ended by a missing result, and the mark after them.
        results: while true {
            guard let result = nextResult(handle) else {
                if PQstatus(handle) == CONNECTION_OK { continue }
                failed = failed ?? failure(nil, sql: sql)
                break
            }
            switch PQresultStatus(result) {
            case PGRES_PIPELINE_SYNC:
                PQclear(result)
                break results
            case PGRES_COMMAND_OK:
                PQclear(description)
                description = result
            case PGRES_PIPELINE_ABORTED: PQclear(result)
            default:
                failed = failed ?? failure(result, sql: sql)
                PQclear(result)
            }
        }
        leavePipelineMode(handle)
        if let failed { throw failed }
        guard let description else { throw failure(nil, sql: sql) }
        let parameterOIDs = (0..<PQnparams(description)).map { PQparamtype(description, $0) }
        let columnOIDs = (0..<PQnfields(description)).map { PQftype(description, $0) }
        _ = try learn(parameterOIDs + columnOIDs)
        let columns = columnOIDs.enumerated().map { index, oid in
            PreparedStatement.Column(
                name: PQfname(description, Int32(index)).map { String(cString: $0) } ?? "", type: type(oid))
        }
        return PreparedStatement(
            name: name, sql: sql, parameters: parameterOIDs.map(type), columns: columns, generation: generation)
    }

    /// The types of parameters, if a text skips some numbers up to a larger one: text for the skipped ones, whose type
    /// no server can determine, and zero for those in use. Empty if it skips none.
    static func unusedParameters(in sql: String) -> [UInt32] {
        var used: Set<Int> = []
        var number: Int?
        for byte in sql.utf8 {
            if let known = number, (0x30...0x39).contains(byte), known < 100_000 {
                number = known * 10 + Int(byte - 0x30)
                continue
            }
            if let known = number, known > 0 { used.insert(known) }
            number = byte == UInt8(ascii: "$") ? 0 : nil
        }
        if let known = number, known > 0 { used.insert(known) }
        guard let last = used.max(), last <= 65_535, used.count < last else { return [] }
        return (1...last).map { used.contains($0) ? 0 : TypeCode.text.oid }
    }

    /// Forgets a prepared statement.
    package func deallocate(name: String) throws(PostgresFailure) {
        try run("DEALLOCATE " + quoted(name))
    }

    /// Ends the pipeline mode. No result is left, unless the connection is lost.
    func leavePipelineMode(_ handle: OpaquePointer) {
        if PQexitPipelineMode(handle) == 1 { return }
        while let result = PQgetResult(handle) { PQclear(result) }
        _ = PQexitPipelineMode(handle)
    }
}
#endif
