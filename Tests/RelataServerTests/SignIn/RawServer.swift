#if Server
import NIOCore
import NIOPosix
import NIOSSL

/// A server that sends a test's replies byte for byte, and closes the connection.
struct RawServer: Sendable {
    /// The reply for a path and a port; `nil` for none.
    typealias Reply = @Sendable (_ path: String, _ port: Int) -> String?

    let port: Int

    /// Runs `body` while the server answers.
    ///
    /// - Parameters:
    ///   - tls: The PEM files of a certificate and its key; `nil` for no TLS.
    ///   - reply: Takes the path of each request, and the server's port.
    static func running(
        tls: (certificate: String, key: String)? = nil, reply: @escaping Reply,
        _ body: (RawServer) async throws -> Void
    ) async throws {
        let context = try tls.map { tls in
            try NIOSSLContext(
                configuration: .makeServerConfiguration(
                    certificateChain: NIOSSLCertificate.fromPEMFile(tls.certificate).map { .certificate($0) },
                    privateKey: .privateKey(try NIOSSLPrivateKey(file: tls.key, format: .pem))))
        }
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                    try channel.pipeline.syncOperations.addHandler(Handler(reply))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let result: Result<Void, any Error>
        do {
            result = .success(try await body(RawServer(port: channel.localAddress?.port ?? 0)))
        } catch {
            result = .failure(error)
        }
        try await channel.close()
        try result.get()
    }

    /// An HTTP reply.
    static func http(_ text: String, status: String = "200 OK", _ fields: String...) -> String {
        let head = ["HTTP/1.1 \(status)", "Content-Length: \(text.utf8.count)"] + fields + ["", ""]
        return head.joined(separator: "\r\n") + text
    }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let reply: Reply
        private var request = ""

        init(_ reply: @escaping Reply) { self.reply = reply }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            request += String(buffer: unwrapInboundIn(data))
            guard request.contains("\r\n\r\n") else { return }
            let words = request.split(separator: " ")
            request = ""
            let channel = context.channel
            guard words.count > 1, let text = reply(String(words[1]), channel.localAddress?.port ?? 0) else { return }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text))).whenComplete { _ in
                channel.close(promise: nil)
            }
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
    }
}
#endif
