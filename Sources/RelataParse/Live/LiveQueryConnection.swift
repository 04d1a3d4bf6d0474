/// A client of live queries in Parse's protocol. The client's messages go in, and the messages to it come out, whatever
/// transport carries them.
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
        _ service: ParseService, from address: String?, report: @escaping @Sendable (any Error) -> Void
    ) async {
        queries = service.liveQueries
        outbox = LiveOutbox(maximumSize: service.options.maximumLiveBacklog)
        number = await queries.add(outbox, from: address, service, report)
    }

    /// Handles a client's message, and returns when this is done. Errors are sent to the client.
    public func receive(_ message: String) async { await queries.receive(message, from: number) }

    /// Waits for the next message to the client. Returns `nil` after the last one; then close the connection. There may
    /// be only one reader at a time.
    public func next() async -> String? { await outbox.next() }

    /// Whether the client has connected with valid keys.
    public var isConnected: Bool { get async { await queries.isConnected(number) } }

    /// Ends all queries. Call this however the connection ended.
    public func close() async { await queries.remove(number) }
}

extension ParseService {
    /// Begins a connection for live queries.
    ///
    /// - Parameters:
    ///   - address: The client's address.
    ///   - report: Called with errors whose details aren't sent to clients.
    public func connectLiveQueries(
        from address: String? = nil, report: @escaping @Sendable (any Error) -> Void = { _ in }
    ) async -> LiveQueryConnection {
        await LiveQueryConnection(self, from: address, report: report)
    }

    /// Lets clients of live queries go whose keys aren't valid any more. To be called when keys were replaced.
    public func keysChanged() async { await liveQueries.checkKeys() }
}
