import Foundation
import RelataCore
import RelataEngine

/// The results of requests that wrote something, for those who send a request again because its result was lost. Kept in
/// the transaction of what was written, so that a request is done once even if the program ends right after.
///
/// Short results are kept with the ids. Longer ones have a budget: of those that don't fit any more, and of those that are
/// too long for themselves, it is only kept that they were given.
package enum KeptRequests {
    private static let table = "\"relata_parse_requests\""
    /// Results up to so many bytes take about as much as the rest that is kept of a request, and count for nothing.
    package static let shortResult = 256

    /// A request by its id.
    package struct Request: Sendable {
        let id: String
        /// What tells it from others that have the same id by mistake.
        let fingerprint: String

        package init(id: String, fingerprint: String) {
            self.id = id
            self.fingerprint = fingerprint
        }
    }

    /// What a request got.
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

    /// How much is kept, and for how long.
    package struct Limits: Sendable {
        /// For how many seconds.
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

    /// What is known of a request.
    package enum Known {
        /// It wasn't done yet.
        case nothing
        case done(Result)
        /// Another request had the same id.
        case other
        /// It was done, and its result was too long to be kept.
        case forgotten
    }

    /// Makes the table, if it isn't there, and forgets what is too old.
    package static func create(on connection: Connection, now: Date = Date()) throws(RelataError) {
        // `total` is 0 for short results; else how many bytes of longer ones were kept up to this one.
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS \(table) (
                id TEXT PRIMARY KEY, line TEXT NOT NULL, status INTEGER NOT NULL, location TEXT, body TEXT NOT NULL,
                expires INTEGER NOT NULL, total INTEGER NOT NULL DEFAULT 0)
            """)
        let hasTotal = "SELECT 1 FROM temp.pragma_table_xinfo('relata_parse_requests') WHERE name = 'total'"
        if try connection.value(SQLStatement(hasTotal)) == nil {
            try connection.execute("ALTER TABLE \(table) ADD COLUMN total INTEGER NOT NULL DEFAULT 0")
        }
        try connection.execute(
            "CREATE INDEX IF NOT EXISTS \"relata_parse_requests_expires\" ON \(table) (expires)")
        try connection.execute(
            "CREATE INDEX IF NOT EXISTS \"relata_parse_requests_total\" ON \(table) (total) WHERE total > 0")
        try connection.execute(
            SQLStatement("DELETE FROM \(table) WHERE expires <= ?1", [.value(.integer(seconds(now)))]))
    }

    /// Whether the table is there.
    static func isKept(on connection: Connection) throws(RelataError) -> Bool {
        try connection.hasTable("relata_parse_requests")
    }

    /// What is known of a request.
    package static func find(
        _ request: Request, on connection: Connection, now: Date = Date()
    ) throws(RelataError) -> Known {
        let query = SQLStatement(
            "SELECT line, status, location, body FROM \(table) WHERE id = ?1 AND expires > ?2",
            [.value(.text(request.id)), .value(.integer(seconds(now)))])
        guard let row = try connection.values(query).first, row.count == 4 else { return .nothing }
        guard row[0] == .text(request.fingerprint) else { return .other }
        guard case .integer(let status) = row[1], case .text(let body) = row[3] else { return .nothing }
        if body.isEmpty { return .forgotten }
        let location: String? = if case .text(let text) = row[2] { text } else { nil }
        return .done(Result(status: Int(status), location: location, body: Array(body.utf8)))
    }

    /// Keeps a result. Now and then those that are old are forgotten.
    package static func keep(
        _ result: Result, of request: Request, _ limits: Limits, on connection: Connection, now: Date
    ) throws(RelataError) {
        var (body, location) = (result.body, result.location)
        if body.count + (location?.utf8.count ?? 0) > limits.result { (body, location) = ([], nil) }
        let size = body.count + (location?.utf8.count ?? 0)
        let counted = size > shortResult ? size : 0
        // One that is old may still be there under the same id.
        try connection.execute(
            SQLStatement(
                """
                REPLACE INTO \(table) (id, line, status, location, body, expires, total)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, CASE WHEN ?7 = 0 THEN 0
                    ELSE ?7 + coalesce((SELECT max(total) FROM \(table) WHERE total > 0), 0) END)
                """,
                [
                    .value(.text(request.id)), .value(.text(request.fingerprint)),
                    .value(.integer(Int64(result.status))), .value(location.map { .text($0) } ?? .null),
                    .value(.text(String(decoding: body, as: UTF8.self))),
                    .value(.integer(seconds(now) + limits.lifetime)), .value(.integer(Int64(counted))),
                ]))
        // Rows are numbered on: every so many writes, whatever process they come from. More go than came, but never so
        // many that others would wait for this write.
        if connection.lastInsertedRowID.isMultiple(of: 64) {
            try connection.execute(
                SQLStatement(
                    """
                    DELETE FROM \(table) WHERE rowid IN
                        (SELECT rowid FROM \(table) WHERE expires <= ?1 ORDER BY expires LIMIT 256)
                    """, [.value(.integer(seconds(now)))]))
        }
        if counted > 0 { try forget(limits, on: connection) }
    }

    /// Forgets the oldest of the longer results, as far as all of them are more than there is room for.
    private static func forget(_ limits: Limits, on connection: Connection) throws(RelataError) {
        try connection.execute(
            SQLStatement(
                """
                UPDATE \(table) SET body = '', location = NULL, total = 0
                WHERE total > 0 AND total <= (SELECT max(total) FROM \(table) WHERE total > 0) - ?1 + ?2
                    AND total - length(CAST(body AS BLOB)) - coalesce(length(CAST(location AS BLOB)), 0)
                        < (SELECT max(total) FROM \(table) WHERE total > 0) - ?1
                """,
                [.value(.integer(Int64(limits.results))), .value(.integer(Int64(limits.result)))]))
    }

    /// Writes what needs some room in the file, and is forgotten with what is old.
    package static func takeRoom(on connection: Connection) throws(RelataError) {
        try connection.execute(
            SQLStatement(
                """
                REPLACE INTO \(table) (id, line, status, body, expires)
                VALUES ('', '', 0, printf('%.*c', 65536, 'x'), 0)
                """, []))
    }

    private static func seconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970) }
}
