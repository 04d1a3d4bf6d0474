#if Server
/// A protocol that a ``RelataServer`` carries: what requests mean, and what replies and refusals look like. The server reads
/// HTTP, keeps the limits, writes replies, counts and logs.
///
/// ```swift
/// struct Echo: ServedProtocol {
///     func respond(to request: ServerRequest, report: @Sendable (any Error) -> Void) async -> ServerReply {
///         ServerReply(contentType: "text/plain", body: Array(request.path.utf8))
///     }
///
///     func render(_ refusal: ServerRefusal) -> ServerReply {
///         ServerReply(status: refusal.status, contentType: "text/plain", body: Array(refusal.message.utf8))
///     }
/// }
///
/// try await RelataServer(protocol: Echo()).run()
/// ```
///
/// It is told of requests below ``RelataServer/Configuration/mount``. `OPTIONS`, and pages such as `/livez`, are the server's.
/// Only ``respond(to:report:)``, ``webSocket(for:)`` and ``problem()`` may block: the others are asked where connections are read.
public protocol ServedProtocol: Sendable {
    /// Answers a request. Whatever goes wrong is a reply too.
    ///
    /// Runs on threads of the server's own. Its task is cancelled when nobody waits any more.
    ///
    /// - Parameter report: Logs what went wrong where the client is told no details.
    func respond(to request: ServerRequest, report: @Sendable (any Error) -> Void) async -> ServerReply

    /// What becomes of a request for a WebSocket, which has no body; `nil`, and by default, where there is none: the request
    /// is answered as any other. Runs where ``respond(to:report:)`` does, and so does the session.
    ///
    /// - Throws: What a client gets that may not have one.
    func webSocket(for request: ServerRequest) async throws(ServerRefusal) -> WebSocketSession?

    /// The reply to a request that the server doesn't take, with the status of the refusal.
    func render(_ refusal: ServerRefusal) -> ServerReply

    /// How large the body of a request may be, before any of it is read; `nil` for as large as any. As large as any by
    /// default.
    ///
    /// - Parameters:
    ///   - path: The path below the mount.
    ///   - headers: The header fields by their names in lower case.
    /// - Throws: What the request gets that is refused whatever its body says.
    func maximumBody(path: String, headers: [String: String]) throws(ServerRefusal) -> Int?

    /// How large the body of a request may be that is answered while its body arrives (``ServerRequest/stream``), before any
    /// of it is read; `nil`, and by default, for a request whose body is collected first.
    ///
    /// - Parameters:
    ///   - method: The HTTP method as it was written.
    ///   - path: The path below the mount.
    ///   - headers: The header fields by their names in lower case.
    /// - Throws: What the request gets that is refused whatever its body says.
    func maximumStream(method: String, path: String, headers: [String: String]) throws(ServerRefusal) -> Int?

    /// The header fields that mean something. No others are kept. None by default.
    var headerNames: [String] { get }

    /// The reply to `OPTIONS`: what a browser may send. Requests with ``headerNames`` by default.
    var preflight: ServerReply { get }

    /// How many bytes the largest reply has: so many have room, whatever ``RelataServer/Limits/totalBodySize`` is. 64 MB by
    /// default.
    var maximumReply: Int { get }

    /// How many requests may block their threads at once, up to 1024; more wait without a thread. 16 by default.
    var maximumThreads: Int { get }

    /// The kinds of requests that `/metrics` counts apart. They are few, whatever clients ask for. None by default.
    var routes: [String] { get }

    /// Which of ``routes`` a path below the mount belongs to. What is none of them is counted as `other`.
    func route(of path: Substring) -> String

    /// Why requests can't be answered now, which `/readyz` tells; `nil` where they can, and by default.
    func problem() async -> String?

    /// Called once, when the server listens. Does nothing by default.
    func started(at address: ServerAddress)

    /// What is done besides answering requests, as long as the server runs: then the task is cancelled. Nothing by default.
    ///
    /// - Parameter report: Logs what went wrong.
    func work(report: @escaping @Sendable (any Error) -> Void) async

    /// Called once, when the server has stopped. Does nothing by default.
    ///
    /// - Throws: What ``RelataServer/run()`` throws then.
    func close() throws
}

extension ServedProtocol {
    /// As large as any.
    public func maximumBody(path: String, headers: [String: String]) throws(ServerRefusal) -> Int? { nil }
    /// `nil`: every body is collected first.
    public func maximumStream(
        method: String, path: String, headers: [String: String]
    ) throws(ServerRefusal) -> Int? { nil }
    /// `nil`: the request is answered as any other.
    public func webSocket(for request: ServerRequest) async throws(ServerRefusal) -> WebSocketSession? { nil }
    /// None.
    public var headerNames: [String] { [] }
    /// 64 MB.
    public var maximumReply: Int { 64 * 1024 * 1024 }
    /// 16.
    public var maximumThreads: Int { 16 }
    /// None.
    public var routes: [String] { [] }
    /// `other`.
    public func route(of path: Substring) -> String { ServerMetrics.other }
    /// `nil`: requests can be answered.
    public func problem() async -> String? { nil }
    /// Does nothing.
    public func started(at address: ServerAddress) {}
    /// Does nothing.
    public func work(report: @escaping @Sendable (any Error) -> Void) async {}
    /// Does nothing. Throws nothing.
    public func close() throws {}

    /// Allows the usual methods, and the header fields of ``headerNames``.
    public var preflight: ServerReply {
        ServerReply(
            contentType: "text/plain",
            headers: [
                ("access-control-allow-methods", "GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS"),
                (
                    "access-control-allow-headers",
                    (headerNames + ["content-type", "x-request-id"]).joined(separator: ", ")
                ),
            ])
    }
}
#endif
