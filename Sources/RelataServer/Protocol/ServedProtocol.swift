#if Server
/// A protocol that a ``RelataServer`` carries: the meaning of requests, and the form of replies and refusals. The
/// server reads HTTP, enforces the limits, writes replies, counts and logs.
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
/// The protocol gets requests below ``RelataServer/Configuration/mount``. The server answers `OPTIONS`, and pages such
/// as `/livez`. Only ``respond(to:report:)``, ``webSocket(for:)`` and ``problem()`` may block: the other functions are
/// called on the event loop.
public protocol ServedProtocol: Sendable {
    /// Answers a request. Every failure is a reply too.
    ///
    /// Runs on the server's threads. Its task is cancelled when the client is gone.
    ///
    /// - Parameter report: Logs errors whose details the client doesn't get.
    func respond(to request: ServerRequest, report: @Sendable (any Error) -> Void) async -> ServerReply

    /// The session of a request for a WebSocket, which has no body; `nil`, the default, for none: the request is
    /// answered like any other. It runs on the threads of ``respond(to:report:)``, and so does the session.
    ///
    /// - Throws: The refusal of a client that may not have a session.
    func webSocket(for request: ServerRequest) async throws(ServerRefusal) -> WebSocketSession?

    /// The reply to a request that the server doesn't take, with the status of the refusal.
    func render(_ refusal: ServerRefusal) -> ServerReply

    /// The maximum size of a request's body, before any of it is read; `nil`, the default, for the limit of all requests.
    ///
    /// - Parameters:
    ///   - path: The path below the mount.
    ///   - headers: The header fields by their names in lower case.
    /// - Throws: The refusal of a request, regardless of its body.
    func maximumBody(path: String, headers: [String: String]) throws(ServerRefusal) -> Int?

    /// The maximum size of a request's body that is read while the request is answered (``ServerRequest/stream``),
    /// before any of it is read; `nil`, the default, for a request whose body is collected first.
    ///
    /// - Parameters:
    ///   - method: The HTTP method as it was written.
    ///   - path: The path below the mount.
    ///   - headers: The header fields by their names in lower case.
    /// - Throws: The refusal of a request, regardless of its body.
    func maximumStream(method: String, path: String, headers: [String: String]) throws(ServerRefusal) -> Int?

    /// The header fields that the protocol reads. Others are dropped. None by default.
    var headerNames: [String] { get }

    /// The reply to `OPTIONS`: which requests a browser may send. Requests with ``headerNames`` by default.
    var preflight: ServerReply { get }

    /// The size of the largest reply in bytes: it fits regardless of ``RelataServer/Limits/totalBodySize``. 64 MB by
    /// default.
    var maximumReply: Int { get }

    /// The number of requests that may block their threads at once, up to 1024; more wait without a thread. 16 by
    /// default.
    var maximumThreads: Int { get }

    /// The kinds of requests that `/metrics` counts separately, a fixed small number. None by default.
    var routes: [String] { get }

    /// The one of ``routes`` that a path below the mount belongs to. A path that belongs to none is counted as `other`.
    func route(of path: Substring) -> String

    /// The reason why requests can't be answered now, for `/readyz`; `nil`, the default, if they can.
    func problem() async -> String?

    /// The content of `/readyz`: by default, only ``problem()``.
    func health() async -> ServerHealth

    /// Called once, when the server listens. Does nothing by default.
    func started(at address: ServerAddress)

    /// Background work, for as long as the server runs; then the task is cancelled. Nothing by default.
    ///
    /// - Parameter report: Logs errors.
    func work(report: @escaping @Sendable (any Error) -> Void) async

    /// Called once, when the server has stopped. Does nothing by default.
    ///
    /// - Throws: An error that ``RelataServer/run()`` throws then.
    func close() throws
}

extension ServedProtocol {
    /// As large as any. Throws nothing.
    public func maximumBody(path: String, headers: [String: String]) throws(ServerRefusal) -> Int? { nil }
    /// `nil`: every body is collected first. Throws nothing.
    public func maximumStream(
        method: String, path: String, headers: [String: String]
    ) throws(ServerRefusal) -> Int? { nil }
    /// `nil`: the request is answered as any other. Throws nothing.
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
    /// Only ``problem()``.
    public func health() async -> ServerHealth { ServerHealth(problem: await problem()) }
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
