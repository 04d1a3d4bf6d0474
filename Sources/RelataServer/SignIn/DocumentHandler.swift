#if Server
import NIOCore
import NIOHTTP1
import RelataParse

/// Asks for one document, and gathers it.
final class DocumentHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let address: WebAddress
    private let headers: [(name: String, value: String)]
    private let limit: Int
    private let promise: EventLoopPromise<FetchedDocument>
    private var body: [UInt8] = []
    private var lifetime: Double?

    init(
        _ address: WebAddress, _ headers: [(name: String, value: String)], limit: Int,
        _ promise: EventLoopPromise<FetchedDocument>
    ) {
        self.address = address
        self.headers = headers
        self.limit = limit
        self.promise = promise
    }

    func channelActive(context: ChannelHandlerContext) {
        var fields: HTTPHeaders = [
            "Host": address.authority, "Accept": "application/json", "User-Agent": "Relata", "Connection": "close",
        ]
        for (name, value) in headers { fields.add(name: name, value: value) }
        let head = HTTPRequestHead(
            version: .http1_1, method: .GET, uri: address.target, headers: fields)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            if (300..<400).contains(head.status.code) {
                return fail("it leads elsewhere (\(head.status.code)): give the address that it leads to")
            }
            guard head.status == .ok else { return fail("it is answered with \(head.status.code)") }
            lifetime = Self.lifetime(head.headers)
        case .body(let part):
            guard body.count + part.readableBytes <= limit else { return fail("it has more than \(limit) bytes") }
            body += part.readableBytesView
        case .end: promise.succeed(FetchedDocument(body, lifetime: lifetime))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail("the server closed the connection")
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        promise.fail(error)
        context.close(promise: nil)
    }

    /// The first error counts: the connection is closed by whoever waits for the document.
    private func fail(_ reason: String) { promise.fail(SignInError(reason)) }

    /// For how many seconds a reply may be kept; `nil` where it doesn't say.
    private static func lifetime(_ headers: HTTPHeaders) -> Double? {
        let words = headers[canonicalForm: "cache-control"].map { $0.lowercased() }
        if words.contains("no-store") || words.contains("no-cache") { return 0 }
        guard let age = words.first(where: { $0.hasPrefix("max-age=") }),
            let seconds = Double(age.dropFirst("max-age=".count))
        else { return nil }
        return max(0, seconds - (headers.first(name: "age").flatMap { Double($0) } ?? 0))
    }
}
#endif
