#if Server
/// Why a server doesn't take a request. A ``ServedProtocol`` says what its clients are told.
public struct ServerRefusal: Error, Hashable, Sendable {
    /// What is wrong, for programs.
    public enum Reason: Hashable, Sendable {
        /// The request isn't HTTP, or contradicts itself.
        case malformed
        /// No such method is known here.
        case unknownMethod
        /// No such version of HTTP, or of WebSocket, is spoken here.
        case unknownVersion
        /// The body is encoded or transferred in a way that isn't known here.
        case unknownCoding
        /// The body isn't compressed as it says.
        case damagedBody
        /// The address is longer than the server takes.
        case addressTooLong
        /// The header fields are more or larger than the server takes.
        case headersTooLarge
        /// The body is larger than the server takes.
        case bodyTooLarge
        /// The body is larger than ``ServedProtocol/maximumBody(path:headers:)`` admits, and the server takes such.
        case bodyNotAdmitted
        /// Whoever sent the request may not.
        case unauthorized
        /// There is nothing at the path.
        case notFound
        /// Too much is received or sent at once.
        case noRoom
        /// The request took too long to arrive, or to answer.
        case timedOut
    }

    /// What is wrong, for programs.
    public let reason: Reason
    /// What is wrong, for people.
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
