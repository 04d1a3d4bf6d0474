#if Server
import Foundation
import NIOCore
import NIOHTTP1
import NIOWebSocket

/// A request for a WebSocket that the protocol has granted.
struct WebSocketUpgrade: Sendable {
    private typealias Messages = NIOAsyncChannel<WebSocketMessage, WebSocketMessage>

    private let head: HTTPRequestHead
    private let id: String
    private let session: WebSocketSession
    private let responder: RequestResponder

    /// - Throws: The refusal of an invalid upgrade request.
    init(
        _ head: HTTPRequestHead, id: String, responder: RequestResponder, session: @escaping WebSocketSession
    ) throws(ServerRefusal) {
        guard head.headers["sec-websocket-version"] == ["13"] else {
            throw ServerRefusal(.unknownVersion, "this server speaks version 13 of WebSocket", status: 426)
        }
        let keys = head.headers["sec-websocket-key"]
        guard keys.count == 1, Data(base64Encoded: keys[0])?.count == 16 else {
            throw ServerRefusal(.malformed, "a WebSocket needs one Sec-WebSocket-Key of 16 bytes", status: 400)
        }
        (self.head, self.id, self.session, self.responder) = (head, id, session, responder)
    }

    /// Whether a request asks for a WebSocket. NIO's parser reads nothing after such a request.
    static func isAsked(_ head: HTTPRequestHead) -> Bool {
        head.method == .GET && head.version == .http1_1
            && head.headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
            && head.headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
            && !head.headers.contains(name: "content-length") && !head.headers.contains(name: "transfer-encoding")
    }

    /// Switches to WebSocket, replacing the handler that read the request.
    ///
    /// - Parameter finished: Succeeds when the connection is closed and the session has ended.
    func begin(
        inPlaceOf http: ConnectionHandler, on channel: any Channel, isStopping: Bool,
        finished: EventLoopPromise<Void>
    ) {
        let limits = responder.limits
        let upgrader = NIOTypedWebSocketServerUpgrader<Messages>(
            maxFrameSize: limits.messageSize, enableAutomaticErrorHandling: false,
            shouldUpgrade: { [id] channel, _ in channel.eventLoop.makeSucceededFuture(["X-Request-Id": id]) },
            upgradePipelineHandler: { channel, _ in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers([
                        WebSocketFrameCheck(),
                        NIOWebSocketFrameAggregator(
                            minNonFinalFragmentSize: 0, maxAccumulatedFrameCount: Self.maximumParts,
                            maxAccumulatedFrameSize: limits.messageSize),
                        WebSocketHandler(pingTime: limits.idleTime),
                    ])
                    return try NIOAsyncChannel(
                        wrappingChannelSynchronously: channel,
                        // Received bytes wait in the client's system rather than here.
                        configuration: .init(
                            backPressureStrategy: .init(lowWatermark: 1, highWatermark: 2),
                            isOutboundHalfClosureEnabled: false))
                }
            })
        let http = NIOLoopBound(http, eventLoop: channel.eventLoop)
        upgrader.buildUpgradeResponse(channel: channel, upgradeRequest: head, initialResponseHeaders: [:]).flatMap {
            fields in
            let lines = fields.map { "\($0.name): \($0.value)\r\n" }.joined()
            let reply = ByteBuffer(string: "HTTP/1.1 101 Switching Protocols\r\n\(lines)\r\n")
            channel.writeAndFlush(reply, promise: nil)
            channel.pipeline.syncOperations.removeHandler(http.value, promise: nil)
            return upgrader.upgrade(channel: channel, upgradeRequest: head)
        }.whenComplete { result in
            let operations = channel.pipeline.syncOperations
            operations.removeHandler(name: ConnectionChannel.counterName, promise: nil)
            // The new handlers read bytes that came with the request, and wait until all are delivered.
            operations.removeHandler(name: ConnectionChannel.decoderName).whenComplete { _ in
                channel.pipeline.fireChannelReadComplete()
                channel.read()
            }
            switch result {
            case .success(let messages): run(messages, isStopping: isStopping, finished: finished)
            case .failure:
                channel.close(promise: nil)
                end(finished)
            }
        }
    }

    /// The maximum number of parts of a message.
    private static let maximumParts = 1024

    private func run(_ messages: Messages, isStopping: Bool, finished: EventLoopPromise<Void>) {
        let channel = messages.channel
        let task = Task(executorPreference: responder.executor) {
            try? await messages.executeThenClose { inbound, outbound in
                var code = WebSocketErrorCode.normalClosure
                do {
                    try await session(WebSocket(inbound, outbound, on: channel.eventLoop))
                } catch {
                    // A closed connection isn't a failure.
                    if channel.isActive {
                        responder.report(error, id: id)
                        code = .unexpectedServerError
                    }
                }
                try? await channel.triggerUserOutboundEvent(WebSocketHandler.Closing(code: code)).get()
                try? await channel.closeFuture.get()
            }
            end(finished)
        }
        channel.closeFuture.whenComplete { _ in task.cancel() }
        if isStopping { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    }

    private func end(_ finished: EventLoopPromise<Void>) {
        responder.metrics.connectionClosed()
        finished.succeed()
    }
}
#endif
