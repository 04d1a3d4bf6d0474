#if Server
import RelataParse

/// The common form of requests and replies of Parse's clients.
protocol ParseForm: ServedProtocol {}

/// The counted routes, by the first name of their paths.
private let otherRoutes = [
    "files", "batch", "schemas", "aggregate", "purge", "health", "serverInfo", "functions", "jobs", "events",
    "installations", "config", "hooks", "push",
]

extension ParseForm {
    var headerNames: [String] { WireRequest.headerNames }

    var preflight: ServerReply {
        ServerReply(
            contentType: ServerReply.json, body: Array("{}".utf8),
            headers: [
                ("access-control-allow-methods", "GET,PUT,POST,DELETE,OPTIONS"),
                (
                    "access-control-allow-headers",
                    """
                    X-Parse-Master-Key, X-Parse-REST-API-Key, X-Parse-Javascript-Key, X-Parse-Client-Key, \
                    X-Parse-Windows-Key, X-Parse-Application-Id, X-Parse-Client-Version, X-Parse-Installation-Id, \
                    X-Parse-Session-Token, X-Requested-With, X-Parse-Revocable-Session, X-Parse-Request-Id, \
                    X-Request-Id, X-HTTP-Method-Override, X-Parse-Upload-Mode, X-Parse-File-Metadata, X-Parse-File-Tags, \
                    X-Parse-Cloud-Context, Range, If-Range, If-None-Match, Authorization, Content-Type, Pragma, Cache-Control
                    """
                ),
                ("access-control-max-age", "600"),
            ])
    }

    var routes: [String] { ["objects", "object"] + otherRoutes }

    func route(of path: Substring) -> String {
        let parts = path.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 3)
        guard let first = parts.first.map({ Substring($0) }) else { return ServerMetrics.other }
        if first == "classes" { return parts.count > 2 ? "object" : "objects" }
        return otherRoutes.first { $0 == first } ?? ServerMetrics.other
    }

    func render(_ refusal: ServerRefusal) -> ServerReply {
        let (code, advice): (ParseError.Code, String) =
            switch refusal.reason {
            case .malformed, .unknownVersion, .unknownCoding: (.otherCause, "")
            case .unknownMethod, .notFound: (.commandUnavailable, "")
            case .damagedBody: (.invalidJSON, "")
            case .addressTooLong: (.objectTooLarge, ": post the parameters as a body, with _method GET")
            case .headersTooLarge, .bodyTooLarge: (.objectTooLarge, "")
            case .bodyNotAdmitted: (.objectTooLarge, ": larger ones need their keys in header fields")
            case .unauthorized: (.operationForbidden, "")
            case .noRoom: (.requestLimitExceeded, "")
            case .timedOut: (.timeout, "")
            }
        return ServerReply(WireReply(ParseError(code, refusal.message + advice, status: refusal.status)))
    }
}

extension WireRequest {
    init(_ request: ServerRequest) {
        self.init(
            method: request.method, path: request.path, query: request.query, headers: request.headers,
            body: request.body)
        stream = request.stream
        address = request.peer
    }
}

extension ServerReply {
    init(_ reply: WireReply) {
        self.init(status: reply.status, contentType: Self.json, body: reply.body, location: reply.location)
        headers = reply.headers.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        if let file = reply.file {
            contentType = file.contentType
            stream = Stream(size: file.size, bytes: file.bytes)
        }
        isOfRead = reply.isOfRead
        comment = reply.comment
    }
}
#endif
