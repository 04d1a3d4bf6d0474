#if Server
import Foundation
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// What is set up for each connection: HTTP/1 is read by NIO's parser, and answered by a ``ConnectionHandler``.
struct ConnectionChannel: ServerChildChannel {
    /// A connection that was set up.
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        let finished: EventLoopFuture<Void>
    }

    let responder: RequestResponder
    let limits: RelataServer.Limits

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            var decoderLimits = NIOHTTPDecoderLimitConfiguration()
            decoderLimits.maxHeaderFieldSize = limits.headerSize
            decoderLimits.maxHeaderListSize = limits.headerSize
            decoderLimits.maxHeaderFieldCount = limits.headerCount
            let finished = channel.eventLoop.makePromise(of: Void.self)
            let handlers: [any ChannelHandler] = [
                ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: decoderLimits)),
                ConnectionHandler(responder, limits: limits, finished: finished),
            ]
            // Large replies wait here rather than in the system, where nobody sees whether a slow client takes some of them.
            try? channel.syncOptions?.setOption(
                .tcpOption(NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)), value: 128 * 1024)
            do {
                try channel.pipeline.syncOperations.addHandlers(handlers)
            } catch {
                finished.fail(error)
                throw error
            }
            return Value(channel: channel, finished: finished.futureResult)
        }
    }

    func handle(value: Value, logger: Logger) async {
        await withTaskCancellationHandler {
            try? await value.finished.get()
        } onCancel: {
            value.channel.close(promise: nil)
        }
    }
}
#endif
