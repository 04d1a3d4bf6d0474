#if Server
import NIOHTTP1
import RelataParse

/// What clients are told whose requests can't be read as HTTP.
enum MalformedRequest {
    static func error(for error: HTTPParserError) -> ParseError {
        switch error {
        case .headerOverflow: largeHeader
        case .invalidMethod: ParseError(.commandUnavailable, "there is no such method", status: 501)
        case .invalidVersion: ParseError(.otherCause, "this server speaks HTTP/1.1 and HTTP/1.0", status: 505)
        default: ParseError(.otherCause, "the request isn't HTTP", status: 400)
        }
    }

    /// The error for header fields that are too many or too large.
    static let largeHeader = ParseError(
        .objectTooLarge, "the header fields are larger than this server takes", status: 431)

    /// The error for an address that is too long.
    static func longAddress(_ limit: Int) -> ParseError {
        ParseError(
            .objectTooLarge,
            "the address is longer than \(limit) bytes: post the parameters as a body, with _method GET", status: 414)
    }
}
#endif
