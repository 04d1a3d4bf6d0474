#if Server
import NIOCore
import NIOHTTP1
import NIOPosix
import RelataParse
import Synchronization

/// A server of webhooks, in this process.
struct WebhookServer: Sendable {
    /// A request as it came.
    struct Call: Sendable {
        let method: String
        let path: String
        let headers: HTTPHeaders
        let body: [UInt8]

        var json: JSONValue { (try? JSONParser.parse(body)) ?? .null }
    }

    /// A reply; `nil` in its place is never sent.
    struct Answer: Sendable {
        var status = HTTPResponseStatus.ok
        var headers = HTTPHeaders()
        var body: String

        static func success(_ value: JSONValue = true) -> Answer {
            Answer(body: JSONWriter.text(["success": value]))
        }
    }

    let port: Int
    private let log: Log

    /// The requests so far.
    var calls: [Call] { log.calls.withLock { $0 } }
    /// The address of a path.
    func url(_ path: String = "/hook", host: String = "127.0.0.1") -> String { "http://\(host):\(port)\(path)" }

    private final class Log: Sendable {
        let calls = Mutex<[Call]>([])
    }

    /// Runs `body` while the server answers.
    static func running<Result: Sendable>(
        _ answer: @escaping @Sendable (Call) -> Answer?, _ body: (WebhookServer) async throws -> Result
    ) async throws -> Result {
        let log = Log()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(
                        Handler { call in
                            log.calls.withLock { $0.append(call) }
                            return answer(call)
                        })
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await body(WebhookServer(port: channel.localAddress?.port ?? 0, log: log)))
        } catch {
            result = .failure(error)
        }
        try await channel.close()
        return try result.get()
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = HTTPServerRequestPart
        typealias OutboundOut = HTTPServerResponsePart

        private let answer: (Call) -> Answer?
        private var head: HTTPRequestHead?
        private var body: [UInt8] = []

        init(_ answer: @escaping (Call) -> Answer?) { self.answer = answer }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            switch unwrapInboundIn(data) {
            case .head(let head): self.head = head
            case .body(let part): body += part.readableBytesView
            case .end:
                guard let head else { return }
                let call = Call(method: head.method.rawValue, path: head.uri, headers: head.headers, body: body)
                guard let answer = answer(call) else { return }
                var headers = answer.headers
                headers.replaceOrAdd(name: "Content-Length", value: "\(answer.body.utf8.count)")
                context.write(
                    wrapOutboundOut(
                        .head(HTTPResponseHead(version: .http1_1, status: answer.status, headers: headers))),
                    promise: nil)
                context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(string: answer.body)))), promise: nil)
                context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
#endif
