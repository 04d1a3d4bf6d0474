#if Server
import Foundation
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

/// The setup of each connection: NIO's parser reads HTTP/1, and a ``ConnectionHandler`` answers it.
struct ConnectionChannel: ServerChildChannel {
    /// A connection that was set up.
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        let finished: EventLoopFuture<Void>
    }

    /// The names of handlers that a WebSocket doesn't need any more.
    static let counterName = "relata.arrivals"
    static let decoderName = "relata.http"

    let responder: RequestResponder
    let limits: RelataServer.Limits

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            var decoderLimits = NIOHTTPDecoderLimitConfiguration()
            // NIO treats the address like a field. The sizes of both are checked when both are known.
            decoderLimits.maxHeaderFieldSize = limits.headerSize + limits.requestLineSize
            decoderLimits.maxHeaderListSize = limits.headerSize + limits.requestLineSize
            decoderLimits.maxHeaderFieldCount = limits.headerCount
            let finished = channel.eventLoop.makePromise(of: Void.self)
            let connection = ConnectionHandler(responder, limits: limits, finished: finished)
            let decoder = HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: decoderLimits)
            // Large replies wait here rather than in the system, which doesn't show whether a slow client receives
            // anything.
            try? channel.syncOptions?.setOption(
                .tcpOption(NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)), value: 128 * 1024)
            do {
                let operations = channel.pipeline.syncOperations
                try operations.addHandler(ArrivalCounter(connection), name: Self.counterName)
                try operations.addHandler(ByteToMessageHandler(decoder), name: Self.decoderName)
                try operations.addHandler(connection)
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

/// Reports received bytes to a connection, before and after they are parsed.
private final class ArrivalCounter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    private let connection: ConnectionHandler

    init(_ connection: ConnectionHandler) { self.connection = connection }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = unwrapInboundIn(data)
        connection.arrives(bytes)
        context.fireChannelRead(data)
        connection.arrived(bytes)
    }
}
#endif
