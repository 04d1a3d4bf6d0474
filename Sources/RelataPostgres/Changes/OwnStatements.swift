#if PostgreSQL
import RelataCore

/// Statements of Relata's own that many transactions run: prepared once for a connection, and not traced.
final class OwnStatements {
    private var prepared: [String: PreparedStatement] = [:]

    fileprivate func statement(_ sql: String, _ session: Session) throws(PostgresFailure) -> PreparedStatement {
        if let known = prepared[sql], known.generation == session.generation { return known }
        if prepared.values.contains(where: { $0.generation != session.generation }) { prepared = [:] }
        let statement = try session.prepare(name: "relata_own_\(prepared.count)", sql: sql)
        prepared[sql] = statement
        return statement
    }
}

/// A row of a statement of Relata's own.
struct OwnRow {
    fileprivate let values: [Value]

    /// A column as an integer: 0 or 1 of a boolean; 0 of `NULL`.
    func integer(_ column: Int) -> Int64 { if case .integer(let number) = values[column] { number } else { 0 } }

    /// A column as text; empty of `NULL`.
    func text(_ column: Int) -> String { if case .text(let text) = values[column] { text } else { "" } }
}

extension PostgresDriver {
    /// Runs a statement of Relata's own that has one row.
    func ownRow(_ sql: String, _ parameters: [Parameter] = []) throws(RelataError) -> OwnRow {
        guard let row = try runOwn(sql, parameters).first else {
            throw .database(code: 0, message: "the server gave no row where there is always one", sql: sql)
        }
        return row
    }

    /// Runs a statement of Relata's own, and returns its rows.
    @discardableResult
    func runOwn(_ sql: String, _ parameters: [Parameter] = []) throws(RelataError) -> [OwnRow] {
        try tellBeginning()
        let result = try run { (session) throws(PostgresFailure) in
            let statement = try ownStatements.statement(sql, session)
            let buffer = ParameterBuffer()
            buffer.begin(statement)
            do throws(RelataError) {
                for parameter in parameters { try buffer.append(parameter) }
            } catch {
                throw PostgresFailure(error)
            }
            return try session.execute(statement, buffer)
        }
        return try result.values().map { OwnRow(values: $0) }
    }
}
#endif
