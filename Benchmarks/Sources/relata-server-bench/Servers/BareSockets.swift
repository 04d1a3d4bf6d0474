#if Server
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket
import Synchronization

/// The limit for WebSockets: a server made of NIO's own parts that writes the same bytes to all of them whenever it
/// gets a request.
enum BareSockets {
    private static let requests = "requests"

    /// Serves until the process ends.
    ///
    /// - Parameter size: The number of bytes it writes to each.
    static func serve(_ size: Int, started: (Int) -> Void) async throws {
        let sockets = Sockets()
        let message = ByteBuffer(repeating: UInt8(ascii: "x"), count: size)
        let upgrader = NIOWebSocketServerUpgrader(
            shouldUpgrade: { channel, _ in channel.eventLoop.makeSucceededFuture(HTTPHeaders()) },
            upgradePipelineHandler: { channel, _ in
                sockets.add(channel)
                return channel.eventLoop.makeSucceededVoidFuture()
            })
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let operations = channel.pipeline.syncOperations
                    try operations.configureHTTPServerPipeline(
                        withServerUpgrade: (
                            upgraders: [upgrader],
                            completionHandler: { context in
                                context.pipeline.syncOperations.removeHandler(name: requests, promise: nil)
                            }
                        ))
                    try operations.addHandler(Requests(sockets, message), name: requests)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        started(server.localAddress?.port ?? 0)
        try await server.closeFuture.get()
    }

    /// The connections that speak WebSocket, by their event loops.
    private final class Sockets: Sendable {
        private let channels = Mutex<[ObjectIdentifier: (loop: any EventLoop, channels: [any Channel])]>([:])

        func add(_ channel: any Channel) {
            let loop = channel.eventLoop
            channels.withLock { $0[ObjectIdentifier(loop), default: (loop, [])].channels.append(channel) }
        }

        /// Sends a text to all clients.
        func send(_ message: ByteBuffer) {
            for (loop, channels) in channels.withLock({ Array($0.values) }) {
                loop.execute {
                    let frame = WebSocketFrame(fin: true, opcode: .text, data: message)
                    for channel in channels { channel.writeAndFlush(frame, promise: nil) }
                }
            }
        }
    }

    /// Sends the message when a request arrives, and answers the request.
    private final class Requests: ChannelInboundHandler, RemovableChannelHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let sockets: Sockets
        private let message: ByteBuffer

        init(_ sockets: Sockets, _ message: ByteBuffer) { (self.sockets, self.message) = (sockets, message) }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard case .end = unwrapInboundIn(data) else { return }
            sockets.send(message)
            let head = HTTPResponseHead(version: .http1_1, status: .created, headers: ["Content-Length": "2"])
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: "{}")))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}
#endif
