#if Server
import NIOHTTP1
import RelataParse

/// What clients are told whose requests can't be read as HTTP.
enum MalformedRequest {
    static func error(for error: HTTPParserError) -> ParseError {
        switch error {
        case .headerOverflow:
            ParseError(.otherCause, "the header fields are larger than this server takes", status: 431)
        case .invalidMethod: ParseError(.commandUnavailable, "there is no such method", status: 501)
        case .invalidVersion: ParseError(.otherCause, "this server speaks HTTP/1.1 and HTTP/1.0", status: 505)
        default: ParseError(.otherCause, "the request isn't HTTP", status: 400)
        }
    }
}
#endif
