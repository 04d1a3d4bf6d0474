import Foundation
import RelataCore
import RelataSQLite

/// The replies of requests that wrote something, for clients that send a request again because its reply was lost. Kept
/// in the transaction of what was written, so that a request is done once even if the server dies right after.
enum RequestLog {
    private static let table = "\"relata_parse_requests\""

    /// Makes the table, if it isn't there.
    static func create(on connection: Connection) throws(RelataError) {
        try connection.execute(
            """
            CREATE TABLE IF NOT EXISTS \(table) (
                id TEXT PRIMARY KEY, line TEXT NOT NULL, status INTEGER NOT NULL, location TEXT, body TEXT NOT NULL,
                expires INTEGER NOT NULL)
            """)
        try connection.execute(
            "CREATE INDEX IF NOT EXISTS \"relata_parse_requests_expires\" ON \(table) (expires)")
    }

    /// The reply that a request got, if it was answered already.
    ///
    /// - Throws: ``ParseError`` 159 where another request had the same id.
    static func reply(to call: ParseCall, on connection: Connection, now: Date = Date()) throws -> WireReply? {
        guard let id = call.requestID else { return nil }
        let query = SQLStatement(
            "SELECT line, status, location, body FROM \(table) WHERE id = ?1 AND expires > ?2",
            [.value(.text(id)), .value(.integer(seconds(now)))])
        guard let row = try connection.values(query).first, row.count == 4 else { return nil }
        guard row[0] == .text(call.fingerprint) else { throw ParseError(.duplicateRequest, "Duplicate request") }
        guard case .integer(let status) = row[1], case .text(let body) = row[3] else { return nil }
        let location: String? = if case .text(let text) = row[2] { text } else { nil }
        return WireReply(status: Int(status), body: Array(body.utf8), location: location)
    }

    /// A reply, which is kept if the request has an id. Now and then those that are old are forgotten.
    static func remembering(
        _ reply: WireReply, to call: ParseCall, _ options: ParseService.Options, in transaction: ParseTransaction
    ) throws(RelataError) -> WireReply {
        guard let id = call.requestID else { return reply }
        let now = seconds(transaction.now)
        // One that is old may still be there under the same id.
        try transaction.connection.execute(
            SQLStatement(
                "REPLACE INTO \(table) (id, line, status, location, body, expires) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                [
                    .value(.text(id)), .value(.text(call.fingerprint)), .value(.integer(Int64(reply.status))),
                    .value(reply.location.map { .text($0) } ?? .null),
                    .value(.text(String(decoding: reply.body, as: UTF8.self))),
                    .value(.integer(now + Int64(options.requestLifetime))),
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
        return reply
    }

    private static func seconds(_ date: Date) -> Int64 { Int64(date.timeIntervalSince1970) }
}
