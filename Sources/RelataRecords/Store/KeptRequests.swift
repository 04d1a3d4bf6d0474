import Foundation
import RelataCore
import RelataEngine

/// The results of requests that wrote something, for clients that repeat a request because its result was lost. Stored
/// in the transaction of the writes, so that a request is done once even if the program ends right after.
///
/// Short results are stored with the ids. Longer ones have a budget: results that don't fit any more, and those that
/// are too long by themselves, are only recorded as given.
package enum KeptRequests {
    private static let name = "relata_parse_requests"
    private static let table = "\"relata_parse_requests\""
    /// Results up to this size take about as much as the rest of a request's row, and don't count towards the budget.
    package static let shortResult = 256

    /// A request by its id.
    package struct Request: Sendable {
        let id: String
        /// A digest that distinguishes it from others that have the same id by mistake.
        let fingerprint: String

        package init(id: String, fingerprint: String) {
            self.id = id
            self.fingerprint = fingerprint
        }
    }

    /// The reply to a request.
    package struct Result: Sendable {
        package var status: Int
        package var location: String?
        package var body: [UInt8]

        package init(status: Int = 200, location: String? = nil, body: [UInt8]) {
            self.status = status
            self.location = location
            self.body = body
        }
    }

    /// The limits on kept results: their size and lifetime.
    package struct Limits: Sendable {
        /// The number of seconds that they are kept.
        var lifetime: Int64 = 86_400
        /// The bytes of the longest result.
        var result = 1 << 20
        /// The bytes of all longer results together.
        var results = 64 << 20

        init() {}

        package init(lifetime: Int64, result: Int, results: Int) {
            self.lifetime = lifetime
            self.result = result
            self.results = results
        }
    }

    /// The stored state of a request.
    package enum Known {
        /// The request wasn't run yet.
        case nothing
        case done(Result)
        /// Another request had the same id.
        case other
        /// It was done, and its result was too long to be kept.
        case forgotten
    }

    /// Creates the table, if it doesn't exist, and removes old results.
    package static func create(on connection: Connection, now: Date = Date()) throws(RelataError) {
        let dialect = connection.dialect
        let (columns, integer) = (try connection.driver.columnNames(of: name, connection), dialect.integerType)
        // A role that may only use an existing table needs no right to create one.
        if !columns.contains("total") {
            if columns.isEmpty {
                // `total` is 0 for short results; otherwise the number of bytes of all longer results up to this one.
                try connection.execute(
                    """
                    CREATE TABLE IF NOT EXISTS \(table) (
                        id TEXT PRIMARY KEY, line TEXT NOT NULL, status \(integer) NOT NULL, location TEXT,
                        body TEXT NOT NULL, expires \(integer) NOT NULL, total \(integer) NOT NULL DEFAULT 0\
                    \(dialect.insertionOrderColumn))
                    """)
            } else {
                try connection.execute("ALTER TABLE \(table) ADD COLUMN total \(integer) NOT NULL DEFAULT 0")
            }
            try connection.execute(
                "CREATE INDEX IF NOT EXISTS \"relata_parse_requests_expires\" ON \(table) (expires)")
            try connection.execute(
                "CREATE INDEX IF NOT EXISTS \"relata_parse_requests_total\" ON \(table) (total) WHERE total > 0")
        }
        try connection.execute(
            SQLStatement(
                "DELETE FROM \(table) WHERE expires <= \(dialect.parameter(1, as: .integer))",
                [.value(.integer(seconds(now)))]))
    }

    /// Whether the table exists.
    static func isKept(on connection: Connection) throws(RelataError) -> Bool { try connection.hasTable(name) }

    /// The stored state of a request.
    package static func find(
        _ request: Request, on connection: Connection, now: Date = Date()
    ) throws(RelataError) -> Known {
        let dialect = connection.dialect
        let query = SQLStatement(
            """
            SELECT line, status, location, body FROM \(table)
            WHERE id = \(dialect.parameter(1, as: .text)) AND expires > \(dialect.parameter(2, as: .integer))
            """, [.value(.text(request.id)), .value(.integer(seconds(now)))])
        guard let row = try connection.values(query).first, row.count == 4 else { return .nothing }
        guard row[0] == .text(request.fingerprint) else { return .other }
        guard case .integer(let status) = row[1], case .text(let body) = row[3] else { return .nothing }
        if body.isEmpty { return .forgotten }
        let location: String? = if case .text(let text) = row[2] { text } else { nil }
        return .done(Result(status: Int(status), location: location, body: Array(body.utf8)))
    }

    /// The statement that stores a result. An old one may still exist under the same id.
    private static func keeping(_ dialect: Dialect) -> String {
        let parameters = [AttributeType.text, .text, .integer, .text, .text, .integer].enumerated().map {
            dialect.parameter($0 + 1, as: $1)
        }
        let counted = dialect.parameter(7, as: .integer)
        return """
            INSERT INTO \(table) (id, line, status, location, body, expires, total)
            VALUES (\(parameters.joined(separator: ", ")), CASE WHEN \(counted) = 0 THEN 0
                ELSE \(counted) + coalesce((SELECT max(total) FROM \(table) WHERE total > 0), 0) END)
            ON CONFLICT (id) DO UPDATE SET line = excluded.line, status = excluded.status, location = excluded.location,
                body = excluded.body, expires = excluded.expires, total = excluded.total\(dialect.tellingInsertionOrder)
            """
    }

    /// Stores a result. From time to time, old ones are removed.
    package static func keep(
        _ result: Result, of request: Request, _ limits: Limits, on connection: Connection, now: Date
    ) throws(RelataError) {
        var (body, location) = (result.body, result.location)
        if body.count + (location?.utf8.count ?? 0) > limits.result { (body, location) = ([], nil) }
        let size = body.count + (location?.utf8.count ?? 0)
        let counted = size > shortResult ? size : 0
        let dialect = connection.dialect
        try connection.execute(
            SQLStatement(
                keeping(dialect),
                [
                    .value(.text(request.id)), .value(.text(request.fingerprint)),
                    .value(.integer(Int64(result.status))), .value(location.map { .text($0) } ?? .null),
                    .value(.text(String(decoding: body, as: UTF8.self))),
                    .value(.integer(seconds(now) + limits.lifetime)), .value(.integer(Int64(counted))),
                ]))
        // Removes old rows after every 64 writes by any process, by the numbers of the rows. It removes more than were
        // added, but never so many that other writers would have to wait.
        if connection.lastInsertedRowID.isMultiple(of: 64) {
            let number = dialect.insertionOrder
            try connection.execute(
                SQLStatement(
                    """
                    DELETE FROM \(table) WHERE \(number) IN
                        (SELECT \(number) FROM \(table) WHERE expires <= \(dialect.parameter(1, as: .integer))
                        ORDER BY expires LIMIT 256)
                    """, [.value(.integer(seconds(now)))]))
        }
        if counted > 0 { try forget(limits, on: connection) }
    }

    /// Removes the oldest of the longer results, if all of them exceed the budget.
    private static func forget(_ limits: Limits, on connection: Connection) throws(RelataError) {
        let dialect = connection.dialect
        let (results, result) = (dialect.parameter(1, as: .integer), dialect.parameter(2, as: .integer))
        try connection.execute(
            SQLStatement(
                """
                UPDATE \(table) SET body = '', location = NULL, total = 0
                WHERE total > 0
                    AND total <= (SELECT max(total) FROM \(table) WHERE total > 0) - \(results) + \(result)
                    AND total - \(dialect.byteCount(of: "body")) - coalesce(\(dialect.byteCount(of: "location")), 0)
                        < (SELECT max(total) FROM \(table) WHERE total > 0) - \(results)
                """,
                [.value(.integer(Int64(limits.results))), .value(.integer(Int64(limits.result)))]))
    }

    /// Stores a longer result, which is removed with the old ones.
    package static func takeRoom(on connection: Connection) throws(RelataError) {
        try connection.execute(
            SQLStatement(
                """
                INSERT INTO \(table) (id, line, status, body, expires)
                VALUES ('', '', 0, \(connection.dialect.parameter(1, as: .text)), 0)
                ON CONFLICT (id) DO UPDATE SET body = excluded.body
                """, [.value(.text(String(repeating: "x", count: 65_536)))]))
    }

    private static func seconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970) }
}
