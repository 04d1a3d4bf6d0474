#if Server
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Synchronization

/// Sends one request to another server on a new connection, and receives the reply. It uses no proxy, and doesn't
/// follow redirects.
struct HTTPExchange: Sendable {
    /// A reply.
    struct Reply: Sendable {
        let status: HTTPResponseStatus
        let headers: HTTPHeaders
        let body: [UInt8]
    }

    /// The reasons for a missing reply, besides errors of the connection.
    enum Failure: Error, CustomStringConvertible {
        case tookTooLong(Duration)
        case tooLarge(Int)
        case closed

        var description: String {
            switch self {
            case .tookTooLong(let limit): "it took longer than \(limit)"
            case .tooLarge(let limit): "it has more than \(limit) bytes"
            case .closed: "the server closed the connection"
            }
        }
    }

    /// The time limit of the whole exchange.
    var timeout: Duration
    /// The maximum size of the reply, in bytes.
    var maximumSize: Int
    /// The TLS settings; `nil` for no TLS.
    var tls: NIOSSLContext?

    /// Sends a request.
    ///
    /// - Parameter resolve: Looks up the addresses to connect to, on a thread that may block; `nil` for the system's
    ///   look-up.
    func send(
        _ method: HTTPMethod, to address: WebAddress, _ headers: HTTPHeaders, body: [UInt8] = [],
        resolve: (@Sendable () throws -> [SocketAddress])? = nil
    ) async throws -> Reply {
        let limit = TimeAmount(timeout)
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = loop.makePromise(of: Reply.self)
        let end = loop.scheduleTask(in: limit) { promise.fail(Failure.tookTooLong(timeout)) }
        let (tls, size) = (tls, maximumSize)
        let ending = Ending()
        let connector = Connector(loop: loop, limit: limit) { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                if let tls {
                    try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: address.serverName))
                }
                try pipeline.addHTTPClientHandlers()
                try pipeline.addHandler(
                    HTTPExchangeHandler(method, address, headers, body, limit: size, promise, ending))
            }
        }
        let connected: EventLoopFuture<any Channel>
        if let resolve {
            connected = NIOThreadPool.singleton.runIfActive(eventLoop: loop, resolve).flatMap {
                connector.connect(to: $0[...])
            }
        } else {
            connected = connector.bootstrap.connect(host: address.host, port: address.port)
        }
        connected.whenFailure { promise.fail($0) }
        promise.futureResult.whenComplete { _ in
            ending.isOver.store(true, ordering: .relaxed)
            end.cancel()
            connected.whenSuccess { $0.close(promise: nil) }
        }
        return try await withTaskCancellationHandler {
            try await promise.futureResult.get()
        } onCancel: {
            promise.fail(CancellationError())
        }
    }

    /// Whether the exchange has ended, so that a late connection sends nothing.
    final class Ending: Sendable {
        let isOver = Atomic(false)
    }

    /// Makes connections.
    private struct Connector: Sendable {
        let loop: any EventLoop
        let limit: TimeAmount
        let prepare: @Sendable (any Channel) -> EventLoopFuture<Void>

        var bootstrap: ClientBootstrap {
            ClientBootstrap(group: loop).connectTimeout(limit).channelInitializer(prepare)
        }

        /// Connects to the first of some addresses that can be reached.
        func connect(to addresses: ArraySlice<SocketAddress>) -> EventLoopFuture<any Channel> {
            guard let first = addresses.first else { return loop.makeFailedFuture(Failure.closed) }
            let connected = bootstrap.connect(to: first)
            if addresses.count == 1 { return connected }
            return connected.flatMapError { _ in connect(to: addresses.dropFirst()) }
        }
    }

    /// The reason for an error, in words.
    static func reason(_ error: any Error) -> String {
        switch error {
        case let error as NIOConnectionError:
            "it can't be reached: "
                + (error.connectionErrors.first.map { "\($0.error)" } ?? "there is no such host")
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: "TLS with it failed: \(error)"
        case HTTPParserError.invalidEOFState: "it broke off in the middle of its reply"
        case is HTTPParserError: "it doesn't speak HTTP: \(error)"
        case is IOError, is ChannelError: "it can't be reached: \(error)"
        default: "\(error)"
        }
    }
}

/// Sends one request, and collects the reply.
private final class HTTPExchangeHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let head: HTTPRequestHead
    private let sent: [UInt8]
    private let limit: Int
    private let promise: EventLoopPromise<HTTPExchange.Reply>
    private let ending: HTTPExchange.Ending
    private var reply: HTTPResponseHead?
    private var body: [UInt8] = []

    init(
        _ method: HTTPMethod, _ address: WebAddress, _ headers: HTTPHeaders, _ body: [UInt8], limit: Int,
        _ promise: EventLoopPromise<HTTPExchange.Reply>, _ ending: HTTPExchange.Ending
    ) {
        self.ending = ending
        var all = headers
        all.replaceOrAdd(name: "Host", value: address.authority)
        all.replaceOrAdd(name: "User-Agent", value: "Relata")
        all.replaceOrAdd(name: "Connection", value: "close")
        if method != .GET { all.replaceOrAdd(name: "Content-Length", value: "\(body.count)") }
        head = HTTPRequestHead(version: .http1_1, method: method, uri: address.target, headers: all)
        sent = body
        self.limit = limit
        self.promise = promise
    }

    func channelActive(context: ChannelHandlerContext) {
        guard !ending.isOver.load(ordering: .relaxed) else { return context.close(promise: nil) }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if !sent.isEmpty { context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: sent)))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): reply = head
        case .body(let part):
            // The first error counts. The caller closes the connection.
            guard body.count + part.readableBytes <= limit else {
                return promise.fail(HTTPExchange.Failure.tooLarge(limit))
            }
            body += part.readableBytesView
        case .end:
            guard let reply else { return }
            promise.succeed(HTTPExchange.Reply(status: reply.status, headers: reply.headers, body: body))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        promise.fail(HTTPExchange.Failure.closed)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }
}
#endif
