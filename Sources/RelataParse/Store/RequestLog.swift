import Foundation
import RelataCore
import RelataRecords
import RelataEngine

/// The replies of requests that wrote something, for clients that send a request again because its reply was lost.
enum RequestLog {
    /// The reply that a request got, if it was answered already.
    ///
    /// - Throws: ``ParseError`` 159 for another request with the same id, and for a reply that isn't stored.
    static func reply(to call: ParseCall, on connection: Connection, now: Date = Date()) throws -> WireReply? {
        guard let request = call.keptRequest else { return nil }
        switch try KeptRequests.find(request, on: connection, now: now) {
        case .nothing: return nil
        case .other: throw ParseError(.duplicateRequest, "Duplicate request")
        case .forgotten:
            throw ParseError(
                .duplicateRequest, "Duplicate request: it was completed, but its reply was too large to keep")
        case .done(let result):
            var reply = WireReply(status: result.status, body: result.body, location: result.location)
            reply.isRepeated = true
            return reply
        }
    }

    /// A reply, which is kept if the request has an id.
    static func remembering(
        _ reply: WireReply, to call: ParseCall, _ options: ParseService.Options, in transaction: ParseTransaction
    ) throws(RelataError) -> WireReply {
        guard let request = call.keptRequest else { return reply }
        try KeptRequests.keep(
            KeptRequests.Result(status: reply.status, location: reply.location, body: reply.kept ?? reply.body),
            of: request,
            KeptRequests.Limits(
                lifetime: Int64(options.requestLifetime), result: options.maximumKeptReply,
                results: options.maximumKeptReplies), on: transaction.connection, now: transaction.now)
        return reply
    }
}

extension ParseCall {
    /// The request, if it has an id for repetitions.
    fileprivate var keptRequest: KeptRequests.Request? {
        requestID.map { KeptRequests.Request(id: $0, fingerprint: fingerprint) }
    }
}
