#if Server
/// The reason why a server refuses a request. A ``ServedProtocol`` renders it for its clients.
public struct ServerRefusal: Error, Hashable, Sendable {
    /// The reason, for programs.
    public enum Reason: Hashable, Sendable {
        /// The request isn't HTTP, or contradicts itself.
        case malformed
        /// The method isn't supported.
        case unknownMethod
        /// The version of HTTP, or of WebSocket, isn't supported.
        case unknownVersion
        /// The encoding or transfer coding of the body isn't supported.
        case unknownCoding
        /// The body isn't compressed as declared.
        case damagedBody
        /// The address is longer than the server takes.
        case addressTooLong
        /// The header fields are more or larger than the server takes.
        case headersTooLarge
        /// The body is larger than the server takes.
        case bodyTooLarge
        /// The body is larger than ``ServedProtocol/maximumBody(path:headers:)`` allows for this request, but not too
        /// large for the server.
        case bodyNotAdmitted
        /// The client isn't allowed the request.
        case unauthorized
        /// The path is unknown.
        case notFound
        /// Too much is received or sent at once.
        case noRoom
        /// The request took too long to arrive, or to answer.
        case timedOut
    }

    /// The reason, for programs.
    public let reason: Reason
    /// The reason, for people.
    public let message: String
    /// The HTTP status of the reply.
    public let status: Int

    /// A refusal.
    public init(_ reason: Reason, _ message: String, status: Int) {
        self.reason = reason
        self.message = message
        self.status = status
    }
}
#endif
