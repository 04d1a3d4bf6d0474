/// A client of live queries, in Parse's own protocol: what it says goes in, and what it is told comes out, whatever carries
/// the messages.
///
/// ```swift
/// let connection = await service.connectLiveQueries()
/// await connection.receive(#"{"op":"connect","applicationId":"library"}"#)
/// await connection.receive(#"{"op":"subscribe","requestId":1,"query":{"className":"Book","where":{}}}"#)
/// while let message = await connection.next() { print(message) }
/// ```
public final class LiveQueryConnection: Sendable {
    private let queries: LiveQueries
    private let outbox: LiveOutbox
    private let number: UInt64

    init(
        _ queries: LiveQueries, maximumSize: Int, from address: String?,
        report: @escaping @Sendable (any Error) -> Void
    ) async {
        self.queries = queries
        outbox = LiveOutbox(maximumSize: maximumSize)
        number = await queries.add(outbox, from: address, report)
    }

    /// Follows what the client says. It returns when the message was followed; what is wrong with it the client is told.
    public func receive(_ message: String) async { await queries.receive(message, from: number) }

    /// The next message for the client, as soon as there is one; `nil` after the last: the connection is to be closed then.
    /// There is one reader at a time.
    public func next() async -> String? { await outbox.next() }

    /// Whether the client has said who it is, with keys that are right.
    public var isConnected: Bool { get async { await queries.isConnected(number) } }

    /// Ends all queries. Must be called, however the connection ended.
    public func close() async { await queries.remove(number) }
}

extension ParseService {
    /// Begins a connection for live queries.
    ///
    /// - Parameters:
    ///   - address: The client's address.
    ///   - report: Called with what went wrong where the clients are told no details.
    public func connectLiveQueries(
        from address: String? = nil, report: @escaping @Sendable (any Error) -> Void = { _ in }
    ) async -> LiveQueryConnection {
        await LiveQueryConnection(
            liveQueries, maximumSize: options.maximumLiveBacklog, from: address, report: report)
    }

    /// Lets clients of live queries go whose keys aren't valid any more. To be called when keys were replaced.
    public func keysChanged() async { await liveQueries.checkKeys() }
}
