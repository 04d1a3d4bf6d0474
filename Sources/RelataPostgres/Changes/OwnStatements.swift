#if PostgreSQL
import RelataCore

/// Statements of Relata's own that many transactions run: prepared once for a connection, and not traced.
final class OwnStatements {
    private var prepared: [String: PreparedStatement] = [:]

    fileprivate func statement(_ sql: String, _ session: Session) throws(PostgresFailure) -> PreparedStatement {
        if let known = prepared[sql], known.generation == session.generation { return known }
        if prepared.values.contains(where: { $0.generation != session.generation }) { prepared = [:] }
        let statement = try session.prepare(name: session.isPooled ? "" : "relata_own_\(prepared.count)", sql: sql)
        prepared[sql] = statement
        return statement
    }
}

/// A statement of Relata's own with its parameters.
struct OwnStatement {
    let statement: PreparedStatement
    let parameters: ParameterBuffer
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
    ///
    /// - Parameter before: Statements that run before it.
    func ownRow(
        _ sql: String, _ parameters: [Parameter] = [], after before: [String] = []
    ) throws(RelataError) -> OwnRow {
        guard let row = try runOwn(sql, parameters, after: before).first else {
            throw .database(code: 0, message: "the server returned no row where one is required", sql: sql)
        }
        return row
    }

    /// Runs a statement of Relata's own, and returns its rows.
    ///
    /// - Parameter before: Statements that run before it.
    @discardableResult
    func runOwn(
        _ sql: String, _ parameters: [Parameter] = [], after before: [String] = []
    ) throws(RelataError) -> [OwnRow] {
        let own = try own(sql, parameters)
        let before = takeBeginning() + before
        let result = try run { (session) throws(PostgresFailure) in
            try session.execute(own.statement, own.parameters, between: before, [])
        }
        return try result.values().map { OwnRow(values: $0) }
    }

    /// Has a statement of Relata's own run with the `COMMIT` of the open transaction, which then takes no longer.
    func runOwnWithCommit(_ sql: String, _ parameters: [Parameter]) throws(RelataError) {
        try tellBeginning()
        lastStatement = try own(sql, parameters)
    }

    private func own(_ sql: String, _ parameters: [Parameter]) throws(RelataError) -> OwnStatement {
        let buffer = ParameterBuffer()
        let statement = try run { (session) throws(PostgresFailure) in try ownStatements.statement(sql, session) }
        buffer.begin(statement)
        for parameter in parameters { try buffer.append(parameter) }
        return OwnStatement(statement: statement, parameters: buffer)
    }
}
#endif
