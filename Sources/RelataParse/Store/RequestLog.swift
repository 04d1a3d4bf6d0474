import Foundation
import RelataCore
import RelataSQLite

/// The replies of requests that wrote something, for clients that send a request again because its reply was lost. Kept
/// in the transaction of what was written, so that a request is done once even if the server dies right after.
///
/// Short replies are kept with the ids. Longer ones have a budget: of those that don't fit any more, and of those that are
/// too long for themselves, it is only kept that they were given.
enum RequestLog {
    private static let table = "\"relata_parse_requests\""
    /// Replies up to so many bytes take about as much as the rest that is kept of a request, and count for nothing.
    static let shortReply = 256

    /// Makes the table, if it isn't there, and forgets what is too old.
    static func create(on connection: Connection, now: Date = Date()) throws(RelataError) {
        // `total` is 0 for short replies; else how many bytes of longer ones were kept up to this one.
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

    /// The reply that a request got, if it was answered already.
    ///
    /// - Throws: ``ParseError`` 159 where another request had the same id, and where the reply isn't kept.
    static func reply(to call: ParseCall, on connection: Connection, now: Date = Date()) throws -> WireReply? {
        guard let id = call.requestID else { return nil }
        let query = SQLStatement(
            "SELECT line, status, location, body FROM \(table) WHERE id = ?1 AND expires > ?2",
            [.value(.text(id)), .value(.integer(seconds(now)))])
        guard let row = try connection.values(query).first, row.count == 4 else { return nil }
        guard row[0] == .text(call.fingerprint) else { throw ParseError(.duplicateRequest, "Duplicate request") }
        guard case .integer(let status) = row[1], case .text(let body) = row[3] else { return nil }
        guard !body.isEmpty else {
            throw ParseError(
                .duplicateRequest, "Duplicate request: it was done, but its reply was too large to be kept")
        }
        let location: String? = if case .text(let text) = row[2] { text } else { nil }
        var reply = WireReply(status: Int(status), body: Array(body.utf8), location: location)
        reply.isRepeated = true
        return reply
    }

    /// A reply, which is kept if the request has an id. Now and then those that are old are forgotten.
    static func remembering(
        _ reply: WireReply, to call: ParseCall, _ options: ParseService.Options, in transaction: ParseTransaction
    ) throws(RelataError) -> WireReply {
        guard let id = call.requestID else { return reply }
        let now = seconds(transaction.now)
        var body = reply.kept ?? reply.body
        var location = reply.location
        if body.count + (location?.utf8.count ?? 0) > options.maximumKeptReply { (body, location) = ([], nil) }
        let size = body.count + (location?.utf8.count ?? 0)
        let counted = size > shortReply ? size : 0
        // One that is old may still be there under the same id.
        try transaction.connection.execute(
            SQLStatement(
                """
                REPLACE INTO \(table) (id, line, status, location, body, expires, total)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, CASE WHEN ?7 = 0 THEN 0
                    ELSE ?7 + coalesce((SELECT max(total) FROM \(table) WHERE total > 0), 0) END)
                """,
                [
                    .value(.text(id)), .value(.text(call.fingerprint)), .value(.integer(Int64(reply.status))),
                    .value(location.map { .text($0) } ?? .null),
                    .value(.text(String(decoding: body, as: UTF8.self))),
                    .value(.integer(now + Int64(options.requestLifetime))), .value(.integer(Int64(counted))),
                ]))
        // Rows are numbered on: every so many writes, whatever process they come from. More go than came, but never so
        // many that others would wait for this write.
        if transaction.connection.lastInsertedRowID.isMultiple(of: 64) {
            try transaction.connection.execute(
                SQLStatement(
                    """
                    DELETE FROM \(table) WHERE rowid IN
                        (SELECT rowid FROM \(table) WHERE expires <= ?1 ORDER BY expires LIMIT 256)
                    """, [.value(.integer(now))]))
        }
        if counted > 0 { try forget(options, on: transaction.connection) }
        return reply
    }

    /// Forgets the oldest of the longer replies, as far as all of them are more than there is room for.
    private static func forget(_ options: ParseService.Options, on connection: Connection) throws(RelataError) {
        try connection.execute(
            SQLStatement(
                """
                UPDATE \(table) SET body = '', location = NULL, total = 0
                WHERE total > 0 AND total <= (SELECT max(total) FROM \(table) WHERE total > 0) - ?1 + ?2
                    AND total - length(CAST(body AS BLOB)) - coalesce(length(CAST(location AS BLOB)), 0)
                        < (SELECT max(total) FROM \(table) WHERE total > 0) - ?1
                """,
                [
                    .value(.integer(Int64(options.maximumKeptReplies))),
                    .value(.integer(Int64(options.maximumKeptReply))),
                ]))
    }

    /// Writes what needs some room in the file, and is forgotten with what is old.
    static func takeRoom(on connection: Connection) throws(RelataError) {
        try connection.execute(
            SQLStatement(
                """
                REPLACE INTO \(table) (id, line, status, body, expires)
                VALUES ('', '', 0, printf('%.*c', 65536, 'x'), 0)
                """, []))
    }

    private static func seconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970) }
}
