#if Server
import NIOHTTP1

extension ServerRefusal {
    /// The refusal of invalid HTTP.
    ///
    /// - Parameter limit: The limit for an address, if the arriving one is longer.
    init(_ error: HTTPParserError, longerThan limit: Int?) {
        switch error {
        case .headerOverflow: self = limit.map(Self.longAddress) ?? .largeHeader
        case .invalidMethod: self.init(.unknownMethod, "there is no such method", status: 501)
        case .invalidVersion: self.init(.unknownVersion, "this server speaks HTTP/1.1 and HTTP/1.0", status: 505)
        default: self.init(.malformed, "the request isn't HTTP", status: 400)
        }
    }

    /// An address that is longer than it may be.
    static func longAddress(_ limit: Int) -> ServerRefusal {
        ServerRefusal(.addressTooLong, "the address is longer than \(limit) bytes", status: 414)
    }

    /// Header fields that are too many or too large.
    static let largeHeader = ServerRefusal(
        .headersTooLarge, "the header fields are larger than this server accepts", status: 431)

    /// The refusal of a request that arrives too slowly.
    static let tooSlow = ServerRefusal(.timedOut, "the request took too long to arrive", status: 408)

    /// The refusal of a body for which memory is lacking now.
    static let noRoom = ServerRefusal(.noRoom, "the server is receiving too much at once: try again", status: 503)

    /// The refusal of a reply for which memory is lacking now.
    static func noRoomForReply(ofRead isOfRead: Bool) -> ServerRefusal {
        if isOfRead {
            return ServerRefusal(.noRoom, "too much is being sent to clients at once: try again", status: 503)
        }
        // Clients repeat a request after 500 or more, which would do it twice.
        return ServerRefusal(
            .noRoom, "the request was completed, but its reply is large, and too much is being sent to clients at once",
            status: 400
        )
    }

    /// A body that is larger than the limit, which the protocol may have lowered.
    static func bodyTooLarge(_ limit: Int, of limits: RelataServer.Limits) -> ServerRefusal {
        ServerRefusal(
            limit < limits.bodySize ? .bodyNotAdmitted : .bodyTooLarge, "the request is larger than \(limit) bytes",
            status: 413)
    }
}
#endif
